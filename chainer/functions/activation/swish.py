"""Swish."""

from __future__ import annotations

from chainer.backends.numpy.kernels.activations import expand_parameter
from chainer.backends.operations.activations import swish as swish_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.rules import ComposedFunction, expect_one_dtype


class Swish(ComposedFunction):
    """Input times the sigmoid of the scaled input."""

    argument_names = ("x", "beta")

    type_check_key = ()
    retained_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, beta_type = expect_one_dtype(in_types, 2)
        type_check.expect(
            beta_type.ndim <= x_type.ndim - 1,
        )
        n = type_check.eval(beta_type.ndim)
        type_check.expect(beta_type.shape == x_type.shape[1 : 1 + n])

    def forward(self, inputs: Arrays) -> Arrays:
        self._kernel = swish_operation.select(*inputs)
        return (self._kernel.forward(*inputs),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, beta = self.retained_input_arrays
        # The gradient of beta costs a sum over the batch: only where it is wanted.
        gradients = self._kernel.backward(x, beta, grad_outputs[0], 1 in target_input_indexes)
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, x: Variable, beta: Variable) -> Variables:
        return (x * sigmoid(x * expand_parameter(beta, x.ndim)),)


def swish(x: VariableLike, beta: VariableLike) -> Variable:
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
