"""Leaky rectified linear unit."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import leaky_relu as leaky_relu_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._scalars import as_number


class LeakyReLU(FunctionNode):
    """Leaky rectified linear unit.

    Args:
        slope: Factor of negative values.
    """

    accepts_opaque_arrays = True
    type_check_key = ()

    def __init__(self, slope: float = 0.2) -> None:
        self.slope = as_number(slope, "slope")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self._kernel = leaky_relu_operation.select(x, slope=self.slope)
        if self.slope > 0:
            self.retain_outputs((0,))  # has the sign of the input
        else:
            self.retain_inputs((0,))
        return (self._kernel.forward(x, self.slope),)

    def _signed(self) -> Any:
        retained = self.retained_output_arrays or self.retained_input_arrays
        return retained[0]

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return LeakyReLUGrad(self._kernel, self._signed(), self.slope).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (self._kernel.backward(self._signed(), grad_outputs[0], self.slope),)


class LeakyReLUGrad(FunctionNode):
    """Gradient of the leaky rectified linear unit; linear in ``gy``, constant in ``x``.

    Args:
        kernel: The kernel that computed the output.
        x: The input, or an array with its signs.
        slope: Factor of negative values.
    """

    accepts_opaque_arrays = True

    def __init__(self, kernel: Any, x: Any, slope: float) -> None:
        self._kernel = kernel
        self.x = x
        self.slope = slope

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._kernel.backward(self.x, inputs[0], self.slope),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return LeakyReLUGrad(self._kernel, self.x, self.slope).apply(grad_outputs)


def leaky_relu(x: Any, slope: float = 0.2) -> Variable:
    """Leaky Rectified Linear Unit function.

    .. math::
       f(x) = \\left \\{ \\begin{array}{ll}
       x  & {\\rm if}~ x \\ge 0 \\\\
       ax & {\\rm if}~ x < 0,
       \\end{array} \\right.

    where :math:`a` is a configurable slope value.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.
        slope (float): Slope value :math:`a`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.array([[-1, 0], [2, -3], [-2, 1]], np.float32)
        >>> F.leaky_relu(x, slope=0.2).array
        array([[-0.2,  0. ],
               [ 2. , -0.6],
               [-0.4,  1. ]], dtype=float32)
    """
    return LeakyReLU(slope).apply((x,))[0]
