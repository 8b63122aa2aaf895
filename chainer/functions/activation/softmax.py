"""Softmax."""

from __future__ import annotations

from chainer.backends.operations.activations import softmax as softmax_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.documentation import SharedSections
from chainer.functions._axes import expect_axis
from chainer.functions._scalars import require_int
from chainer.functions.rules import KernelFunction, Ops, Value, Values
from chainer.functions.rules.batching import ShiftsAxes

#: Sections of the docstrings of softmax and log_softmax.
softmax_sections = SharedSections(
    """
    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype, with at least two
            dimensions unless ``axis`` says otherwise.
        axis (int): The axis along which the softmax is to be computed.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` has no such axis or is not of floating point numbers.
    """
)


class AlongAxis(ShiftsAxes, KernelFunction):
    """Base class of softmax and its logarithm."""

    argument_names = ("x",)

    accepts_opaque_arrays = True
    type_check_key = ("axis",)
    # Both gradients are formulas of the output alone, so that the input can be freed.
    retained_outputs = (0,)

    def __init__(self, axis: int = 1) -> None:
        self.axis = require_int(axis, "axis")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        expect_axis(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = self.operation.select(x, axis=self.axis)
        return (self._kernel.forward(x, self.axis),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(y, grad_outputs[0], self.axis),)


class Softmax(AlongAxis):
    """Softmax along an axis."""

    operation = softmax_operation

    def gradients(self, ops: Ops, targets: Indexes, y: Value, gy: Value) -> Values:
        gx = y * gy
        return (gx - y * ops.sum(gx, self.axis, keepdims=True),)


@softmax_sections()
@explained_keywords
def softmax(x: VariableLike, axis: int = 1) -> Variable:
    """Softmax function.

    This function computes its softmax along an axis. Let :math:`c = (c_1, c_2, \\dots, c_D)` be the
    slice of ``x`` along with the axis. For each slice :math:`c`, it computes the function
    :math:`f(c)` defined as :math:`f(c)={\\exp(c) \\over \\sum_{d} \\exp(c_d)}`.

    Example:
        >>> x = np.array([[0, 1, 2], [0, 2, 4]], np.float32)
        >>> y = F.softmax(x, axis=1)
        >>> np.round(y.array, 4)
        array([[0.09  , 0.2447, 0.6652],
               [0.0159, 0.1173, 0.8668]], dtype=float32)
        >>> F.sum(y, axis=1).array
        array([1., 1.], dtype=float32)
    """
    return Softmax(axis).apply((x,))[0]
