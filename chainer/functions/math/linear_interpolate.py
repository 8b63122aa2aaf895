"""Elementwise linear interpolation."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class LinearInterpolate(FunctionNode):
    """Weighted average of two arrays, element by element."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        p_type, x_type, y_type = in_types
        type_check.expect(
            p_type.dtype.kind == "f",
            x_type.dtype == p_type.dtype,
            y_type.dtype == p_type.dtype,
            p_type.shape == x_type.shape,
            p_type.shape == y_type.shape,
        )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1, 2))
        p, x, y = inputs
        # y + p (x - y) would round to something else than x at p = 1.
        z = 1 - p
        z *= y
        z += p * x
        return (z,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        p, x, y = self.get_retained_inputs()
        g = grad_outputs[0]
        slopes = {0: lambda: x - y, 1: lambda: p, 2: lambda: 1 - p}
        return tuple([slopes[i]() * g for i in target_input_indexes])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        p, x, y = self.retained_input_arrays
        g = grad_outputs[0]
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 1:
                gradient = p * g
            else:
                gradient = x - y if i == 0 else 1 - p
                gradient *= g
            gradients.append(gradient)
        return tuple(gradients)


def linear_interpolate(p: Any, x: Any, y: Any) -> Variable:
    """Elementwise linear interpolation ``p x + (1 - p) y``.

    Args:
        p (Variable or array): Weights, of any shape, floating point.
        x (Variable or array): First values of the same shape and dtype.
        y (Variable or array): Second values of the same shape and dtype.

    Returns:
        Variable: Output of the shape of the inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.linear_interpolate(np.array([0.25]), np.array([0.]), np.array([4.]))
        variable([3.])
    """
    return LinearInterpolate().apply((p, x, y))[0]
