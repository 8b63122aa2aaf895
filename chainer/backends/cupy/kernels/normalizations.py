"""CUDA kernels of batch and layer normalization."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array

Axes = tuple[int, ...]
#: Number of blocks that keeps a large GPU busy.
_BLOCKS = 1024
#: Elements for which a block of its own is faster than a longer loop in another block.
_ELEMENTS_PER_BLOCK = 2048


class Layout:
    """An array viewed as ``(batch, channels, positions)``; channels are the axes that are kept.

    Args:
        shape: Shape of the array.
        axis: Axes that are reduced.
    """

    def __init__(self, shape: tuple[int, ...], axis: Axes) -> None:
        kept = [i for i in range(len(shape)) if i not in axis]
        self.channels = prod([shape[i] for i in kept])
        #: Order of the axes that makes the kept axes neighbors; None if they are neighbors.
        self.order: list[int] | None = None
        if kept and kept[-1] - kept[0] != len(kept) - 1:
            self.order = [*axis, *kept]
            batch, self.positions = prod([shape[i] for i in axis]), 1
        else:
            first, last = (kept[0], kept[-1] + 1) if kept else (len(shape), len(shape))
            batch, self.positions = prod(shape[:first]), prod(shape[last:])
        self.count = batch * self.positions
        # With few positions, 32 neighboring threads read 32 channels; otherwise all threads of a
        # block read positions of one channel. Both read contiguous memory. See the source.
        self.columns = self.positions < 32
        across = -(-self.channels // 32) if self.columns else self.channels
        worth = self.count * (32 if self.columns else 1) // _ELEMENTS_PER_BLOCK
        self.parts = max(1, min(worth, -(-_BLOCKS // max(across, 1)), 65535))
        self.grid = (across, self.parts)
        self.block = (32, 8) if self.columns else (256, 1)

    def arranged(self, x: Array) -> Array:
        """Returns the array in this order of its axes."""
        return x if self.order is None else x.transpose(self.order)

    def restored(self, x: Array) -> Array:
        """Undoes :meth:`arranged`."""
        if self.order is None:
            return x
        return x.transpose(numpy.argsort(self.order).tolist()).copy()


@lru_cache(maxsize=4096)
def layout_of(shape: tuple[int, ...], axis: Axes) -> Layout:
    """Returns the layout of a shape, which is computed once."""
    return Layout(shape, axis)


class _BatchBase(CudaKernel):
    source = "batch_normalization.cu"

    def types(self, x: Array, gamma: Array, running: Array = None) -> Types:
        """Returns the types to compile for."""
        return types_for(
            x.dtype,
            self.dtype(x, gamma),
            wide=is_wide(x),
            P=gamma.dtype,
            R=(gamma if running is None else running).dtype,
        )

    def dtype(self, x: Array, gamma: Array) -> Array:
        """Returns the data type of the computation."""
        return compute_dtype(x.dtype, gamma.dtype)

    def normalize(
        self,
        types: Types,
        x: Array,
        gamma: Array,
        beta: Array,
        mean: Array,
        inv_std: Array,
        layout: Layout,
    ) -> Array:
        """Returns the result of the normalization; ``x`` is arranged and contiguous."""
        y = self.new_like(x)
        arrays = (x, gamma, beta, mean, inv_std, y)
        self.each("batch_normalize", types, x.size, *arrays, layout.channels, layout.positions)
        return layout.restored(y)

    def gradients(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        mean: Array,
        inv_std: Array,
        layout: Layout,
        statistics: tuple[Array, Array],
    ) -> tuple[Array, Array, Array]:
        """Returns the gradients w.r.t. ``x`` and parameters; fills ``statistics`` with theirs."""
        types = self.types(x, gamma)
        dtype = self.dtype(x, gamma)
        x, gy = (self.contiguous(layout.arranged(array)) for array in (x, gy))
        gamma = self.contiguous(gamma)
        gx, ggamma, gbeta = self.new_like(x), self.new_like(gamma), self.new_like(gamma)
        sizes = (layout.channels, layout.count)
        if layout.parts == 1:
            arrays = (x, gy, gamma, mean, inv_std, gx, ggamma, gbeta, *statistics)
            whole = self.function("batch_gradient_whole", types)
            whole(layout.grid, layout.block, (*arrays, *sizes, layout.positions, layout.columns))
            return layout.restored(gx), ggamma, gbeta
        partial = self.new((2, layout.parts, layout.channels), dtype)
        sums = self.function("batch_gradient_sums", types)
        arrays = (x, gy, mean, partial)
        sums(layout.grid, layout.block, (*arrays, *sizes, layout.positions, layout.columns))
        terms = self.new((3, layout.channels), dtype)
        finish = self.function("batch_gradient_finish", types)
        arrays = (partial, gamma, inv_std, ggamma, gbeta, *statistics, terms)
        finish((-(-layout.channels // 256),), (256,), (*arrays, *sizes, layout.parts))
        sizes = (layout.channels, layout.positions)
        self.each("batch_gradient", types, x.size, x, gy, mean, terms, gx, *sizes)
        return layout.restored(gx), ggamma, gbeta


class BatchNormalizationKernel(_BatchBase):
    """Kernel of ``batch_normalization``."""

    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running: tuple[Array, Array] | None,
        eps: float,
        decay: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        dtype = self.dtype(x, gamma)
        if x.size == 0:
            return self.new_like(x), xp.zeros(gamma.shape, dtype), xp.ones(gamma.shape, dtype), None
        layout = layout_of(x.shape, axis)
        averages = (None, None) if running is None else running
        types = self.types(x, gamma, averages[0])
        x, gamma, beta = map(self.contiguous, (layout.arranged(x), gamma, beta))
        sizes = (layout.channels, layout.count)
        mean, inv_std = self.new(gamma.shape, dtype), self.new(gamma.shape, dtype)
        dense_averages = [self.contiguous(array) for array in averages]
        scalars = (*sizes, layout.positions, layout.columns)
        rates = (float(eps), float(decay))
        if layout.parts == 1:
            y = self.new_like(x)
            whole = self.function("batch_whole", types)
            arrays = (x, gamma, beta, y, mean, inv_std, *dense_averages)
            whole(layout.grid, layout.block, (*arrays, *scalars, *rates))
            y = layout.restored(y)
        else:
            partial = self.new((2, layout.parts, layout.channels), dtype)
            statistics = self.function("batch_statistics", types)
            statistics(layout.grid, layout.block, (x, partial, *scalars))
            finish = self.function("batch_finish", types)
            args = (partial, mean, inv_std, *dense_averages, *sizes, layout.parts, *rates)
            finish((-(-layout.channels // 256),), (256,), args)
            y = self.normalize(types, x, gamma, beta, mean, inv_std, layout)
        for array, changed in zip(running or (), dense_averages, strict=False):
            if changed is not array:  # the kernel has changed a contiguous copy
                array[...] = changed
        return y, mean, inv_std, None

    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        mean: Array,
        inv_std: Array,
        residual: Any,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        if x.size == 0:
            return self.new_like(x), xp.zeros_like(gamma), xp.zeros_like(gamma)
        layout = layout_of(x.shape, axis)
        return self.gradients(x, gamma, gy, mean, inv_std, layout, (None, None))


class FixedBatchNormalizationKernel(_BatchBase):
    """Kernel of ``fixed_batch_normalization``."""

    def forward(
        self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, eps: float, axis: Axes
    ) -> Array:
        layout = layout_of(x.shape, axis)
        mean, inv_std = self._statistics(x, gamma, mean, var, eps)
        x, gamma, beta = map(self.contiguous, (layout.arranged(x), gamma, beta))
        return self.normalize(self.types(x, gamma), x, gamma, beta, mean, inv_std, layout)

    def backward(
        self, x: Array, gamma: Array, mean: Array, var: Array, gy: Array, eps: float, axis: Axes
    ) -> tuple[Array, Array, Array, Array, Array]:
        xp = self.xp
        if x.size == 0:
            return (self.new_like(x), *[xp.zeros_like(p) for p in (gamma, gamma, mean, var)])
        layout = layout_of(x.shape, axis)
        center, inv_std = self._statistics(x, gamma, mean, var, eps)
        gmean, gvar = self.new(gamma.shape, gamma.dtype), self.new(gamma.shape, gamma.dtype)
        gradients = self.gradients(x, gamma, gy, center, inv_std, layout, (gmean, gvar))
        return (
            *gradients,
            gmean.astype(mean.dtype, copy=False),
            gvar.astype(var.dtype, copy=False),
        )

    def _statistics(
        self, x: Array, gamma: Array, mean: Array, var: Array, eps: float
    ) -> tuple[Array, Array]:
        dtype = self.dtype(x, gamma)
        xp = self.xp
        inv_std = xp.asarray(1 / xp.sqrt(var.astype(dtype, copy=False) + dtype.type(eps)))
        return self.contiguous(mean.astype(dtype, copy=False)), self.contiguous(inv_std)


class LayerNormalizationKernel(CudaKernel):
    """Kernel of ``layer_normalization``."""

    source = "layer_normalization.cu"

    def forward(
        self, x: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        x, gamma, beta = map(self.contiguous, (x, gamma, beta))
        rows, n = x.shape
        dtype = compute_dtype(x.dtype)
        y = self.new_like(x)
        mean, inv_std = xp.zeros(rows, dtype), xp.full(rows, eps**-0.5 if eps else 0, dtype)
        if x.size:
            arrays = (x, gamma, beta, y, mean, inv_std)
            self.rows("layer_forward", self._types(x, gamma), rows, n, *arrays, rows, n, float(eps))
        return y, mean, inv_std, None

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array, residual: Any
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        x, gamma, gy = map(self.contiguous, (x, gamma, gy))
        rows, n = x.shape
        gx = self.new_like(x)
        ggamma, gbeta = xp.zeros_like(gamma), xp.zeros_like(gamma)
        if x.size:
            types = self._types(x, gamma)
            arrays = (x, gamma, gy, mean, inv_std, gx)
            self.rows("layer_backward", types, rows, n, *arrays, rows, n)
            function = self.function("layer_backward_parameters", types)
            arrays = (x, gy, mean, inv_std, ggamma, gbeta)
            function((-(-n // 32),), (32, 8), (*arrays, rows, n))
        return gx, ggamma, gbeta

    def _types(self, x: Array, gamma: Array) -> Types:
        return types_for(x.dtype, wide=is_wide(x), P=gamma.dtype)
