"""Sum of array elements."""

# The shapes of inputs are read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from chainer.backends.operations.reductions import axes_sum
from chainer.core.autograd.variable import Variable, as_variable, shape_of
from chainer.core.config.configuration import threads
from chainer.core.typing import (
    ArrayGrads,
    Arrays,
    Axis,
    Indexes,
    Shape,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import ReducesAxes, shape_before_repeating
from chainer.functions._broadcasting import broadcast_array, reduce_to_shape
from chainer.functions._errors import InvalidValue
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes, shifted_axis


class Sum(ShiftsAxes, ReducesAxes, UnaryFunction):
    """Sum of array elements over given axes."""

    is_linear = True

    keepdims = False

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        return (axes_sum.select(x).forward(x, self.axis, self.keepdims),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        shape = (self.inputs or self.input_nodes)[0]._type[1]
        # One node in place of two, unless function hooks expect the two.
        if isinstance(gy, Variable) and not threads.state.hooks:
            return SumGrad(self.axis, shape).apply((gy,))[0]
        # A scalar broadcasts to any shape as it is.
        if gy.ndim:
            gy = gy.reshape(shape_before_repeating(shape, self.axis))
        return ops.broadcast_to(gy, shape)


class SumGrad(UnaryFunction):
    """Gradient of a sum: the array is repeated along the axes that were summed.

    Args:
        axis: The axes; None for all.
        shape: Shape of the summed array.
    """

    is_linear = True
    type_check_key = ()

    def __init__(self, axis: tuple[int, ...] | None, shape: Shape) -> None:
        self._axis = axis
        self._shape = shape

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        axis = shifted_axis(self._axis, len(self._shape))
        return SumGrad(axis, (size, *self._shape)).apply(inputs)

    def forward(self, inputs: Arrays) -> Arrays:
        (gy,) = inputs
        shape = self._shape
        if gy.ndim:  # a scalar is repeated as it is
            gy = gy.reshape(shape_before_repeating(shape, self._axis))
        return (broadcast_array(self.xp, gy, shape),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        gx = ops.sum(gy, self._axis)
        return gx if gx.shape == self.input_shape(0) else gx.reshape(self.input_shape(0))

    # The same without the calls in between, which take as long as the sum of a small array.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (gy,) = grad_outputs
        gx = axes_sum.select(gy).forward(gy, self._axis, False)
        nodes = self.inputs or self.input_nodes
        shape = nodes[0]._type[1]
        return (gx if gx.shape == shape else gx.reshape(shape),)


class SumTo(UnaryFunction):
    """Sum over the axes along which a shape would be repeated: the opposite of broadcasting.

    Args:
        shape: Shape of the output.
        is_negative: Whether the negative of the input is summed: the gradient of a subtrahend.
    """

    is_linear = True

    type_check_key = ("_shape",)

    def __init__(self, shape: Shape, is_negative: bool = False) -> None:
        self._shape = shape
        self.is_negative = is_negative

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        (x,) = inputs
        lead = x.ndim - 1 - len(self._shape)
        y = SumTo((size, *[1] * lead, *self._shape), self.is_negative).apply((x,))[0]
        return (y.reshape((size, *self._shape)),)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        actual = type_check.eval(in_types[0].shape)
        lead = len(actual) - len(self._shape)
        if lead < 0 or any(n not in (1, actual[lead + i]) for i, n in enumerate(self._shape)):
            raise InvalidValue(
                f"{self._shape} can be broadcast to in_types[0].shape",
                f"in_types[0].shape: {actual}",
            )

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        return (reduce_to_shape(-x if self.is_negative else x, self._shape),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        return ops.broadcast_to(-gy if self.is_negative else gy, self.input_shape(0))

    # The same without the calls in between, as for SumGrad.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Any = grad_outputs[0]
        nodes = self.inputs or self.input_nodes
        # The smaller array is negated.
        gy = -gy if self.is_negative else gy
        return (broadcast_array(self.xp, gy, nodes[0]._type[1]),)


@explained_keywords
def sum(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Sum of array elements over a given axis.

    Args:
        x (:class:`~chainer.Variable` or array): Elements to sum, of a floating point dtype.
        axis (None, int, or tuple of int): Axis along which a sum is performed. By default over all
            dimensions.
        keepdims (bool): If True, the specified axes remain as axes of length one.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        TypeError: If ``axis`` is not None, an int or a tuple of ints.
        ValueError: If an axis occurs twice.
        InvalidType: If ``x`` has no such axis or is not of floating point numbers.

    Example:
        >>> x = np.arange(6).reshape(2, 3).astype(np.float32)
        >>> F.sum(x).array
        array(15., dtype=float32)
        >>> F.sum(x, axis=1).array
        array([ 3., 12.], dtype=float32)
        >>> F.sum(x, keepdims=True).array
        array([[15.]], dtype=float32)
    """
    return Sum(axis, keepdims).apply((x,))[0]


def sum_to(x: VariableLike, shape: Shape) -> Variable:
    """Sums elements along axes so that the result has a given shape.

    It is the opposite of broadcasting, and what the gradient of broadcasting needs.

    Args:
        x (:class:`~chainer.Variable` or array): Input.
        shape (tuple of int): Shape of the output. It can be broadcast to the shape of ``x``.

    Returns:
        ~chainer.Variable: Output variable; ``x`` itself if it has that shape.

    Raises:
        InvalidType: If ``shape`` cannot be broadcast to the shape of ``x``.

    Example:
        >>> x = np.array([[1., 2., 3.], [4., 5., 6.]], np.float32)
        >>> F.sum_to(x, (1, 3))
        variable([[5., 7., 9.]])
    """
    # An input that has the shape already needs no node in the graph.
    if shape_of(x) == shape:
        return as_variable(x)
    return SumTo(tuple(shape)).apply((x,))[0]
