"""Leaky ReLU."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class LeakyReLU(FunctionNode):
    """Linear with a small slope below zero."""

    type_check_key = ()

    def __init__(self, slope: float = 0.2) -> None:
        self.slope = slope

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        y = x * self.slope
        if 0 <= self.slope <= 1:
            # The output has the sign of the input: it is kept alive anyway.
            self.retain_outputs((0,))
            return (self.xp.maximum(x, y),)
        self.retain_inputs((0,))
        return (self.xp.where(x >= 0, x, y),)

    def _factor(self) -> Any:
        kept = self.retained_output_arrays or self.retained_input_arrays
        sign = kept[0]
        return self.xp.where(sign >= 0, 1, self.slope).astype(sign.dtype)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (grad_outputs[0] * self._factor(),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gx = self._factor()
        gx *= grad_outputs[0]
        return (gx,)


def leaky_relu(x: Any, slope: float = 0.2) -> Variable:
    """Leaky Rectified Linear Unit function: ``x`` where it is not negative, ``slope * x`` elsewhere.

    Args:
        x (Variable or array): Input of any shape, floating point.
        slope (float): Slope below zero.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.leaky_relu(np.array([-1., 2.]), slope=0.2)
        variable([-0.2,  2. ])
    """
    return LeakyReLU(slope).apply((x,))[0]
