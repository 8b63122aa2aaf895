"""Clipping to a range."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.lookup import is_array
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import as_number
from chainer.functions.math._operand import OperandError
from chainer.functions.rules import OneFloat, Ops, UnaryFunction, Value, array_of


class Clip(OneFloat, UnaryFunction):
    """Limits elements to a range."""

    is_pointwise = True

    retained_inputs = (0,)

    def __init__(self, x_min: float | Array | None, x_max: float | Array | None) -> None:
        low = self.x_min = _as_bound(x_min, "x_min")
        high = self.x_max = _as_bound(x_max, "x_max")
        if low is None and high is None:
            raise ValueError("x_min and x_max must not both be None")
        if low is not None and high is not None and low > high:
            raise ValueError(f"x_min must not be greater than x_max, got {low} > {high}")

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.clip(inputs[0], self.x_min, self.x_max),)

    def gradient(self, ops: Ops, x: Value, gy: Value) -> Value:
        # Which elements are inside is constant almost everywhere.
        array = array_of(x)
        if self.x_min is None:
            return gy * (array <= self.x_max)
        if self.x_max is None:
            return gy * (array >= self.x_min)
        return gy * ((self.x_min <= array) & (array <= self.x_max))


def _as_bound(bound: float | Array | None, name: str) -> float | None:
    """Returns a bound as a number: an array of one element counts as one."""
    if bound is None:
        return None
    if not is_array(bound):
        return as_number(bound, name)
    array: Any = bound
    if array.size != 1:
        raise OperandError(f"{name} must be a number, got an array of shape {array.shape}")
    return as_number(array.item(), name)


@explained_keywords
def clip(x: VariableLike, x_min: float | None, x_max: float | None) -> Variable:
    """Clips (limits) elements of the input to ``[x_min, x_max]``.

    Args:
        x (Variable or array): Input of any shape, floating point.
        x_min (float): Lower bound, a number or an array without dimensions; None for none.
        x_max (float): Upper bound, likewise.

    Returns:
        Variable: Output of the shape and dtype of ``x``. Its gradient is zero where elements were
            changed.

    Raises:
        InvalidType: If the dtype does not fit.
        TypeError: If a bound is not a number.
        ValueError: If the lower bound is greater than the upper one, or both are None.

    Example:
        >>> F.clip(np.array([-1., 0.5, 2.]), 0.0, 1.0)
        variable([0. , 0.5, 1. ])
    """
    return Clip(x_min, x_max).apply((x,))[0]
