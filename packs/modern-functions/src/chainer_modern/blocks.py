"""Array work cut into blocks that stay in the processor's cache.

A formula of ten NumPy calls moves a big array ten times through memory. Block by block it moves
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

BLOCK = 1 << 16
"""Elements of a block: smaller ones cost more calls, larger ones leave the second-level cache."""


def compute_dtype(dtype: Any) -> Any:
    """Returns the dtype to compute in: float32 for float16, else the dtype itself."""
    dtype = numpy.dtype(dtype)
    return numpy.dtype(numpy.float32) if dtype.itemsize < 4 else dtype


def widened(array: Any) -> Any:
    """Returns an array in the dtype to compute in."""
    return array.astype(compute_dtype(array.dtype), copy=False)


def elementwise(xp: Any, formula: Callable[..., tuple[Any, ...]], *arrays: Any) -> list[Any]:
    """Applies an elementwise formula block by block.

    Args:
        xp: Array namespace of the arrays. Only NumPy's arrays are cut.
        formula: Function of ``xp`` and one-dimensional arrays, that returns a tuple of new arrays.
            float16 comes as float32.
        arrays: Arrays of one shape and dtype.

    Returns:
        list of arrays: The results, of the shape and dtype of the arrays.
    """
    first = arrays[0]
    dtype, shape, size = first.dtype, first.shape, first.size
    wide = compute_dtype(dtype)
    flat = [array.reshape(-1) for array in arrays]
    # An overflow to infinity on the way to zero is meant.
    with numpy.errstate(over="ignore"):
        if xp is not numpy or size <= BLOCK:
            ys = formula(xp, *[part.astype(wide, copy=False) for part in flat])
            return [y.astype(dtype, copy=False).reshape(shape) for y in ys]
        results: list[Any] = []
        for start in range(0, size, BLOCK):
            block = slice(start, start + BLOCK)
            ys = formula(xp, *[part[block].astype(wide, copy=False) for part in flat])
            if not results:
                results = [numpy.empty(size, dtype) for _ in ys]
            for result, y in zip(results, ys, strict=True):
                result[block] = y
    return [result.reshape(shape) for result in results]
