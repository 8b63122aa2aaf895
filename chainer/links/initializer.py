"""Base class of weight initializers (public module ``chainer.initializer``)."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import get_device_from_array


class Initializer:
    """Initializes array.

    Subclasses define ``__call__``, which fills a given array in place.

    Args:
        dtype: Data type of the arrays the initializer is meant for; None for any.

    Attributes:
        dtype: That data type.
    """

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = dtype

    def __call__(self, array: Any) -> None:
        """Initializes given array in place.

        Args:
            array (array): Array to be initialized.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")

    def _check_dtype(self, array: Any) -> None:
        if self.dtype is not None and array.dtype != self.dtype:
            raise ValueError(
                f"dtype of the array must be {self.dtype}, the dtype of the initializer "
                f"{type(self).__name__}, got {array.dtype}"
            )


def draw(array: Any, distribution: str, *arguments: Any) -> Any:
    """Draws random numbers of the shape of an array, on its device.

    Args:
        array (array): The array.
        distribution (str): Name of a function of the random number source: ``'normal'``, ...
        arguments: Parameters of the distribution.

    Returns:
        array: The random numbers.
    """
    device = get_device_from_array(array)
    with device.backend.use(device):
        return getattr(device.backend.random(device), distribution)(*arguments, size=array.shape)


def get_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns the numbers of input and output units of a weight array.

    Args:
        shape (tuple of int): Shape ``(out, in, ...)``; the remaining axes are the receptive field.

    Returns:
        tuple: ``(fan_in, fan_out)``.

    Raises:
        ValueError: If the shape has less than two axes.

    Example:
        >>> from chainer.initializer import get_fans
        >>> get_fans((2, 3, 4, 5))
        (60, 40)
    """
    if len(shape) < 2:
        raise ValueError(f"shape must be of length >= 2. Actual shape: {shape}")
    field = 1
    for length in shape[2:]:
        field *= length
    return shape[1] * field, shape[0] * field
