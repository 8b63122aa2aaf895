"""Exponential linear unit."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class ELU(FunctionNode):
    """Linear above zero, exponential below."""

    type_check_key = ()

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = float(alpha)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        (x,) = inputs
        xp = self.xp
        y = xp.minimum(x, 0)
        y = xp.expm1(y)
        y *= self.alpha
        y += xp.maximum(x, 0)
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.exponential import exp
        from chainer.functions.math.minimum import minimum

        (x,) = self.get_retained_inputs()
        below = (x.array < 0).astype(x.dtype)
        zeros = self.xp.zeros((), dtype=x.dtype)
        slope = exp(minimum(x, zeros)) * (below * self.alpha).astype(x.dtype) + (1 - below)
        return (grad_outputs[0] * slope,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        xp = self.xp
        slope = xp.exp(xp.minimum(x, 0))
        slope *= self.alpha
        gx = xp.where(x >= 0, 1, slope).astype(x.dtype, copy=False)
        gx *= grad_outputs[0]
        return (gx,)


def elu(x: Any, alpha: float = 1.0) -> Variable:
    """Exponential Linear Unit function: ``x`` where it is not negative, ``alpha * (exp(x) - 1)`` elsewhere.

    See Fast and Accurate Deep Network Learning by Exponential Linear Units (https://arxiv.org/abs/1511.07289).

    Args:
        x (Variable or array): Input of any shape, floating point.
        alpha (float): Where the function goes for large negative ``x``.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.elu(np.array([-1., 2.]))
        variable([-0.63212056,  2.        ])
    """
    return ELU(alpha).apply((x,))[0]
