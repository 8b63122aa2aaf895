"""The default data type, under the policy of mixed precision or not."""

from __future__ import annotations

import numpy

from chainer.core.config.configuration import config
from chainer.core.config.mixed16 import mixed16
from chainer.core.misuse import warn_once
from chainer.core.typing import DType, DTypeLike


def get_dtype(dtype: DTypeLike = None, map_mixed16: DTypeLike = None) -> DType:
    """Resolves a data type.

    Args:
        dtype: Data type specifier or :data:`chainer.mixed16`; None for ``chainer.config.dtype``.
        map_mixed16: Meaning of :data:`chainer.mixed16` here; float16 by default.

    Returns:
        numpy.dtype: The data type.

    Raises:
        TypeError: If there is no such data type.

    Example:
        >>> chainer.get_dtype()
        dtype('float32')
        >>> with chainer.using_config('dtype', chainer.mixed16):
        ...     chainer.get_dtype(), chainer.get_dtype(map_mixed16=np.float32)
        (dtype('float16'), dtype('float32'))
    """
    name = "dtype"
    if dtype is None:
        name, dtype = "chainer.config.dtype", config.dtype
    # mixed16 is not a data type. Callers choose the data type that it means for their arrays.
    if dtype is mixed16:
        return numpy.dtype(mixed16.dtype if map_mixed16 is None else map_mixed16)
    try:
        resolved = numpy.dtype(dtype)
    except TypeError as error:
        raise TypeError(
            f"{name} must be a data type of NumPy, such as 'float32', or chainer.mixed16, got "
            f"{dtype!r}"
        ) from error
    if name != "dtype" and resolved.kind in "biu":
        warn_once(
            "dtype",
            name,
            f"{name} should be a floating point type, got {resolved}: parameters of integers are "
            "initialized by zeros and cannot be trained",
        )
    return resolved
