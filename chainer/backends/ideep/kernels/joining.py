"""oneDNN kernels that join and split arrays with a blocked layout.

Dense arrays are left to NumPy, which is as fast, and which splits arrays without copying.
"""

from __future__ import annotations

from itertools import pairwise

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.numpy.kernels.joining import ConcatKernel as ReferenceConcatKernel
from chainer.backends.numpy.kernels.joining import SplitAxisKernel as ReferenceSplitAxisKernel
from chainer.core.arrays.backend import Backend, get_backend
from chainer.core.typing import Array, Arrays, DTypeLike

Bounds = tuple[int, ...]


def _is_blocked(array: Array) -> bool:
    """Returns whether an array is an mdarray with a blocked layout."""
    layout = getattr(array, "layout", None)
    # NumPy arrays have no layout; dense mdarrays are read by NumPy without a copy.
    return layout is not None and not layout.dense


def _all_pieces(bounds: Bounds) -> bool:
    """Returns whether every piece has elements and none overlaps another."""
    return all([start < stop for start, stop in pairwise(bounds)])


class ConcatKernel(IdeepKernel):
    """Kernel of ``concat``."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._reference = ReferenceConcatKernel(get_backend("numpy"))

    def forward(self, xs: Arrays, axis: int) -> Array:
        if any(map(_is_blocked, xs)):
            return self.ops.concat(xs, axis)
        return self._reference.forward(xs, axis)

    def backward(self, gy: Array, bounds: Bounds, axis: int) -> Arrays:
        if _is_blocked(gy):
            return self.ops.split(gy, bounds[1:-1], axis)
        return self._reference.backward(gy, bounds, axis)


class SplitAxisKernel(IdeepKernel):
    """Kernel of ``split_axis``."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._to_xp = backend.to_xp
        self._reference = ReferenceSplitAxisKernel(get_backend("numpy"))

    def forward(self, x: Array, bounds: Bounds, axis: int) -> Arrays:
        if _is_blocked(x) and _all_pieces(bounds):
            return self.ops.split(x, bounds[1:-1], axis)
        return self._reference.forward(self._to_xp(x), bounds, axis)

    def backward(
        self,
        gys: Arrays,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        bounds: Bounds,
        axis: int,
    ) -> Array:
        if (
            # The reference writes zeros for missing gradients, and leaves out empty pieces.
            any(map(_is_blocked, gys))
            and _all_pieces(bounds)
            and all([gy is not None for gy in gys])
        ):
            return self.ops.concat(gys, axis)
        dense = tuple([None if gy is None else self._to_xp(gy) for gy in gys])
        return self._reference.backward(dense, shape, dtype, bounds, axis)
