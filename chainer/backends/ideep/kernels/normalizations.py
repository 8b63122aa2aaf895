"""oneDNN kernels of batch and layer normalization."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.arrays.fusion import FusedCall, Fusion
from chainer.core.config.configuration import threads
from chainer.core.typing import Array

Axes = tuple[int, ...]


class Saved(NamedTuple):
    """Values that a normalization keeps for its gradient.

    Attributes:
        var: Variance of the batch, or of each row.
        eps: The number added to it.
    """

    var: Array
    eps: float


class BatchNormalizationKernel(IdeepKernel):
    """Kernel of ``batch_normalization``.

    In a captured step, a relu that follows is part of the same pass. Its gradient is not: oneDNN's
    pass leaves out gradients where relu is zero, and with them NaN, which the product with zero
    keeps.
    """

    fusions = (
        Fusion(
            (FusedCall("batch_normalization.forward", result=0), FusedCall("relu.forward")),
            "forward_with_relu",
            exact=True,
        ),
    )

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
        found = self.ops.batch_normalization(x, gamma, beta, eps)
        return self._finished(x, found, running, eps, decay)

    def _finished(
        self, x: Array, found: Any, running: tuple[Array, Array] | None, eps: float, decay: float
    ) -> tuple[Array, Array, Array, Saved]:
        """Updates the running statistics and returns the results."""
        y, mean, var, _ = found
        batch_var = numpy.asarray(var)
        if running is not None:
            count = x.size // x.shape[1]
            _update(running[0], numpy.asarray(mean), decay)
            _update(running[1], batch_var * numpy.float32(count / max(count - 1, 1)), decay)
        return y, mean, _inverse(batch_var, eps), Saved(var, eps)

    def forward_with_relu(
        self, normalization: tuple[Any, ...], relu: tuple[Any, ...]
    ) -> tuple[tuple[None, Array, Array, Saved], Array]:
        """Computes relu of a batch normalization, see :attr:`fusions`."""
        x, gamma, beta, running, eps, decay, _ = normalization
        found = self.ops.batch_normalization(x, gamma, beta, eps, relu=True)
        if not _are_finite(found.mean, found.var, gamma, beta):
            # The relu in the same pass turns NaN into 0, which would hide what went wrong.
            found = self.ops.batch_normalization(x, gamma, beta, eps)
            found = found._replace(y=self.ops.relu(found.y))
        y, mean, inv_std, saved = self._finished(x, found, running, eps, decay)
        return (None, mean, inv_std, saved), y

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
        return self.ops.batch_normalization_backward(x, gy, gamma, mean, residual.var, residual.eps)


def _inverse(var: Array, eps: float) -> Array:
    inv_std = var + numpy.float32(eps)
    numpy.sqrt(inv_std, out=inv_std)
    return numpy.reciprocal(inv_std, out=inv_std)


def _are_finite(*vectors: Array) -> bool:
    # An array without NaN and infinity may have an infinite sum: then the answer is False as well.
    with numpy.errstate(all="ignore"):
        return bool(numpy.isfinite(sum([numpy.asarray(vector).sum() for vector in vectors])))


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


class LayerNormalizationKernel(IdeepKernel):
    """Kernel of ``layer_normalization``."""

    def forward(
        self, x: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array | None, Array | None, Saved | None]:
        # The statistics serve the gradient only.
        statistics = threads.state.enable_backprop
        y, mean, var = self.ops.layer_normalization(x, gamma, beta, eps, statistics=statistics)
        if not statistics:
            return y, None, None, None
        return y, numpy.asarray(mean), _inverse(numpy.asarray(var), eps), Saved(var, eps)

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array, residual: Saved
    ) -> tuple[Array, Array, Array]:
        return self.ops.layer_normalization_backward(x, gy, gamma, mean, residual.var, residual.eps)


def _is_dense(x: Array) -> bool:
    return x.__class__ is numpy.ndarray or x.layout.dense
