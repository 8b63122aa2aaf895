"""Activation functions."""

from __future__ import annotations

from chainer.core.kernel import Operation


class ReLU(Operation):
    """Rectified linear unit: ``max(x, 0)``.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: shape and dtype of ``x``.

        ``backward(y, gy) -> gx``: ``gy`` where ``y > 0``, 0 elsewhere.
    """

    name = "relu"
    reference = "chainer.backends.numpy.kernels.activations:ReLUKernel"


class LeakyReLU(Operation):
    """Leaky rectified linear unit: ``x`` where ``x >= 0``, else ``slope * x``.

    ``select(x, slope=...)``: ``x`` of any shape, floating point; ``slope`` a float.

    Methods:
        ``forward(x, slope) -> y``: shape and dtype of ``x``.

        ``backward(signed, gy, slope) -> gx``: ``gy`` where ``signed >= 0``, else ``slope * gy``.
            ``signed`` is ``x``, or ``y`` if ``slope > 0``, where it has the sign of ``x``.
    """

    name = "leaky_relu"
    reference = "chainer.backends.numpy.kernels.activations:LeakyReLUKernel"


class Sigmoid(Operation):
    """Logistic function: ``1 / (1 + exp(-x))``.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: shape and dtype of ``x``.

        ``backward(y, gy) -> gx``: ``gy * y * (1 - y)``.
    """

    name = "sigmoid"
    reference = "chainer.backends.numpy.kernels.activations:SigmoidKernel"


class ELU(Operation):
    """Exponential linear unit: ``x`` where ``x >= 0``, else ``alpha * (exp(x) - 1)``.

    ``select(x, alpha=...)``: ``x`` of any shape, floating point; ``alpha`` a float.

    Methods:
        ``forward(x, alpha) -> y``: shape and dtype of ``x``.

        ``backward(x, y, gy, alpha) -> gx``: ``gy`` where ``x >= 0``, else ``gy * (y + alpha)``.
            ``x`` may
        be None if ``alpha > 0``, where ``y`` has the sign of ``x``.
    """

    name = "elu"
    reference = "chainer.backends.numpy.kernels.activations:ELUKernel"


class Softmax(Operation):
    """Softmax along an axis.

    ``select(x, axis=...)``: ``x`` of at least one dimension, floating point; ``axis`` an int,
        negative
    ones count from behind.

    Methods:
        ``forward(x, axis) -> y``: shape and dtype of ``x``; ``exp(x)`` divided by its sum along the
        axis, without overflow.

        ``backward(y, gy, axis) -> gx``: ``y * (gy - sum(gy * y))``, the sum along the axis.
    """

    name = "softmax"
    reference = "chainer.backends.numpy.kernels.activations:SoftmaxKernel"


class LogSoftmax(Operation):
    """Logarithm of the softmax along an axis.

    ``select(x, axis=...)``: ``x`` of at least one dimension, floating point; ``axis`` an int,
        negative
    ones count from behind.

    Methods:
        ``forward(x, axis) -> y``: shape and dtype of ``x``; finite for finite ``x``.

        ``backward(y, gy, axis) -> gx``: ``gy - exp(y) * sum(gy)``, the sum along the axis.
    """

    name = "log_softmax"
    reference = "chainer.backends.numpy.kernels.activations:LogSoftmaxKernel"


relu = ReLU()
leaky_relu = LeakyReLU()
sigmoid = Sigmoid()
elu = ELU()
softmax = Softmax()
log_softmax = LogSoftmax()
