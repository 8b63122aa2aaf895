"""Activation functions."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class ReLU(Operation):
    """Rectified linear unit: ``max(x, 0)``.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: shape and dtype of ``x``.

        ``backward(y, gy) -> gx``: ``gy`` where ``y > 0``, 0 elsewhere.
    """

    name = "relu"
    reference = "chainer.backends.numpy.kernels.activations:ReLUKernel"
    recording = Recording.STEPS
    pure = True
    is_exact = True


class LeakyReLU(Operation):
    """Leaky rectified linear unit: ``x`` where ``x >= 0``, else ``slope * x``.

    ``select(x, slope=...)``: ``x`` of any shape, floating point; ``slope`` a float.

    Methods:
        ``forward(x, slope) -> y``: shape and dtype of ``x``.

        ``backward(signed, gy, slope) -> gx``: ``gy`` where ``signed > 0``, else ``slope * gy``.
        ``signed`` is ``x``, or ``y`` if ``slope > 0``, where it has the sign of ``x``.
    """

    name = "leaky_relu"
    # A product and a maximum, which loops of captured steps take up.
    recording = Recording.STEPS
    is_exact = True
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
    recording = Recording.STEPS
    pure = True


class ELU(Operation):
    """Exponential linear unit: ``x`` where ``x >= 0``, else ``alpha * (exp(x) - 1)``.

    ``select(x, alpha=...)``: ``x`` of any shape, floating point; ``alpha`` a float.

    Methods:
        ``forward(x, alpha) -> y``: shape and dtype of ``x``.

        ``backward(x, y, gy, alpha) -> gx``: ``gy`` where ``x > 0``, else ``gy * (y + alpha)``.
        ``x`` may be None if ``alpha > 0``, where ``y`` has the sign of ``x``.
    """

    name = "elu"
    reference = "chainer.backends.numpy.kernels.activations:ELUKernel"


class Softmax(Operation):
    """Softmax along an axis.

    ``select(x, axis=...)``: ``x`` of at least one dimension, floating point; ``axis`` an int.
    Negative axes count from the end.

    Methods:
        ``forward(x, axis) -> y``: shape and dtype of ``x``; ``exp(x)`` divided by its sum along the
        axis, without overflow.

        ``backward(y, gy, axis) -> gx``: ``y * (gy - sum(gy * y))``, the sum along the axis.
    """

    name = "softmax"
    reference = "chainer.backends.numpy.kernels.activations:SoftmaxKernel"
    recording = Recording.STEPS
    pure = True


class LogSoftmax(Operation):
    """Logarithm of the softmax along an axis.

    ``select(x, axis=...)``: ``x`` of at least one dimension, floating point; ``axis`` an int.
    Negative axes count from the end.

    Methods:
        ``forward(x, axis) -> y``: shape and dtype of ``x``; finite for finite ``x``.

        ``backward(y, gy, axis) -> gx``: ``gy - exp(y) * sum(gy)``, the sum along the axis.
    """

    name = "log_softmax"
    reference = "chainer.backends.numpy.kernels.activations:LogSoftmaxKernel"
    recording = Recording.STEPS
    pure = True


class Tanh(Operation):
    """Gradient of the hyperbolic tangent, which itself is a function of the array namespace.

    ``select(y)``: ``y`` of any shape, floating point.

    Methods:
        ``backward(y, gy) -> gx``: ``gy * (1 - y * y)``.
    """

    name = "tanh"
    methods = ("backward",)
    reference = "chainer.backends.numpy.kernels.activations:TanhKernel"
    recording = Recording.STEPS
    pure = True


class Softplus(Operation):
    """Softplus: ``log(1 + exp(beta * x)) / beta``.

    ``select(x, beta=...)``: ``x`` of any shape, floating point; ``beta`` a float.

    Methods:
        ``forward(x, beta) -> y``: shape and dtype of ``x``, without overflow.

        ``backward(x, gy, beta) -> gx``: ``gy`` times the sigmoid of ``beta * x``.
    """

    name = "softplus"
    reference = "chainer.backends.numpy.kernels.activations:SoftplusKernel"
    pure = True


class Swish(Operation):
    """Swish: ``x * sigmoid(beta * x)``.

    ``select(x, beta)``: ``x`` of shape ``(B, s_1, ..., s_N)``, floating point; ``beta`` of shape
    ``(s_1, ..., s_M)``, ``M <= N``, and the same dtype, shared along the other axes.

    Methods:
        ``forward(x, beta) -> y``: shape of ``x``.

        ``backward(x, beta, gy, wants_beta) -> (gx, gbeta)``: gradients; ``gbeta`` is None unless
        ``wants_beta``.
    """

    name = "swish"
    reference = "chainer.backends.numpy.kernels.activations:SwishKernel"


class ClippedReLU(Operation):
    """Clipped rectified linear unit: ``min(max(x, 0), cap)``.

    ``select(x, cap=...)``: ``x`` of any shape, floating point; ``cap`` a positive float.

    Methods:
        ``forward(x, cap) -> (y, inside)``: ``y`` has the shape and dtype of ``x``; ``inside`` has
        its shape and is True where ``0 < y < cap``. It is kept instead of ``x`` or ``y`` because it
        is smaller.

        ``backward(inside, gy) -> gx``: ``gy`` where ``inside``, 0 elsewhere.
    """

    name = "clipped_relu"
    reference = "chainer.backends.numpy.kernels.activations:ClippedReLUKernel"


class HardSigmoid(Operation):
    """Piecewise linear approximation of the sigmoid: ``min(max(0.2 * x + 0.5, 0), 1)``.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: shape and dtype of ``x``.

        ``backward(x, gy) -> gx``: ``0.2 * gy`` where ``-2.5 < x < 2.5``, 0 elsewhere.
    """

    name = "hard_sigmoid"
    reference = "chainer.backends.numpy.kernels.activations:HardSigmoidKernel"


class PReLU(Operation):
    """Rectified linear unit with learned slopes below zero: ``x`` where ``x >= 0``, else ``W * x``.

    ``select(x, W)``: ``x`` of shape ``(B, s_1, ..., s_N)``, floating point; ``W`` of shape
    ``(s_1, ..., s_M)``, ``M <= N``, and the same dtype, shared along the other axes.

    Methods:
        ``forward(x, W) -> y``: shape of ``x``.

        ``backward(x, W, gy, wants_weight) -> (gx, gW)``: gradients; ``gW`` is None unless
        ``wants_weight``.
    """

    name = "prelu"
    reference = "chainer.backends.numpy.kernels.activations:PReLUKernel"


class RReLU(Operation):
    """Rectified linear unit with a slope for each element: ``x`` where ``x >= 0``, else ``r * x``.

    ``select(x, r)``: ``x`` of any shape, floating point; ``r`` of the same shape and dtype, at most
    one.

    Methods:
        ``forward(x, r) -> y``: shape and dtype of ``x``.

        ``backward(x, r, gy) -> gx``: ``gy`` where ``x >= 0``, else ``r * gy``.
    """

    name = "rrelu"
    reference = "chainer.backends.numpy.kernels.activations:RReLUKernel"


class CReLU(Operation):
    """Positive and negative part side by side: ``max(x, 0)`` and ``max(-x, 0)``.

    ``select(x, axis=...)``: ``x`` of at least one dimension, floating point; ``axis`` an int.
    Negative axes count from the end.

    Methods:
        ``forward(x, axis) -> y``: shape of ``x``, but twice as long along ``axis``.

        ``backward(x, gy, axis) -> gx``: shape and dtype of ``x``.
    """

    name = "crelu"
    reference = "chainer.backends.numpy.kernels.activations:CReLUKernel"


relu = ReLU()
leaky_relu = LeakyReLU()
sigmoid = Sigmoid()
elu = ELU()
softmax = Softmax()
log_softmax = LogSoftmax()
tanh = Tanh()
softplus = Softplus()
swish = Swish()
clipped_relu = ClippedReLU()
hard_sigmoid = HardSigmoid()
prelu = PReLU()
rrelu = RReLU()
crelu = CReLU()
