"""Sums over axes."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class AxesSum(Operation):
    """Sum over axes.

    ``select(x)``: ``x`` an array of any shape and dtype.

    Methods:
        ``forward(x, axis, keepdims) -> y``: ``axis`` is None for all axes, an int or a tuple of
        ints, all of which are in range. Sums are at least as accurate as the array library's own.
    """

    name = "axes_sum"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.reductions:AxesSumKernel"
    recording = Recording.STEPS
    pure = True


axes_sum = AxesSum()
