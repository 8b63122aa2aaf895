"""Exponential function and logarithms."""

from __future__ import annotations

import math
from typing import ClassVar

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import OneFloat, Ops, UnaryFunction, Value


class Exp(OneFloat, UnaryFunction):
    """Exponential function."""

    is_pointwise = True

    label = "exp"
    # The derivative is the output, which the functions that follow keep anyway.
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.exp(inputs[0]),)

    def gradient(self, ops: Ops, y: Value, gy: Value) -> Value:
        return y * gy


class Log(OneFloat, UnaryFunction):
    """Natural logarithm; base class of the logarithms to other bases."""

    is_pointwise = True

    label = "log"
    retained_inputs = (0,)
    #: Natural logarithm of the base; None where it is one.
    log_base: ClassVar[float | None] = None

    def forward(self, inputs: Arrays) -> Arrays:
        return (getattr(self.xp, self.label)(inputs[0]),)

    def gradient(self, ops: Ops, x: Value, gy: Value) -> Value:
        gx = gy / x
        return gx if self.log_base is None else gx * (1 / self.log_base)


class Log2(Log):
    """Logarithm to base 2."""

    label = "log2"
    log_base = math.log(2)


class Log10(Log):
    """Logarithm to base 10."""

    label = "log10"
    log_base = math.log(10)


@elementwise_sections()
def exp(x: VariableLike) -> Variable:
    """Elementwise exponential function.

    Example:
        >>> F.exp(np.array([0., 1.]))
        variable([1.        , 2.71828183])
    """
    return Exp().apply((x,))[0]


@elementwise_sections()
def log(x: VariableLike) -> Variable:
    """Elementwise natural logarithm function.

    Example:
        >>> F.log(np.array([1., 2.]))
        variable([0.        , 0.69314718])
    """
    return Log().apply((x,))[0]


@elementwise_sections()
def log2(x: VariableLike) -> Variable:
    """Elementwise logarithm function to the base 2.

    Example:
        >>> F.log2(np.array([1., 8.]))
        variable([0., 3.])
    """
    return Log2().apply((x,))[0]


@elementwise_sections()
def log10(x: VariableLike) -> Variable:
    """Elementwise logarithm function to the base 10.

    Example:
        >>> F.log10(np.array([1., 100.]))
        variable([0., 2.])
    """
    return Log10().apply((x,))[0]
