"""Square root and its reciprocal."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Sqrt(FunctionNode):
    """Elementwise square root."""

    label = "sqrt"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        return (self.xp.sqrt(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        return (grad_outputs[0] / (2 * y),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (grad_outputs[0] / (y + y),)


def sqrt(x: Any) -> Variable:
    """Elementwise square root function.

    .. math::
       y_i = \\sqrt x_i.

    If the value of :math:`x_i` is negative, :math:`y_i` is NaN, as NumPy has it.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.sqrt(np.array([4., 9.]))
        variable([2., 3.])
    """
    return Sqrt().apply((x,))[0]


def rsqrt(x: Any) -> Variable:
    """Computes the elementwise reciprocal of the square root.

    .. math::
       y_i = {1 \\over \\sqrt x_i}.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    .. seealso:: :func:`~chainer.functions.sqrt`

    Example:
        >>> F.rsqrt(np.array([4., 1.]))
        variable([0.5, 1. ])
    """
    return 1.0 / sqrt(x)
