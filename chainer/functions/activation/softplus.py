"""Softplus."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class Softplus(FunctionNode):
    """Smooth approximation of the rectified linear unit."""

    type_check_key = ()

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = float(beta)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        (x,) = inputs
        xp = self.xp
        scaled = x * self.beta
        # log(1 + exp(-|s|)) + max(s, 0): nothing overflows.
        y = xp.log1p(xp.exp(-abs(scaled)))
        y += xp.maximum(scaled, 0)
        y *= 1 / self.beta
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid

        (x,) = self.get_retained_inputs()
        return (sigmoid(x * self.beta) * grad_outputs[0],)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        gx = self.xp.tanh(x * (0.5 * self.beta))
        gx *= 0.5
        gx += 0.5
        gx *= grad_outputs[0]
        return (gx,)


def softplus(x: Any, beta: float = 1.0) -> Variable:
    """Elementwise softplus ``log(1 + exp(beta x)) / beta``, a smooth approximation of ReLU.

    Args:
        x (Variable or array): Input of any shape, floating point.
        beta (float): The larger, the nearer to ReLU.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.softplus(np.array([0., 100.]))
        variable([  0.69314718, 100.        ])
    """
    return Softplus(beta).apply((x,))[0]
