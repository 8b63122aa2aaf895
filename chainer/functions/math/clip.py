"""Clipping to a range."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._scalars import as_number


class Clip(FunctionNode):
    """Limits elements to a range."""

    type_check_key = ()

    def __init__(self, x_min: Any, x_max: Any) -> None:
        self.x_min = None if x_min is None else as_number(x_min, "x_min")
        self.x_max = None if x_max is None else as_number(x_max, "x_max")
        if x_min is None and x_max is None:
            raise ValueError("x_min and x_max must not both be None")
        if x_min is not None and x_max is not None and x_min > x_max:
            raise ValueError(f"x_min must not be greater than x_max, got {x_min} > {x_max}")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        return (self.xp.clip(inputs[0], self.x_min, self.x_max),)

    def _inside(self) -> Any:
        (x,) = self.retained_input_arrays
        if self.x_min is None:
            return x <= self.x_max
        if self.x_max is None:
            return x >= self.x_min
        return (self.x_min <= x) & (x <= self.x_max)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        return (gy * self._inside().astype(gy.dtype),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (grad_outputs[0] * self._inside(),)


def clip(x: Any, x_min: Any, x_max: Any) -> Variable:
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
