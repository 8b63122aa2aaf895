"""Elementwise squared error."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.functions.loss._pair import check_pair


class SquaredError(FunctionNode):
    """Elementwise squared difference."""

    type_check_key = ()
    check_type_forward = check_pair

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        difference = inputs[0] - inputs[1]
        return (difference * difference,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x0, x1 = self.retained_input_arrays
        gx0 = (x0 - x1) * grad_outputs[0]
        gx0 = gx0 + gx0
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        x0, x1 = self.get_retained_inputs()
        gx0 = 2 * (x0 - x1) * grad_outputs[0]
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])


def squared_error(x0: Any, x1: Any) -> Variable:
    """Elementwise squared error ``(x0 - x1)^2``.

    Args:
        x0 (Variable or array): First input, of any shape, floating point.
        x1 (Variable or array): Second input of the same shape and dtype.

    Returns:
        Variable: The errors, of the shape of the inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.squared_error(np.array([1., 2.]), np.array([3., 1.]))
        variable([4., 1.])
    """
    return SquaredError().apply((x0, x1))[0]
