"""Gaussian error linear unit."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.numpy.kernels.gelus import logistic_argument, slope
from chainer.backends.operations.gelus import gelu as operation
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.functions.activation._blockwise import BlockwiseFunction, ValueAndSlope
from chainer.functions.rules import KernelFunction, OneFloat, Ops, Value, Values


class GELU(OneFloat, KernelFunction):
    """Gaussian error linear unit."""

    is_elementwise = True
    retained_inputs = (0,)
    approximate = False
    _saved: Array = None

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = operation.select(x, approximate=self.approximate)
        y, self._saved = self._kernel.forward(x, self.approximate, threads.state.enable_backprop)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, self._saved, grad_outputs[0], self.approximate),)

    def gradients(self, ops: Ops, targets: Indexes, x: Value, gy: Value) -> Values:
        # Powers of exponentials overflow in 16 bits; the first order is computed in float32, too.
        x = ops.cast(x, compute_dtype(x.dtype))
        return (
            ops.cast(slope(ops, x, self._probability(ops, x), self.approximate), gy.dtype) * gy,
        )

    def _probability(self, ops: Ops, x: Value) -> Value:
        """Returns the distribution function."""
        if self.approximate or not (isinstance(x, Variable) or x.dtype.itemsize != 4):
            return ops.sigmoid(logistic_argument(ops, x, self.approximate))
        return ops.erfc(x * -math.sqrt(0.5)) * 0.5


class TanhGELU(GELU):
    """Approximation of the Gaussian error linear unit by tanh."""

    approximate = True


class QuickGELU(BlockwiseFunction):
    """Approximation of the Gaussian error linear unit by the logistic function."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        s = ops.sigmoid(x * 1.702)
        y = x * s
        return y, lambda: s + y * (1 - s) * 1.702


def gelu(x: VariableLike, approximate: bool = False) -> Variable:
    """Gaussian error linear unit.

    .. math:: f(x) = x \\Phi(x)

    where :math:`\\Phi` is the distribution function of the standard normal distribution.

    Args:
        x (Variable or array): Input of any shape, floating point.
        approximate (bool): If True, computes the approximation of the paper and of GPT-2,
            :math:`x (1 + \\tanh(\\sqrt{2 / \\pi} (x + 0.044715 x^3))) / 2`.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Gaussian Error Linear Units <https://arxiv.org/abs/1606.08415>`_

    Example:
        >>> x = np.array([-1, 0, 1, 2], np.float32)
        >>> F.gelu(x).array.round(4)
        array([-0.1587,  0.    ,  0.8413,  1.9545], dtype=float32)
        >>> F.gelu(x, approximate=True).array.round(4)
        array([-0.1588,  0.    ,  0.8412,  1.9546], dtype=float32)
    """
    state = threads.state
    if state.needs_no_node() and type(x) is Variable:
        # Without a function node where text is decoded, as for linear functions.
        array = x._array
        if type(array) is numpy.ndarray and array.dtype.char in "fd" and array.ndim:
            y = operation.select(array, approximate=approximate).forward(array, approximate, False)
            return Variable._from_array(y[0], x._requires_grad)
    function = TanhGELU() if approximate else GELU()
    return function.apply((x,))[0]


def quick_gelu(x: VariableLike) -> Variable:
    """Approximation of the Gaussian error linear unit: ``x * sigmoid(1.702 * x)``.

    CLIP and other published models use it. :func:`gelu` is nearer to the exact function.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Gaussian Error Linear Units <https://arxiv.org/abs/1606.08415>`_, section 2

    Example:
        >>> F.quick_gelu(np.array([-1, 0, 1, 2], np.float32)).array.round(4)
        array([-0.1542,  0.    ,  0.8458,  1.9357], dtype=float32)
    """
    return QuickGELU().of(x)
