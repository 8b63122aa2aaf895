"""Reference kernels of joining and splitting arrays."""

from __future__ import annotations

from itertools import pairwise

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, Arrays, DTypeLike


class ConcatKernel(ReferenceKernel):
    """Reference of ``concat``."""

    def forward(self, xs: Arrays, axis: int) -> Array:
        """Returns the joined array."""
        return self.xp.concatenate(xs, axis=axis)

    def backward(self, gy: Array, bounds: tuple[int, ...], axis: int) -> Arrays:
        """Returns views of the gradient."""
        return _pieces(gy, bounds, axis)


class SplitAxisKernel(ReferenceKernel):
    """Reference of ``split_axis``."""

    def forward(self, x: Array, bounds: tuple[int, ...], axis: int) -> Arrays:
        """Returns views of the array."""
        return _pieces(x, bounds, axis)

    def backward(
        self,
        gys: Arrays,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        bounds: tuple[int, ...],
        axis: int,
    ) -> Array:
        """Returns a new array, 0 where there is no gradient."""
        xp = self.xp
        # Bounds that fall make pieces overlap, as in NumPy. Otherwise each element is written once.
        rising = all([a <= b for a, b in pairwise(bounds)])
        complete = rising and not any([gy is None for gy in gys])
        gx = xp.empty(shape, dtype) if complete else xp.zeros(shape, dtype)
        before = (slice(None),) * (axis % gx.ndim)
        for gy, (start, stop) in zip(gys, pairwise(bounds), strict=True):
            if gy is None:
                continue
            piece = (*before, slice(start, stop))
            if rising:
                gx[piece] = gy
            else:
                gx[piece] += gy
        return gx


def _pieces(x: Array, bounds: tuple[int, ...], axis: int) -> Arrays:
    before = (slice(None),) * (axis % x.ndim)
    return tuple([x[(*before, slice(start, stop))] for start, stop in pairwise(bounds)])
