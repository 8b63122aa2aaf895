"""Floating-point types that NumPy itself does not have: bfloat16 of the package ml_dtypes.

NumPy calls such a type void (kind ``'V'``). CuPy uses the same one. Nothing here imports ml_dtypes:
who makes an array of the type has done so.
"""

from __future__ import annotations

from typing import Any

_FLOATING = frozenset({"bfloat16"})


def kind_of(dtype: Any) -> str:
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


def is_half(dtype: Any) -> bool:
    """Tells whether a data type is float16 or bfloat16, in which sums lose too much.

    Args:
        dtype (numpy.dtype): Data type.
    """
    return dtype.char in "eE"


def for_products(array: Any) -> Any:
    """Returns an array of bfloat16 as float32, others as they are.

    Neither NumPy nor CuPy has products of stacks of matrices of bfloat16.
    """
    return array.astype("f") if array.dtype.char == "E" else array
