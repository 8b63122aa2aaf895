"""Swish."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.activations import expand_parameter
from chainer.backends.operations.activations import swish as swish_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Swish(FunctionNode):
    """Input times the sigmoid of the scaled input."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == "f",
            beta_type.dtype == x_type.dtype,
            beta_type.ndim <= x_type.ndim - 1,
        )
        n = type_check.eval(beta_type.ndim)
        type_check.expect(beta_type.shape == x_type.shape[1 : 1 + n])

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x, beta = inputs
        self._kernel = swish_operation.select(x, beta)
        return (self._kernel.forward(x, beta),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, beta = self.retained_input_arrays
        wants_beta = 1 in target_input_indexes
        gradients = self._kernel.backward(x, beta, grad_outputs[0], wants_beta)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.array.reshape import reshape
        from chainer.functions.math.sum import sum

        x, beta = self.get_retained_inputs()
        (gy,) = grad_outputs
        b = broadcast_to(expand_parameter(beta, x.ndim), x.shape)
        s = sigmoid(b * x)
        slope = s * (1 - s) * x

        def gbeta() -> Variable:
            axes = (0, *range(1 + beta.ndim, x.ndim))
            return reshape(sum(gy * slope * x, axis=axes), beta.shape)

        return tuple([gy * (s + b * slope) if i == 0 else gbeta() for i in target_input_indexes])


def swish(x: Any, beta: Any) -> Variable:
    """Swish activation function: ``x * sigmoid(beta * x)``.

    It is ``x / 2`` for ``beta`` zero and approaches ReLU for large ``beta``.

    Args:
        x (Variable or array): Input of shape ``(B, s_1, ..., s_N)``, floating point.
        beta (Variable or array): Parameter of shape ``(s_1, ..., s_M)``, ``M <= N``, and the same
            dtype.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.swish(np.array([[2.]]), np.array(0.))
        variable([[1.]])
    """
    return Swish().apply((x, beta))[0]
