"""Square."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Square(FunctionNode):
    """Elementwise square."""

    label = "square"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        x = inputs[0]
        return (x * x,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        return (2 * x * grad_outputs[0],)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        gx = x * grad_outputs[0]
        return (gx + gx,)


def square(x: Any) -> Variable:
    """Elementwise square function.

    .. math::
       y_i = x_i ^ 2.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.square(np.array([-2., 3.]))
        variable([4., 9.])
    """
    return Square().apply((x,))[0]
