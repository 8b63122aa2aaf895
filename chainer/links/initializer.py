"""Base class of weight initializers (public module ``chainer.initializer``)."""

from __future__ import annotations

import math

from chainer.core.foreign_names import CheckedKeywords
from chainer.core.typing import Array, DTypeLike, Shape
from chainer.core.utils.repr_texts import ShowsArguments
from chainer.links.errors import InvalidValueError


class Initializer(ShowsArguments, CheckedKeywords):
    """Initializes array.

    Subclasses define ``__call__``, which fills a given array in place.

    Args:
        dtype: Data type of the arrays the initializer is meant for; None for any.

    Attributes:
        dtype: That data type.

    Example:
        >>> class Ramp(chainer.Initializer):
        ...     def __call__(self, array):
        ...         array[...] = np.arange(array.size).reshape(array.shape)
        >>> L.Linear(3, 2, initialW=Ramp()).W.array
        array([[0., 1., 2.],
               [3., 4., 5.]], dtype=float32)
    """

    def __init__(self, dtype: DTypeLike = None) -> None:
        self.dtype = dtype

    def __call__(self, array: Array) -> None:
        """Initializes given array in place.

        Args:
            array (array): Array to be initialized.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")

    def _check_dtype(self, array: Array) -> None:
        if self.dtype is not None and array.dtype != self.dtype:
            raise InvalidValueError(
                f"dtype of the array must be {self.dtype}, the dtype of the initializer "
                f"{type(self).__name__}, got {array.dtype}"
            )


def get_fans(shape: Shape) -> tuple[int, int]:
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
    # The elements of a filter count as inputs of a unit.
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field
