"""Array work cut into blocks that stay in the processor's cache.

A formula of ten NumPy calls moves a big array ten times through memory. Block by block it moves
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.core.typing import Array, ArrayModule, Arrays

#: Elements of a block: smaller blocks cost more calls, larger ones leave the second-level cache.
BLOCK_SIZE = 1 << 16


def row_blocks(xp: ArrayModule, count: int, size: int) -> Iterator[slice]:
    """Yields slices of ``count`` rows of ``size`` elements that make up one block each.

    Args:
        xp: Array namespace. Only NumPy's arrays are cut: elsewhere a block is a series of launches.
        count: Number of rows.
        size: Number of elements of a row.
    """
    step = max(BLOCK_SIZE // max(size, 1), 1) if xp is numpy else max(count, 1)
    for start in range(0, count, step):
        yield slice(start, start + step)


def elementwise(xp: ArrayModule, formula: Callable[[Array], Arrays], x: Array) -> list[Array]:
    """Applies an elementwise formula block by block.

    Args:
        xp: Array namespace of ``x``.
        formula: Function of an array that returns a tuple of new arrays. It gets float32 where
            ``x`` has a 16-bit dtype.
        x: Array of any shape.

    Returns:
        list of arrays: The results, each of the shape and dtype of ``x``.
    """
    dtype, wide = x.dtype, compute_dtype(x.dtype)
    # An overflow to infinity on the way to zero is intended.
    with numpy.errstate(over="ignore"):
        if xp is not numpy or x.size <= BLOCK_SIZE:
            return [xp.asarray(y, dtype) for y in formula(x.astype(wide, copy=False))]
        flat = x.reshape(-1)
        results: list[Array] = []
        for block in row_blocks(xp, x.size, 1):
            ys = formula(flat[block].astype(wide, copy=False))
            if not results:
                results = [numpy.empty(x.size, dtype) for _ in ys]
            for result, y in zip(results, ys, strict=True):
                result[block] = y
    return [result.reshape(x.shape) for result in results]
