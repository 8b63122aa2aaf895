"""Sums over axes, and means of losses."""

from __future__ import annotations

from chainer.core.kernel import Operation


class AxesSum(Operation):
    """Sum over axes.

    ``select(x)``: ``x`` an array of any shape and dtype.

    Methods:
        ``forward(x, axis, keepdims) -> y``: ``axis`` is None for all axes, a number or a tuple of
        numbers, all of which exist. Sums of 16-bit floating point are made in float32.
    """

    name = "axes_sum"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.reductions:AxesSumKernel"


class LossMean(Operation):
    """Mean of the losses of labelled samples.

    ``select(losses, t)``: ``losses`` floating point; ``t`` labels of the same shape, integer.

    Methods:
        ``forward(losses, t, ignore_label, count) -> (loss, coefficient)``: the sum of ``losses``
        times ``coefficient``, of no dimensions and the dtype of ``losses``. The coefficient, a
        number or an array of no dimensions, is ``1 / max(count, 1)``, where ``count`` None means
        the number of labels that are not ``ignore_label``. Sums of 16-bit floating point, and
        their product with the coefficient, are made in float32.
    """

    name = "loss_mean"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.reductions:LossMeanKernel"


axes_sum = AxesSum()
loss_mean = LossMean()
