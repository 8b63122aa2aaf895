"""CUDA kernel of sums: one launch for a small array. CuPy sums the others.

A sum by CuPy takes the host much longer than a launch, but uses more threads.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel
from chainer.backends.numpy.kernels.reductions import AxesSumKernel as ReferenceAxesSum
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array, Axis, Shape

#: Elements up to which the time of the host exceeds the time that the few threads here lose.
SMALL_SIZE = 1 << 16
#: Most elements for the eight threads of a column.
_LONGEST_COLUMN = 2048
#: Limit of CUDA for the second dimension of a grid.
_MAX_COLUMN_BLOCKS = 65535


def _summed_axes(axis: Axis, ndim: int) -> list[int]:
    """Returns the axes to sum over as sorted indexes that are not negative."""
    if axis is None:
        return list(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return sorted({i % ndim for i in axes}) if ndim else []


class _Plan:
    """How an array is summed: as an array ``(outer, n, inner)``, over the middle axis.

    Args:
        shape: Shape of the array.
        axis: Axes to sum over.
        keepdims: Whether these axes stay, with length one.

    Attributes:
        is_small: Whether the functions of the source serve the array.
        shape: Shape of the result.
        steps: Distances of the elements of a dense array, along outer, middle and inner axis.
    """

    def __init__(self, shape: Shape, axis: Axis, keepdims: bool) -> None:
        ndim = len(shape)
        summed = _summed_axes(axis, ndim)
        self.shape = tuple(
            [1 if i in summed else n for i, n in enumerate(shape) if keepdims or i not in summed]
        )
        adjacent = bool(summed) and summed[-1] - summed[0] == len(summed) - 1
        self.is_small = adjacent and 0 < prod(shape) <= SMALL_SIZE
        if not self.is_small:
            return
        parts = range(summed[0]), range(summed[0], summed[-1] + 1), range(summed[-1] + 1, ndim)
        self.outer, self.n, self.inner = (prod([shape[i] for i in part]) for part in parts)
        self.steps = (self.n * self.inner, self.inner, 1)
        #: For each of the three parts the axes that are longer than 1.
        self._long = [[i for i in part if shape[i] != 1] for part in parts]
        if self.inner > 1:
            self.grid = (-(-self.inner // 32), self.outer)
            self.is_small = self.n <= _LONGEST_COLUMN and self.outer <= _MAX_COLUMN_BLOCKS

    def steps_in(self, x: Array) -> tuple[int, ...] | None:
        """Returns the steps of an array that is not dense; None if they are not regular."""
        if any([len(axes) > 1 for axes in self._long]):
            return None
        strides, size = x.strides, x.itemsize
        return tuple([strides[axes[0]] // size if axes else 0 for axes in self._long])


# A network sums arrays of few shapes.
_plan = lru_cache(maxsize=4096)(_Plan)


class AxesSumKernel(CudaKernel):
    """Kernel of ``axes_sum``."""

    source = "reductions.cu"

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._reference = ReferenceAxesSum(backend)

    def forward(self, x: Array, axis: Axis, keepdims: bool) -> Array:
        plan = _plan(x.shape, axis, keepdims)
        steps = None
        if plan.is_small:
            steps = plan.steps if self._is_dense(x) else plan.steps_in(x)
        if steps is None:
            return self._reference.forward(x, axis, keepdims)
        dtype = x.dtype
        y = self.new(plan.shape, dtype)
        types = types_for(dtype)
        if plan.inner == 1:
            self.rows("sum_rows", types, plan.outer, plan.n, x, y, plan.outer, plan.n, *steps[:2])
        else:
            args = (x, y, plan.n, plan.inner, *steps)
            self.function("sum_columns", types)(plan.grid, (32, 8), args)
        return y
