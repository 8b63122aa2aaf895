"""Exponential linear unit."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import elu as elu_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class ELU(FunctionNode):
    """Exponential linear unit.

    Args:
        alpha: Limit for large negative values, negated.
    """

    accepts_opaque_arrays = True
    type_check_key = ()

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = float(alpha)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self._kernel = elu_operation.select(x, alpha=self.alpha)
        if self.alpha <= 0:
            self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (self._kernel.forward(x, self.alpha),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        (x,) = self.retained_input_arrays or (None,)
        return ELUGrad(self._kernel, self.alpha, x).apply((y, grad_outputs[0]))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        (x,) = self.retained_input_arrays or (None,)
        return (self._kernel.backward(x, y, grad_outputs[0], self.alpha),)


class ELUGrad(FunctionNode):
    """Gradient of the exponential linear unit as a function of ``y`` and ``gy``."""

    accepts_opaque_arrays = True

    def __init__(self, kernel: Any, alpha: float, x: Any) -> None:
        self._kernel = kernel
        self.alpha = alpha
        self.x = x

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        y, gy = inputs
        return (self._kernel.backward(self.x, y, gy, self.alpha),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        y, gy = self.get_retained_inputs()
        g = grad_outputs[0]
        negative = ((y.array if self.x is None else self.x) < 0).astype(gy.dtype)
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(g * gy * negative)
            else:
                gradients.append(ELUGrad(self._kernel, self.alpha, self.x).apply((y, g))[0])
        return tuple(gradients)


def elu(x: Any, alpha: float = 1.0) -> Variable:
    """Exponential Linear Unit function.

    For a parameter :math:`\\alpha`, it is expressed as

    .. math::
       f(x) = \\left \\{ \\begin{array}{ll}
       x & {\\rm if}~ x \\ge 0 \\\\
       \\alpha (\\exp(x) - 1) & {\\rm if}~ x < 0,
       \\end{array} \\right.

    See: https://arxiv.org/abs/1511.07289

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.
        alpha (float): Parameter :math:`\\alpha`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.array([[-1, 0], [2, -3]], np.float32)
        >>> y = F.elu(x, alpha=1.)
        >>> np.round(y.array, 4)
        array([[-0.6321,  0.    ],
               [ 2.    , -0.9502]], dtype=float32)
    """
    return ELU(alpha).apply((x,))[0]
