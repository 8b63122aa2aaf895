"""Cross entropy losses."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class SoftmaxCrossEntropy(Operation):
    """Softmax cross entropy between scores and integer labels.

    ``select(x, t, class_weight)``: ``x`` scores of shape ``(N, C, ...)``, floating point; ``t``
    labels of shape ``(N, ...)``, integer; ``class_weight`` of shape ``(C,)`` and the dtype of
    ``x``, or None.

    Methods:
        ``forward(x, t, class_weight, ignore_label, keep_score) -> (losses, score)``: the loss of
        each sample, shape of ``t``, dtype of ``x``; zero where ``t == ignore_label``. ``score`` is
        None unless ``keep_score``. Then it is the softmax of ``x`` over axis 1, with which
        ``backward`` has less to compute.

        ``backward(x, t, class_weight, ignore_label, score, scale) -> gx``: gradient of
        ``sum(scale * losses)`` with respect to ``x``; ``scale`` broadcasts to the shape of ``t``.
        ``x`` may be None if ``score`` is given.
    """

    name = "softmax_cross_entropy"
    reference = "chainer.backends.numpy.kernels.cross_entropies:SoftmaxCrossEntropyKernel"
    recording = Recording.STEPS
    pure = True


class LossMean(Operation):
    """Mean of the losses of labeled samples.

    ``select(losses, t)``: ``losses`` floating point; ``t`` labels of the same shape, integer.

    Methods:
        ``forward(losses, t, ignore_label, count) -> (loss, coefficient)``: the sum of ``losses``
        times ``coefficient``, of no dimensions and the dtype of ``losses``. The coefficient, a
        number or an array of no dimensions, is ``1 / max(count, 1)``, where ``count`` None means
        the number of labels that are not ``ignore_label``. Sums of 16-bit floating point, and
        their product with the coefficient, are made in float32 at least.
    """

    name = "loss_mean"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.cross_entropies:LossMeanKernel"
    recording = Recording.STEPS
    pure = True


softmax_cross_entropy = SoftmaxCrossEntropy()
loss_mean = LossMean()
