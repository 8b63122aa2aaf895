"""Default data type."""

from __future__ import annotations

import numpy

from chainer.core.config.configuration import config
from chainer.core.typing import DType, DTypeLike


def get_dtype(dtype: DTypeLike = None) -> DType:
    """Resolves a data type.

    Args:
        dtype: Data type specifier, or None for ``chainer.config.dtype``.

    Returns:
        numpy.dtype: The data type.

    Example:
        >>> chainer.get_dtype()
        dtype('float32')
    """
    return numpy.dtype(config.dtype if dtype is None else dtype)
