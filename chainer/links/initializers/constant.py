"""Initializers that fill arrays with given values."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.backend import get_device_from_array, is_array
from chainer.core.typing import Array, ArrayLike, DTypeLike, Scalar, Shape
from chainer.links.initializer import Initializer


class Constant(Initializer):
    """Initializes array with a constant value.

    Args:
        fill_value (scalar or array): The value, or an array of values that broadcasts to the shape
            of the initialized array.
        dtype: Data type of the initialized arrays; None for any.

    Attributes:
        fill_value: The value.

    Example:
        >>> layer = L.Linear(2, 2, initialW=chainer.initializers.Constant(0.5))
        >>> layer.W.array
        array([[0.5, 0.5],
               [0.5, 0.5]], dtype=float32)
    """

    # Programs look the attribute up on the class.
    fill_value: ArrayLike = None

    def __init__(self, fill_value: ArrayLike, dtype: DTypeLike = None) -> None:
        self.fill_value = fill_value
        super().__init__(dtype)

    def __call__(self, array: Array) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        value = self.fill_value
        if is_array(value):
            # The initializer of a link is not moved with it.
            value = get_device_from_array(array).send(value)
            if not _broadcasts(value.shape, array.shape):
                raise ValueError(
                    f"an initial value of shape {value.shape} does not fit an array of shape "
                    f"{array.shape}"
                )
        elif value is None:  # NumPy would make NaN of it
            raise ValueError("fill_value must be a scalar or an array, got None")
        array[...] = value


def _broadcasts(shape: Shape, target: Shape) -> bool:
    """Whether an array can be assigned to one of another shape; leading axes of one are dropped."""
    extra = len(shape) - len(target)
    if extra > 0 and any(length != 1 for length in shape[:extra]):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], target[::-1]))


class _Constant(Initializer):
    """Base class of initializers whose value is a class attribute."""

    fill_value: ClassVar[float]

    def __call__(self, array: Array) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        array[...] = self.fill_value


class Zero(_Constant):
    """Initializes array to all-zero.

    Args:
        dtype: Data type of the initialized arrays; None for any.

    Example:
        >>> layer = L.Linear(2, 2, initialW=chainer.initializers.Zero())
        >>> layer.W.array
        array([[0., 0.],
               [0., 0.]], dtype=float32)
    """

    fill_value = 0.0


class One(_Constant):
    """Initializes array to all-one.

    Args:
        dtype: Data type of the initialized arrays; None for any.

    Example:
        >>> layer = L.Linear(2, 2, initialW=chainer.initializers.One())
        >>> layer.W.array
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """

    fill_value = 1.0


class NaN(_Constant):
    """Initializes array to all-NaN.

    Args:
        dtype: Data type of the initialized arrays; None for any.

    Example:
        >>> layer = L.Linear(2, 2, initialW=chainer.initializers.NaN())
        >>> layer.W.array
        array([[nan, nan],
               [nan, nan]], dtype=float32)
    """

    fill_value = float("nan")


class Identity(Initializer):
    """Initializes array with a multiple of the identity matrix.

    Args:
        scale (scalar): Factor of the identity matrix.
        dtype: Data type of the initialized arrays; None for any.

    Raises:
        ValueError: When called with an array that is not a square matrix.

    Example:
        >>> layer = L.Linear(2, 2, initialW=chainer.initializers.Identity())
        >>> layer.W.array
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """

    def __init__(self, scale: Scalar = 1.0, dtype: DTypeLike = None) -> None:
        self.scale = scale
        super().__init__(dtype)

    def __call__(self, array: Array) -> None:
        """Initializes given square matrix in place."""
        self._check_dtype(array)
        shape = array.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(
                "Identity matrix initialization can only be used for 2D squared matrices. "
                f"Actual shape: {shape}"
            )
        device = get_device_from_array(array)
        with device.backend.use(device):
            array[...] = self.scale * device.xp.eye(shape[0], dtype=array.dtype)
