"""Floating-point types that NumPy itself does not have: bfloat16 of the package ml_dtypes.

NumPy reports the kind ``'V'`` (void) for such a type. CuPy uses the same type. Nothing here imports
ml_dtypes: a program that makes an array of the type has imported it already.
"""

from __future__ import annotations

from chainer.core.typing import Array, DType

#: Names of data types of kind ``'V'`` that are floating-point types.
_FLOATING = frozenset({"bfloat16"})

#: Characters of the types of 16 bits, see :func:`is_half`.
HALVES = "eE"


def kind_of(dtype: DType) -> str:
    """Returns the kind of a data type: its attribute ``kind``, but ``'f'`` for bfloat16.

    Args:
        dtype (numpy.dtype): Data type.

    Example:
        >>> from chainer.core.arrays.extended_dtypes import kind_of
        >>> kind_of(np.dtype('float32'))
        'f'
    """
    kind = dtype.kind
    return "f" if kind == "V" and dtype.name in _FLOATING else kind


def is_half(dtype: DType) -> bool:
    """Returns whether a data type is float16 or bfloat16, in which sums are too inexact.

    Args:
        dtype (numpy.dtype): Data type.
    """
    return dtype.char in HALVES


def for_products(array: Array) -> Array:
    """Returns an array of bfloat16 as float32, other arrays unchanged.

    Neither NumPy nor CuPy can multiply stacks of matrices of bfloat16.

    Args:
        array: Array of any backend.
    """
    return array.astype("f") if array.dtype.char == "E" else array
