"""Reference kernel of scattering."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel


def selects_once(slices: Any) -> bool:
    """Tells whether an index cannot select an element twice (no integer arrays in it)."""
    for s in slices if isinstance(slices, tuple) else (slices,):
        if s is None or s is Ellipsis or isinstance(s, (int, slice, numpy.integer, numpy.bool)):
            continue
        if isinstance(s, list) or getattr(s, "dtype", None) is None or s.dtype.kind != "b":
            return False
    return True


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
        positions = self._positions(a.shape, slices)
        self.xp.add.at(a.reshape(-1), positions.reshape(-1), b.reshape(-1))

    def _positions(self, shape: tuple[int, ...], slices: Any) -> Any:
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
