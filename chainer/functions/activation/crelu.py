"""Concatenated ReLU."""

from __future__ import annotations

from chainer.backends.operations.activations import crelu as crelu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import expect_axis
from chainer.functions._scalars import as_int
from chainer.functions.rules import PiecewiseLinearFunction
from chainer.functions.rules.batching import ShiftsAxes


class CReLU(ShiftsAxes, PiecewiseLinearFunction):
    """Positive and negative part side by side."""

    argument_names = ("x",)

    type_check_key = ("axis",)
    retained_inputs = (0,)

    def __init__(self, axis: int = 1) -> None:
        self.axis = as_int(axis, "axis must be an integer value")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        expect_axis(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = crelu_operation.select(x, axis=self.axis)
        return (self._kernel.forward(x, self.axis),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, grad_outputs[0], self.axis),)

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        (x,) = self.retained_input_arrays
        (gx,) = tangents
        return (self.xp.concatenate([gx * (x > 0), -gx * (x < 0)], axis=self.axis),)


@explained_keywords
def crelu(x: VariableLike, axis: int = 1) -> Variable:
    """Concatenated Rectified Linear Unit function: ``relu(x)`` and ``relu(-x)`` side by side.

    See Understanding and Improving Convolutional Neural Networks via Concatenated Rectified Linear
    Units (https://arxiv.org/abs/1603.05201).

    Args:
        x (Variable or array): Input of shape ``(s_1, ..., s_N)``, floating point.
        axis (int): Axis that the output is concatenated along.

    Returns:
        Variable: Output whose ``axis`` is twice as long.

    Raises:
        InvalidType: If the dtype does not fit or the axis does not exist.
        TypeError: If ``axis`` is not an integer.

    Example:
        >>> F.crelu(np.array([[-1., 2.]]))
        variable([[0., 2., 1., 0.]])
    """
    return CReLU(axis).apply((x,))[0]
