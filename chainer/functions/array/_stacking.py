"""Type checks and gradients shared by the functions that join arrays."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import Array
from chainer.core.utils import type_check


def expect_joinable(in_types: type_check.TypeInfoTuple, free_axis: int | None) -> None:
    """Expects at least one array, all of one dtype and of one shape along all but a free axis."""
    type_check.expect(in_types.size() > 0)
    first = in_types[0]
    ndim = type_check.eval(first.ndim)
    for other in list(in_types)[1:]:
        type_check.expect(first.dtype == other.dtype, first.ndim == other.ndim)
        for axis in range(ndim):
            if axis != free_axis:
                type_check.expect(first.shape[axis] == other.shape[axis])


def expect_stackable(in_types: type_check.TypeInfoTuple) -> None:
    """Expects at least one array, all of one dtype and shape."""
    type_check.expect(in_types.size() > 0)
    first = in_types[0]
    for other in list(in_types)[1:]:
        type_check.expect(first.dtype == other.dtype, first.shape == other.shape)


def cut(gy: Array, lengths: list[int], axis: int) -> list[Any]:
    """Cuts an array (or a Variable) into pieces of given lengths along an axis."""
    pieces = []
    start = 0
    before = (slice(None),) * axis
    for length in lengths:
        pieces.append(gy[(*before, slice(start, start + length))])
        start += length
    return pieces
