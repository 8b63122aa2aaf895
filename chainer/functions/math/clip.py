"""Clipping to a range."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions._scalars import as_number
from chainer.functions.rules.base import array_of, expect_one_float
from chainer.functions.rules.expressions import UnaryFunction


class Clip(UnaryFunction):
    """Limits elements to a range."""

    type_check_key = ()
    retained_inputs = (0,)
    check_type_forward = expect_one_float

    def __init__(self, x_min: float | None, x_max: float | None) -> None:
        self.x_min = None if x_min is None else as_number(x_min, "x_min")
        self.x_max = None if x_max is None else as_number(x_max, "x_max")
        if x_min is None and x_max is None:
            raise ValueError("x_min and x_max must not both be None")
        if x_min is not None and x_max is not None and x_min > x_max:
            raise ValueError(f"x_min must not be greater than x_max, got {x_min} > {x_max}")

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.clip(inputs[0], self.x_min, self.x_max),)

    def gradient(self, ops: Any, x: Any, gy: Any) -> Any:
        array = array_of(x)
        if self.x_min is None:
            return gy * (array <= self.x_max)
        if self.x_max is None:
            return gy * (array >= self.x_min)
        return gy * ((self.x_min <= array) & (array <= self.x_max))


def clip(x: VariableLike, x_min: float, x_max: float) -> Variable:
    """Clips (limits) elements of the input to ``[x_min, x_max]``.

    Args:
        x (Variable or array): Input of any shape, floating point.
        x_min (float): Lower bound; None for none.
        x_max (float): Upper bound; None for none.

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
