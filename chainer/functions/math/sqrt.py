"""Square root and its reciprocal."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import OneFloat, Ops, UnaryFunction, Value


class Sqrt(OneFloat, UnaryFunction):
    """Elementwise square root."""

    is_pointwise = True

    label = "sqrt"
    # The derivative is computed from the output, so that no root is computed twice.
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.sqrt(inputs[0]),)

    def gradient(self, ops: Ops, y: Value, gy: Value) -> Value:
        return gy / (y + y)


@elementwise_sections()
def sqrt(x: VariableLike) -> Variable:
    """Elementwise square root function.

    .. math::
       y_i = \\sqrt x_i.

    If the value of :math:`x_i` is negative, :math:`y_i` is NaN, as NumPy has it.

    Example:
        >>> F.sqrt(np.array([4., 9.]))
        variable([2., 3.])
    """
    return Sqrt().apply((x,))[0]


@elementwise_sections()
def rsqrt(x: VariableLike) -> Variable:
    """Computes the elementwise reciprocal of the square root.

    .. math::
       y_i = {1 \\over \\sqrt x_i}.

    .. seealso:: :func:`~chainer.functions.sqrt`

    Example:
        >>> F.rsqrt(np.array([4., 1.]))
        variable([0.5, 1. ])
    """
    return 1.0 / sqrt(x)
