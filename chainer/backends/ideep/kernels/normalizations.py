"""oneDNN kernels of batch normalization."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.config.configuration import threads
from chainer.core.typing import Array

Axes = tuple[int, ...]


class BatchNormalizationKernel(IdeepKernel):
    """Kernel of ``batch_normalization``; the residual is the variance of the batch and ``eps``."""

    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running_mean: Array,
        running_var: Array,
        eps: float,
        decay: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array, Array]:
        y, mean, var, _ = self.ops.batch_normalization(x, gamma, beta, eps)
        batch_var = numpy.asarray(var)
        if running_mean is not None:
            count = x.size // x.shape[1]
            _update(running_mean, numpy.asarray(mean), decay)
            _update(running_var, batch_var * numpy.float32(count / max(count - 1, 1)), decay)
        inv_std = batch_var + numpy.float32(eps)
        numpy.sqrt(inv_std, out=inv_std)
        numpy.reciprocal(inv_std, out=inv_std)
        return y, mean, inv_std, (var, eps)

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
        var, eps = residual
        return self.ops.batch_normalization_backward(x, gy, gamma, mean, var, eps)


def _update(running: Array, statistic: Array, decay: float) -> None:
    running = numpy.asarray(running)  # a view that shares the memory of an mdarray
    running *= decay
    running += (statistic * numpy.float32(1 - decay)).astype(running.dtype, copy=False)


class FixedBatchNormalizationKernel(IdeepKernel):
    """Kernel of ``fixed_batch_normalization``.

    In inference, the normalization of an array with a blocked layout is deferred until its values
    are read, so that a ReLU that follows is computed in the same pass. In training there is nothing
    to defer: the primitive that computes the statistics also writes the output.
    """

    def forward(
        self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, eps: float, axis: Axes
    ) -> Array:
        # A blocked array cannot change until then, because no NumPy view of it can exist.
        defer = not (threads.state.enable_backprop or _is_dense(x))
        return self.ops.fixed_batch_normalization(x, gamma, beta, mean, var, eps, defer=defer)

    def backward(
        self, x: Array, gamma: Array, mean: Array, var: Array, gy: Array, eps: float, axis: Axes
    ) -> tuple[Array, Array, Array, Array, Array]:
        gx, ggamma, gbeta = self.ops.batch_normalization_backward(
            x, gy, gamma, mean, var, eps, fixed=True
        )
        inv_std = 1 / numpy.sqrt(numpy.asarray(var) + numpy.float32(eps))
        factor = numpy.asarray(gamma) * inv_std
        gmean = -factor * numpy.asarray(gbeta)
        gvar = numpy.asarray(ggamma) * factor * inv_std * numpy.float32(-0.5)
        return gx, ggamma, gbeta, gmean, gvar


def _is_dense(x: Array) -> bool:
    return x.__class__ is numpy.ndarray or x.layout.dense
