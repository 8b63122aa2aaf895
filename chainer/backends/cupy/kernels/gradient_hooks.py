"""CUDA kernel of the gradient hooks of optimizers: one launch for many parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from chainer.backends.cupy.kernels._multi_tensor import THREADS, TensorsKernel, blocks_of
from chainer.core.typing import Array


class GradientHooksKernel(TensorsKernel):
    """Kernel of ``gradient_hooks``."""

    def weight_decay(
        self, entries: Sequence[tuple[Array, Array, float | None]], rate: float
    ) -> None:
        self._add("weight_decay", entries, rate)

    def lasso(self, entries: Sequence[tuple[Array, Array, float | None]], rate: float) -> None:
        self._add("lasso", entries, rate)

    def _add(
        self, name: str, entries: Sequence[tuple[Array, Array, float | None]], rate: float
    ) -> None:
        # The scale is an argument of the launch; usually all gradients have the same one.
        for scale in dict.fromkeys(entry[2] for entry in entries):
            groups = [entry[:2] for entry in entries if entry[2] == scale]
            self.launch(name, groups, (rate,), 1.0 if scale is None else float(scale))

    def clip(self, grads: Sequence[Array], low: float, high: float) -> None:
        self.launch("clip", [(grad, grad) for grad in grads], (low, high))

    def scale(self, grads: Sequence[Array], factor: Array) -> None:
        prepared = [self.contiguous(grad) for grad in grads]
        for types, table, blocks in self.tables([(grad, grad) for grad in prepared]):
            self.function("scale_gradients", types)((blocks,), (THREADS,), (table, factor))
        for grad, changed in zip(grads, prepared, strict=True):
            if grad is not changed:
                grad[...] = changed

    def sum_of_squares(self, grads: Sequence[Array]) -> Array:
        prepared = [self.contiguous(grad) for grad in grads]
        # Each block writes one sum; CuPy adds these up.
        sums = self.new(sum(map(blocks_of, prepared)), numpy.dtype(numpy.float64))
        start = 0
        for types, table, blocks in self.tables([(grad, grad) for grad in prepared]):
            self.function("sum_squares", types)((blocks,), (THREADS,), (table, sums, start))
            start += blocks
        return sums.sum()
