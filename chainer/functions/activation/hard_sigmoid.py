"""Hard sigmoid."""

from __future__ import annotations

from chainer.backends.operations.activations import hard_sigmoid as hard_sigmoid_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import OneFloat, PiecewiseLinearFunction


class HardSigmoid(OneFloat, PiecewiseLinearFunction):
    """Piecewise linear approximation of the sigmoid."""

    is_pointwise = True

    operation = hard_sigmoid_operation
    retained_inputs = (0,)


@elementwise_sections()
def hard_sigmoid(x: VariableLike) -> Variable:
    """Elementwise hard-sigmoid function: ``clip(0.2 x + 0.5, 0, 1)``.

    Example:
        >>> F.hard_sigmoid(np.array([-2.6, 0., 1., 2.6]))
        variable([0. , 0.5, 0.7, 1. ])
    """
    return HardSigmoid().apply((x,))[0]
