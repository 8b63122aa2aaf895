"""Error function."""

from __future__ import annotations

import math

from chainer.backends import operations
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Erf(ElementwiseFunction):
    """Error function."""

    def compute(self, x: Array) -> Array:
        return operations.erf.select(x).forward(x)

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.exp(-x * x) * (2 / math.sqrt(math.pi))


class Erfc(ElementwiseFunction):
    """Complementary error function."""

    def compute(self, x: Array) -> Array:
        return operations.erfc.select(x).forward(x)

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.exp(-x * x) * (-2 / math.sqrt(math.pi))


@elementwise_sections()
def erf(x: VariableLike) -> Variable:
    """Elementwise error function ``2 / sqrt(pi) * integral from 0 to x of exp(-t^2) dt``.

    With SciPy installed the NumPy backend uses ``scipy.special.erf``; otherwise it is slow.

    Example:
        >>> F.erf(np.array([0.]))
        variable([0.])
    """
    return Erf().apply((x,))[0]


@elementwise_sections()
def erfc(x: VariableLike) -> Variable:
    """Elementwise complementary error function ``1 - erf(x)``, accurate for large ``x``.

    With SciPy installed the NumPy backend uses ``scipy.special.erfc``; otherwise it is slow.

    Example:
        >>> F.erfc(np.array([0.]))
        variable([1.])
    """
    return Erfc().apply((x,))[0]
