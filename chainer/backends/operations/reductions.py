"""Sums over axes."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class AxesSum(Operation):
    """Sum over axes.

    ``select(x)``: ``x`` an array of any shape and dtype.

    Methods:
        ``forward(x, axis, keepdims) -> y``: ``axis`` is None for all axes, a number or a tuple of
        numbers, all of which exist. As precise as the sums of the array library, or more.
    """

    name = "axes_sum"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.reductions:AxesSumKernel"


axes_sum = AxesSum()
