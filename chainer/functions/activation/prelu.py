"""Parametric ReLU."""

from __future__ import annotations

from chainer.backends.numpy.kernels.activations import expand_parameter
from chainer.backends.operations.activations import prelu as prelu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import ComposedFunction, expect_one_dtype
from chainer.functions.rules.constants import constant


class PReLUFunction(ComposedFunction):
    """Linear with a learned slope below zero."""

    argument_names = ("x", "W")

    type_check_key = ()
    retained_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_one_dtype(in_types, 2)
        type_check.expect(
            x_type.ndim >= w_type.ndim + 1,
            x_type.shape[1 : 1 + type_check.eval(w_type.ndim)] == w_type.shape,
        )

    def forward(self, inputs: Arrays) -> Arrays:
        self._kernel = prelu_operation.select(*inputs)
        return (self._kernel.forward(*inputs),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, w = self.retained_input_arrays
        # The gradient of the slopes costs a sum over the batch: only where it is wanted.
        gradients = self._kernel.backward(x, w, grad_outputs[0], 1 in target_input_indexes)
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, x: Variable, w: Variable) -> Variables:
        # Which side of zero an element is on is constant almost everywhere.
        below = constant(lambda x: (x < 0).astype(x.dtype), x)
        return (x * (expand_parameter(w, x.ndim) * below + (1 - below)),)


def prelu(x: VariableLike, W: VariableLike) -> Variable:
    """Parametric ReLU function: ``x`` where it is not negative, ``W * x`` elsewhere.

    Args:
        x (Variable or array): Input; its first axis is the batch. Floating point.
        W (Variable or array): Slopes of the same dtype, shared by samples and along trailing axes:
            a shape ``(2, 3)`` goes with inputs of shape ``(B, 2, 3, ...)``.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.prelu(np.array([[-1., 2.]]), np.array([0.5, 0.5]))
        variable([[-0.5,  2. ]])
    """
    return PReLUFunction().apply((x, W))[0]
