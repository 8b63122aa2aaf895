"""Reference kernel of scattering."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.backends.numpy.kernels._row_scatter import scatter_add_rows
from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


def selects_once(slices: Any) -> bool:
    """Tells whether an index cannot select an element twice (no integer arrays in it)."""
    for s in slices if isinstance(slices, tuple) else (slices,):
        if s is None or s is Ellipsis or isinstance(s, (int, slice, numpy.integer, numpy.bool)):
            continue
        if isinstance(s, list) or getattr(s, "dtype", None) is None or s.dtype.kind != "b":
            return False
    return True


def rows_of(slices: Any) -> Array:
    """Returns the only integer array in an index, if it is applied to the first axis."""
    if isinstance(slices, tuple) and len(slices) == 1:
        slices = slices[0]
    if isinstance(slices, list):
        plain = all(isinstance(i, int) and not isinstance(i, bool) for i in slices)
        return slices if plain else None
    kind = getattr(getattr(slices, "dtype", None), "kind", "")
    return slices if kind in ("i", "u") else None


def _after_whole_axis(slices: Any) -> Array:
    """Returns the rest of an index that takes all of the first axis, else None.

    The rest has one array and slices only: axes come in their order.
    """
    if not (isinstance(slices, tuple) and isinstance(slices[0], slice)):
        return None
    rest = [s for s in slices[1:] if not isinstance(s, slice)]
    if slices[0] != slice(None) or len(rest) != 1 or rows_of(rest[0]) is None:
        return None
    return slices[1:]


class ScatterAddKernel(ReferenceKernel):
    """Turns the index into positions in the flattened array: ``ufunc.at`` is fast there only.

    Positions take up to four times the memory of the values, so the usual indexes, rows and the
    same elements of each row, go another way with NumPy.
    """

    def add_at(self, a: Array, slices: Any, b: Array) -> None:
        """Adds ``b`` to ``a[slices]`` in place."""
        xp = self.xp
        if selects_once(slices) or not a.size:
            a[slices] += b
            return
        if not (a.ndim and a.flags.c_contiguous):
            xp.add.at(a, slices, b)
            return
        rows, rest = rows_of(slices), _after_whole_axis(slices)
        length = prod(a.shape[1:])
        if rows is not None:
            numbers = self._numbers(a, rows)
            add = scatter_add_rows if xp is numpy else xp.add.at
            add(a.reshape(len(a), length), numbers, b.reshape(len(numbers), length))
        elif rest is not None and xp is numpy:
            inner = self.positions(a.shape[1:], rest).reshape(-1)
            # Rows of the other axis: those of the transposed matrix.
            scatter_add_rows(a.reshape(len(a), length).T, inner, b.reshape(len(a), len(inner)).T)
        else:
            positions = self.positions(a.shape, slices)
            xp.add.at(a.reshape(-1), positions.reshape(-1), b.reshape(-1))

    def _numbers(self, a: Array, rows: Array) -> Array:
        """Numbers of rows as one axis; none of them is negative, but with NumPy."""
        xp = self.xp
        if xp is numpy:
            rows = numpy.asarray(rows).reshape(-1)
        else:
            rows = xp.asarray(rows, dtype=numpy.intp).reshape(-1)
        on_host = self.backend.family == HOST_FAMILY  # elsewhere, looking means waiting
        if on_host and rows.size and (rows.min() < -len(a) or rows.max() >= len(a)):
            raise IndexError(f"an index is out of bounds for axis 0 with size {len(a)}")
        return rows if xp is numpy else xp.where(rows < 0, rows + len(a), rows)

    def positions(self, shape: tuple[int, ...], slices: Any) -> Array:
        """Positions of the selected elements, of the shape of the selection."""
        xp = self.xp
        total: Array = None
        stride = 1
        for axis in reversed(range(len(shape))):
            length = shape[axis]
            offsets = xp.arange(0, length * stride, stride, dtype=numpy.intp)
            offsets = offsets.reshape((length,) + (1,) * (len(shape) - axis - 1))
            part = xp.broadcast_to(offsets, shape)[slices]  # a copy: there is an array in slices
            if total is not None:
                part += total
            total = part
            stride *= length
        return total
