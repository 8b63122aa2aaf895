"""oneDNN kernel of the softmax cross entropy."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array


class SoftmaxCrossEntropyKernel(IdeepKernel):
    """Kernel of ``softmax_cross_entropy`` for matrices of scores."""

    def forward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, keep_score: bool
    ) -> tuple[Array, Array]:
        logs = self.ops.log_softmax(x, 1)
        valid = t != ignore_label
        # Ignored labels may be out of range: they look up class 0, and a factor of 0 follows.
        labels = numpy.where(valid, t, 0)
        losses = -numpy.asarray(logs)[numpy.arange(len(labels)), labels]
        if class_weight is not None:
            losses *= class_weight[labels]
        losses *= valid
        if not keep_score:
            return losses, None
        return losses, numpy.asarray(self.ops.eltwise_inplace(logs, "exp"))

    def backward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, score: Array, scale: Any
    ) -> Array:
        if score is None:
            score = self.ops.softmax(x, 1)
        valid = t != ignore_label
        labels = numpy.where(valid, t, 0)
        factors = valid * numpy.asarray(scale, numpy.float32)
        if class_weight is not None:
            factors *= class_weight[labels]
        first = factors[0]
        # One factor for all samples, the usual case, is a call of oneDNN with several threads.
        if (factors == first).all():
            gx = numpy.asarray(self.ops.eltwise(score, "linear", float(first)))
        else:
            gx = numpy.asarray(score) * factors[:, None]
        gx[numpy.arange(len(labels)), labels] -= factors
        return gx
