"""Inverse hyperbolic tangent."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Arctanh(ElementwiseFunction):
    """Inverse hyperbolic tangent."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / (1 - x * x)


def arctanh(x: VariableLike) -> Variable:
    """Elementwise inverse hyperbolic tangent function.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any shape, floating point, in (-1, 1).

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.arctanh(np.array([0., 0.5]))
        variable([0.        , 0.54930614])
    """
    return Arctanh().apply((x,))[0]
