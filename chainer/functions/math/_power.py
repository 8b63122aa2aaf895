"""Nodes of powers."""

from __future__ import annotations

import math
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes
from chainer.functions.math._operand import as_operand, is_scalar
from chainer.functions.math._operators import ConstantOperator, FloatBroadcastingFunction
from chainer.functions.rules import OneFloat, Ops, Value, array_of


class PowVarVar(FloatBroadcastingFunction):
    """Power of two variables."""

    is_elementwise = True

    label = "_ ** _"
    retained_inputs = (0, 1)
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] ** inputs[1],)

    def partials(
        self, ops: Ops, targets: Indexes, x0: Value, x1: Value, y: Value, gy: Value
    ) -> list[Value]:
        gxs: list[Any] = []
        for i in targets:
            if i == 0:
                # x ** 0 is constant at x = 0 too, where 0 * x ** -1 would be NaN.
                shifted = array_of(x1) != 0
                if isinstance(x0, Variable):
                    # Other bases have a derivative w.r.t. the exponent of this, at 0 too.
                    shifted = shifted | (x0.array != 0)
                gxs.append(x0 ** (x1 - shifted) * x1 * gy)
            else:
                gxs.append(ops.log(x0) * y * gy)
        return gxs


class PowVarConst(OneFloat, ConstantOperator):
    """Power of a variable and a constant exponent."""

    is_elementwise = True

    symbol = "_ ** {}"
    retained_inputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        # Squares are the most frequent powers, and a product is much faster than a power.
        if is_scalar(self.value) and self.value == 2:
            return (x * x,)
        return (x ** as_operand(self.value, x, self.xp),)

    def gradient(self, ops: Ops, x: Value, gy: Value) -> Value:
        value = self.value
        if is_scalar(value) and value == 2:
            gx = x * gy
            return gx + gx
        # As for two variables: the derivative of x ** 0 is 0 * x ** 0. The factor makes numbers of
        # booleans, which cannot be subtracted from each other.
        exponent = value - 1 * (value != 0)
        if not isinstance(x, Variable):  # whose operators convert constants
            value, exponent = as_operand(value, x, self.xp), as_operand(exponent, x, self.xp)
        return x**exponent * value * gy


class PowConstVar(OneFloat, ConstantOperator):
    """Power of a constant base and a variable."""

    is_elementwise = True

    symbol = "{} ** _"
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        base = as_operand(self.value, x, self.xp)
        log = _log(self.value) if is_scalar(self.value) else self.xp.log(base)
        self._log = as_operand(log, x, self.xp)
        return (base**x,)

    def gradient(self, ops: Ops, y: Value, gy: Value) -> Value:
        return y * gy * self._log


def _log(base: Any) -> float:
    if base > 0:
        return math.log(base)
    return -math.inf if base == 0 else math.nan
