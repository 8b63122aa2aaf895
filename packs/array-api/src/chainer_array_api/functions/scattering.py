"""Selecting along the first axes, and writing there, with the standard's functions only.

These are the fallbacks for libraries whose arrays are not indexed by several arrays at once, or
not assigned to by such an index, which the standard does not ask for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike


def positions(b: Backend, lengths: tuple[int, ...], indices: list[Any]) -> Any:
    """Returns the positions in the flattened first axes, as a native array with one axis.

    Args:
        b: The backend.
        lengths: Lengths of the first axes.
        indices: An integer array for each, all of one shape.

    Raises:
        IndexError: If an index is out of bounds.
    """
    nx = b.nx
    total = None
    for axis, (length, index) in enumerate(zip(lengths, indices, strict=True)):
        index = nx.reshape(index, (-1,))
        if index.shape[0]:
            low, high = int(nx.min(index)), int(nx.max(index))
            # The standard leaves open what an index outside of the bounds does.
            if low < -length or high >= length:
                wrong = low if low < -length else high
                raise IndexError(
                    f"index {wrong} is out of bounds for axis {axis} with size {length}"
                )
            if low < 0:
                index = nx.where(index < 0, index + length, index)
        total = index if total is None else total * length + index
    return total


def gather(b: Backend, x: ArrayLike, indices: list[Any]) -> Any:
    """Returns ``x[tuple(indices)]`` of native arrays.

    Args:
        b: The backend.
        x: The array; the indices belong to its first axes.
        indices: Integer arrays, all of one shape.
    """
    nx = b.nx
    count = len(indices)
    outer, inner = tuple(indices[0].shape), tuple(x.shape[count:])
    where = positions(b, tuple(x.shape[:count]), indices)
    flat = nx.reshape(x, (math.prod(x.shape[:count]), *inner))
    if not math.prod(outer):
        return nx.zeros((*outer, *inner), dtype=x.dtype, device=x.device)
    return nx.reshape(nx.take(flat, where, axis=0), (*outer, *inner))


def scatter(b: Backend, x: ArrayLike, indices: list[Any], value: ArrayLike, add: bool) -> None:
    """Performs ``x[tuple(indices)] = value``, or adds, on native arrays.

    Args:
        b: The backend.
        x: The array, changed in place; the indices belong to its first axes.
        indices: Integer arrays, all of one shape.
        value: Array of the shape of the selection.
        add: Whether to add; elements selected several times then get all values.
    """
    nx = b.nx
    count = len(indices)
    where = positions(b, tuple(x.shape[:count]), indices)
    if not where.shape[0] or not math.prod(x.shape):
        return
    inner = math.prod(x.shape[count:])
    rows = math.prod(x.shape[:count])
    flat = nx.reshape(x, (rows, inner))
    value = nx.reshape(value, (where.shape[0], inner))
    # A stable order: of several values for one position the last one stays, as in NumPy.
    order = nx.argsort(where, stable=True)
    where, value = nx.take(where, order), nx.take(value, order, axis=0)
    if add:
        where, value = _sums_of_equals(nx, where, value)
        value = nx.take(flat, where, axis=0) + value
    # Row i of the result comes from the last of the sorted positions that is not above i.
    every = nx.arange(rows, dtype=where.dtype, device=where.device)
    last = nx.searchsorted(where, every, side="right") - 1
    last = nx.where(last < 0, nx.zeros_like(last), last)
    hit = nx.take(where, last) == every
    result = nx.where(nx.reshape(hit, (rows, 1)), nx.take(value, last, axis=0), flat)
    x[...] = nx.reshape(result, tuple(x.shape))


def _sums_of_equals(nx: Any, where: ArrayLike, value: ArrayLike) -> tuple[Any, Any]:
    """Returns each position once, with the sum of its values: pairs are added until none is left.

    Args:
        nx: Namespace of the standard.
        where: Sorted positions.
        value: Rows.
    """
    first = nx.searchsorted(where, where, side="left")
    rank = nx.arange(where.shape[0], dtype=first.dtype, device=where.device) - first
    # Ranks are halved in each round: there are as many rounds as the largest rank has binary
    # digits.
    while int(nx.max(rank)):
        (even,) = nx.nonzero(rank % 2 == 0)
        after = even + 1
        inside = after < where.shape[0]
        after = nx.where(inside, after, even)
        same = (nx.take(where, after) == nx.take(where, even)) & inside
        more = nx.take(value, after, axis=0)
        more = nx.where(nx.reshape(same, (-1, 1)), more, nx.zeros_like(more))
        value = nx.take(value, even, axis=0) + more
        where, rank = nx.take(where, even), nx.take(rank, even) // 2
    return where, value
