"""Softmax and its logarithm."""

from __future__ import annotations

from chainer.core.kernel import Operation


class Softmax(Operation):
    """Normalized exponentials along an axis.

    ``select(x, axis=...)``: ``x`` of any shape, floating point; ``axis`` an axis of it.

    Methods:
        ``forward(x, axis) -> y``: ``exp(x) / sum(exp(x))`` along ``axis``, of the shape and dtype of ``x``.

        ``backward(y, gy, axis) -> gx``: gradient, from output and gradient of the output.
    """

    name = "softmax"
    reference = "chainer.backends.numpy.kernels.softmaxes:SoftmaxKernel"


class LogSoftmax(Operation):
    """Logarithm of normalized exponentials along an axis.

    ``select(x, axis=...)``: ``x`` of any shape, floating point; ``axis`` an axis of it.

    Methods:
        ``forward(x, axis) -> y``: ``x - log(sum(exp(x)))`` along ``axis``, of the shape and dtype of ``x``.

        ``backward(y, gy, axis) -> gx``: gradient, from output and gradient of the output.
    """

    name = "log_softmax"
    reference = "chainer.backends.numpy.kernels.softmaxes:LogSoftmaxKernel"


softmax = Softmax()
log_softmax = LogSoftmax()
