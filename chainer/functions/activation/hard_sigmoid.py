"""Hard sigmoid."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class HardSigmoid(FunctionNode):
    """Piecewise linear approximation of the sigmoid."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        y = inputs[0] * 0.2
        y = y + 0.5
        return (self.xp.clip(y, 0, 1),)

    def _inside(self) -> Any:
        (x,) = self.retained_input_arrays
        return (x > -2.5) & (x < 2.5)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        return (gy * (self._inside() * 0.2).astype(gy.dtype),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gx = grad_outputs[0] * self._inside()
        return ((gx * 0.2).astype(gx.dtype, copy=False),)


def hard_sigmoid(x: Any) -> Variable:
    """Elementwise hard-sigmoid function: ``clip(0.2 x + 0.5, 0, 1)``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.hard_sigmoid(np.array([-2.6, 0., 1., 2.6]))
        variable([0. , 0.5, 0.7, 1. ])
    """
    return HardSigmoid().apply((x,))[0]
