"""Small helpers for writers of functions."""

from __future__ import annotations

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.typing import Array, ArrayLike, DTypeLike, Shape


def force_array(x: ArrayLike, dtype: DTypeLike = None) -> Array:
    """Returns an array also for the scalars that NumPy makes of 0-dimensional results.

    Args:
        x: Array or scalar.
        dtype: Data type of the result; by default the data type of ``x``.

    Returns:
        array: ``x`` itself if it is an array of that data type.

    Example:
        >>> chainer.utils.force_array(np.ones(()).sum())
        array(1.)
    """
    # NumPy returns a scalar, not an array, from operations on arrays without dimensions.
    if numpy.isscalar(x):
        return numpy.array(x) if dtype is None else numpy.array(x, dtype)
    if dtype is None:
        return x
    require_attribute("x", x, "astype", "an array or a scalar")
    return x.astype(dtype, copy=False)


def force_type(dtype: DTypeLike, value: ArrayLike) -> ArrayLike:
    """Returns a scalar or an array in a data type.

    Args:
        dtype: Data type.
        value: Array or scalar.

    Returns:
        A NumPy scalar, or an array; ``value`` itself if it is an array of that data type.

    Example:
        >>> chainer.utils.force_type(np.float32, 0.5)
        0.5
        >>> chainer.utils.force_type(np.float32, np.array([0.5])).dtype
        dtype('float32')
    """
    if numpy.isscalar(value):
        return numpy.dtype(dtype).type(value)
    require_attribute("value", value, "astype", "an array or a scalar")
    return value if value.dtype == dtype else value.astype(dtype)


def sum_to(x: Array, shape: Shape) -> Array:
    """Sums elements of an array along axes so that it has a shape; the adjoint of broadcasting.

    Args:
        x: Array.
        shape: Shape that broadcasts to ``x.shape``.

    Returns:
        array: Sums over leading axes and over axes whose length in ``shape`` is 1; ``x`` itself if
        it has the shape.

    Raises:
        TypeError: If ``x`` is a Variable of another shape.

    Example:
        >>> chainer.utils.sum_to(np.ones((2, 3)), (1, 3))
        array([[2., 2., 2.]])
    """
    require_attribute("x", x, "shape", "an array")
    if x.shape == shape:
        return x
    if hasattr(x, "creator_node"):
        raise TypeError(
            "chainer.utils.sum_to takes an array, got a Variable; use chainer.functions.sum_to"
        )
    lead = x.ndim - len(shape)
    axes = (*range(lead), *[lead + i for i, length in enumerate(shape) if length == 1])
    sums = x.sum(axis=axes, keepdims=True)
    return sums.reshape(sums.shape[lead:])


def size_of_shape(shape: tuple[int, ...]) -> int:
    """Returns the number of elements of an array of a shape.

    Example:
        >>> chainer.utils.size_of_shape((2, 3, 4))
        24
    """
    size = 1
    for length in shape:
        size *= length
    return size
