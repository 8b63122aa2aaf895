"""Functions that distributions share."""

from __future__ import annotations

import warnings

from chainer import functions as F
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Grads, Indexes, VariableLike
from chainer.distributions._parametric import masked
from chainer.functions.rules.type_checks import expect_one_float


class ModifiedXLogX(FunctionNode):
    """``x * log(x)``, which is 0 at 0, with the gradient 0 there."""

    check_type_forward = expect_one_float

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        # The logarithm of 0 would warn.
        xp = self.xp
        self.retain_inputs((0,))
        return (x * xp.log(xp.where(x == 0, xp.ones_like(x), x)),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        (x,) = self.get_retained_inputs()
        zero = x.array == 0
        if zero.any():
            warnings.warn("cannot calculate gradient for zero input.", RuntimeWarning, stacklevel=2)
        (gy,) = grad_outputs
        assert gy is not None
        return (masked(gy * (1 + F.log(masked(x, zero, 1.0))), zero, 0.0),)


def _modified_xlogx(x: VariableLike) -> Variable:
    """Computes ``x * log(x)``, which is 0 at 0."""
    return ModifiedXLogX().apply((x,))[0]
