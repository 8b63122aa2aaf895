"""The dtype that kernels compute in, which may have more bits than the dtype of the arrays.

Sums of float16 or bfloat16 numbers lose most of their digits, and NumPy has no fast arithmetic on
these types. Kernels therefore compute in float32 and round the results.
"""

from __future__ import annotations

from functools import lru_cache

import numpy

from chainer.core.arrays.extended_dtypes import HALVES, is_half
from chainer.core.typing import Array, DType, DTypeLike

_FLOAT32 = numpy.dtype(numpy.float32)


# NumPy takes a microsecond to find a common type, ten times as long as the cache.
@lru_cache(maxsize=256)
def compute_dtype(*dtypes: DTypeLike) -> DType:
    """Returns the dtype to compute in, given the dtypes of all operands.

    Args:
        dtypes: One dtype or more.

    Returns:
        numpy.dtype: The common dtype, but float32 for float16 and bfloat16.

    Example:
        >>> from chainer.backends.compute_dtypes import compute_dtype
        >>> compute_dtype('float16'), compute_dtype('float16', 'float64')
        (dtype('float32'), dtype('float64'))
    """
    dtype = numpy.result_type(*dtypes)
    return _FLOAT32 if is_half(dtype) else dtype


def to_compute_dtype(x: Array) -> Array:
    """Returns an array in the dtype to compute in; the same array if it has that dtype."""
    # As is_half() does, without its call: kernels come here for each of their arrays.
    return x.astype(_FLOAT32) if x.dtype.char in HALVES else x
