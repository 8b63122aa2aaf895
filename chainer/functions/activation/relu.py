"""Rectified linear unit."""

from __future__ import annotations

from chainer.backends.operations.activations import relu as relu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import OneFloat, PiecewiseLinearFunction


class ReLU(OneFloat, PiecewiseLinearFunction):
    """Rectified linear unit."""

    is_elementwise = True

    accepts_opaque_arrays = True
    operation = relu_operation
    # The output tells where the input was positive, and the functions that follow keep it anyway.
    retained_outputs = (0,)


@elementwise_sections()
def relu(x: VariableLike) -> Variable:
    """Rectified Linear Unit function.

    .. math:: f(x)=\\max(0, x).

    Example:
        >>> x = np.array([[-1, 0], [2, -3], [-2, 1]], np.float32)
        >>> F.relu(x).array
        array([[0., 0.],
               [2., 0.],
               [0., 1.]], dtype=float32)
    """
    return ReLU().apply((x,))[0]
