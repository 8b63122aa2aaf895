"""Reference kernel of scattering."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.core.backend import HOST_FAMILY
from chainer.core.kernel import ReferenceKernel


def selects_once(slices: Any) -> bool:
    """Tells whether an index cannot select an element twice (no integer arrays in it)."""
    for s in slices if isinstance(slices, tuple) else (slices,):
        if s is None or s is Ellipsis or isinstance(s, (int, slice, numpy.integer, numpy.bool)):
            continue
        if isinstance(s, list) or getattr(s, "dtype", None) is None or s.dtype.kind != "b":
            return False
    return True


def rows_of(slices: Any) -> Any:
    """Returns the only integer array in an index, if it is applied to the first axis."""
    if isinstance(slices, tuple) and len(slices) == 1:
        slices = slices[0]
    if isinstance(slices, list):
        plain = all(isinstance(i, int) and not isinstance(i, bool) for i in slices)
        return slices if plain else None
    kind = getattr(getattr(slices, "dtype", None), "kind", "")
    return slices if kind in ("i", "u") else None


class ScatterAddKernel(ReferenceKernel):
    """Turns the index into positions in the flattened array: ``ufunc.at`` is fast there only."""

    def add_at(self, a: Any, slices: Any, b: Any) -> None:
        """Adds ``b`` to ``a[slices]`` in place."""
        if selects_once(slices):
            a[slices] += b
            return
        if not (a.ndim and a.flags.c_contiguous):
            self.xp.add.at(a, slices, b)
            return
        rows = rows_of(slices)
        if rows is None:
            positions = self.positions(a.shape, slices)
        else:
            positions = self._positions_of_rows(a, rows)
        self.xp.add.at(a.reshape(-1), positions.reshape(-1), b.reshape(-1))

    def _positions_of_rows(self, a: Any, rows: Any) -> Any:
        """Positions of the elements of some rows, the most common index."""
        xp = self.xp
        rows = xp.asarray(rows, dtype=numpy.intp)
        on_host = self.backend.family == HOST_FAMILY  # elsewhere, looking means waiting
        if on_host and rows.size and (rows.min() < -len(a) or rows.max() >= len(a)):
            raise IndexError(f"an index is out of bounds for axis 0 with size {len(a)}")
        length = prod(a.shape[1:])
        starts = xp.where(rows < 0, rows + len(a), rows) * length
        return starts.reshape((-1, 1)) + xp.arange(length)

    def positions(self, shape: tuple[int, ...], slices: Any) -> Any:
        """Positions of the selected elements, of the shape of the selection."""
        xp = self.xp
        total: Any = None
        stride = 1
        for axis in reversed(range(len(shape))):
            length = shape[axis]
            offsets = xp.arange(0, length * stride, stride, dtype=numpy.intp)
            offsets = offsets.reshape((length,) + (1,) * (len(shape) - axis - 1))
            part = xp.broadcast_to(offsets, shape)[slices]
            total = part if total is None else total + part
            stride *= length
        return total
