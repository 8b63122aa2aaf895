"""Reference kernel of scatter-add."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.backends.numpy.kernels._row_scatter import scatter_add_rows
from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


def selects_once(slices: Any) -> bool:
    """Returns whether an index cannot select an element twice: it has no integer arrays."""
    for s in slices if isinstance(slices, tuple) else (slices,):
        if s is None or s is Ellipsis or isinstance(s, (int, slice, numpy.integer, numpy.bool)):
            continue
        if isinstance(s, list) or getattr(s, "dtype", None) is None or s.dtype.kind != "b":
            return False
    return True


def rows_of(slices: Any) -> Array:
    """Returns the only integer array in an index if it is applied to the first axis, else None."""
    if isinstance(slices, tuple) and len(slices) == 1:
        slices = slices[0]
    if isinstance(slices, list):
        all_ints = all(isinstance(i, int) and not isinstance(i, bool) for i in slices)
        return slices if all_ints else None
    kind = getattr(getattr(slices, "dtype", None), "kind", "")
    return slices if kind in ("i", "u") else None


def selected(x: Array, slices: Any) -> Array:
    """Returns ``x[slices]``.

    NumPy takes whole rows in a third of the time of an index (5,000 rows of 64 numbers, AVX2).
    """
    index = slices[0] if type(slices) is tuple and len(slices) == 1 else slices
    if (
        type(x) is numpy.ndarray
        and type(index) is numpy.ndarray
        and index.dtype.kind == "i"
        and index.ndim  # one number may select a view
        and x.size  # rows without elements would not be checked
        and x.flags.c_contiguous  # others would be copied as a whole
    ):
        return x.take(index, axis=0)
    return x[slices]


def _after_whole_axis(slices: Any) -> Array:
    """Returns the rest of an index that takes all of the first axis, else None.

    The rest consists of one array and slices, so that the axes of the selection are in the order of
    the axes of the array.
    """
    if not (isinstance(slices, tuple) and isinstance(slices[0], slice)):
        return None
    rest = [s for s in slices[1:] if not isinstance(s, slice)]
    if slices[0] != slice(None) or len(rest) != 1 or rows_of(rest[0]) is None:
        return None
    return slices[1:]


class ScatterAddKernel(ReferenceKernel):
    """Adds at positions in the flattened array, because ``ufunc.at`` is fast for vectors only.

    Positions take up to four times the memory of the values. The two usual kinds of index, rows and
    the same elements of each row, therefore have code of their own for NumPy.
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
            indices = self._row_indices(a, rows)
            add = scatter_add_rows if xp is numpy else xp.add.at
            add(a.reshape(len(a), length), indices, b.reshape(len(indices), length))
        elif rest is not None and xp is numpy:
            inner = self.positions(a.shape[1:], rest).reshape(-1)
            # Elements of each row are rows of the transposed matrix.
            scatter_add_rows(a.reshape(len(a), length).T, inner, b.reshape(len(a), len(inner)).T)
        else:
            positions = self.positions(a.shape, slices)
            xp.add.at(a.reshape(-1), positions.reshape(-1), b.reshape(-1))

    def _row_indices(self, a: Array, rows: Array) -> Array:
        """Returns indices of rows as a vector. They are not negative, except with NumPy."""
        xp = self.xp
        if xp is numpy:
            rows = numpy.asarray(rows).reshape(-1)
        else:
            rows = xp.asarray(rows, dtype=numpy.intp).reshape(-1)
        # On a device, reading the indices would wait for it.
        on_host = self.backend.family == HOST_FAMILY
        if on_host and rows.size and (rows.min() < -len(a) or rows.max() >= len(a)):
            raise IndexError(f"an index is out of bounds for axis 0 with size {len(a)}")
        return rows if xp is numpy else xp.where(rows < 0, rows + len(a), rows)

    def positions(self, shape: tuple[int, ...], slices: Any) -> Array:
        """Returns the positions of the selected elements, with the shape of the selection."""
        xp = self.xp
        total: Array = None
        stride = 1
        for axis in reversed(range(len(shape))):
            length = shape[axis]
            offsets = xp.arange(0, length * stride, stride, dtype=numpy.intp)
            offsets = offsets.reshape((length,) + (1,) * (len(shape) - axis - 1))
            # The index contains an array, so that this is a copy and may be changed.
            part = xp.broadcast_to(offsets, shape)[slices]
            if total is not None:
                part += total
            total = part
            stride *= length
        return total
