"""Which calls the kernels serve. These functions see shapes, dtypes and attributes, not arrays.

Calls are declined where the reference is as fast: small arrays, because calling compiled code costs
a microsecond for each array; and float64, for which training on NumPy has no use and which would
double the time of compilation.
"""

from __future__ import annotations

from typing import Any

import numpy

_FLOAT32 = numpy.dtype(numpy.float32)
_FLOAT16 = numpy.dtype(numpy.float16)

#: Number of elements from which on kernels are faster (measured).
MIN_ELEMENTS = {
    "cheap": 1 << 14,
    "exponential": 1 << 11,
    "row": 1 << 11,
    "window": 1 << 11,
    "cell": 1 << 9,
    "copy": 1 << 16,
}


def enough(array: Any, kind: str) -> bool | str:
    """Returns True for float32 and float16 arrays that are large enough, else the reason.

    Args:
        array: Description of the array.
        kind: Key of :data:`MIN_ELEMENTS`.
    """
    if array.dtype not in (_FLOAT32, _FLOAT16):
        return f"{array.dtype} is left to the reference: only float32 and float16 are compiled"
    if array.size < MIN_ELEMENTS[kind]:
        return f"the reference is faster for less than {MIN_ELEMENTS[kind]} elements"
    return True


def update(spec: Any) -> bool | str:
    """Updates of parameters: contiguous float32 arrays of one shape."""
    for array in spec.arrays:
        if array is None:
            continue
        if array.dtype != _FLOAT32:
            return f"{array.dtype} is left to the reference: only float32 is compiled"
        if not array.contiguous:
            return "only contiguous arrays"
    return True


def cheap(spec: Any) -> bool | str:
    """Functions of few arithmetic operations."""
    return enough(spec.arrays[0], "cheap")


def exponential(spec: Any) -> bool | str:
    """Functions with exponentials."""
    return enough(spec.arrays[0], "exponential")


def elu(spec: Any) -> bool | str:
    """The exponential linear unit."""
    return exponential(spec)
