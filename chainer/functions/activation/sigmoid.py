"""Logistic function."""

from __future__ import annotations

from chainer.backends.operations.activations import sigmoid as sigmoid_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Indexes, VariableLike
from chainer.functions.rules import KernelFunction, OneFloat, Ops, Value, Values


class Sigmoid(OneFloat, KernelFunction):
    """Logistic function."""

    is_pointwise = True

    accepts_opaque_arrays = True
    operation = sigmoid_operation
    # The gradient is a formula of the output, which the functions that follow keep anyway.
    retained_outputs = (0,)

    def gradients(self, ops: Ops, targets: Indexes, y: Value, gy: Value) -> Values:
        return (gy * y * (1 - y),)


def sigmoid(x: VariableLike) -> Variable:
    """Element-wise sigmoid logistic function.

    .. math:: f(x)=(1 + \\exp(-x))^{-1}.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``, in the range
        :math:`[0, 1]`.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.arange(-2, 3, 2).astype(np.float32)
        >>> F.sigmoid(x)
        variable([0.11920293, 0.5       , 0.880797  ])
    """
    return Sigmoid().apply((x,))[0]
