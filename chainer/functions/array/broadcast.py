"""Broadcasting of arrays to a common shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from chainer.core.autograd.variable import Variable, as_variable, shape_of
from chainer.core.typing import Arrays, Indexes, Shape, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions._broadcasting import broadcast_array
from chainer.functions.rules import ExpressionFunction, Ops, UnaryFunction, Value, Values
from chainer.functions.rules.batching import BroadcastsInputs, with_rank


class Broadcast(BroadcastsInputs, ExpressionFunction):
    """Broadcasting of several inputs to their common shape."""

    is_linear = True

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        shapes = [type_check.eval(info.shape) for info in in_types]
        try:
            numpy.broadcast_shapes(*shapes)
        except ValueError:
            raise type_check.InvalidType(
                "each dimension has the same size or is 1",
                "shapes: " + ", ".join(map(str, shapes)),
            ) from None

    def forward(self, inputs: Arrays) -> Arrays:
        shape = numpy.broadcast_shapes(*[x.shape for x in inputs])
        return tuple([broadcast_array(self.xp, x, shape) for x in inputs])

    def gradients(self, ops: Ops, targets: Indexes, *gys: Value) -> Values:
        return tuple(
            [None if gys[i] is None else ops.sum_to(gys[i], self.input_shape(i)) for i in targets]
        )


class BroadcastTo(UnaryFunction):
    """Broadcasting of an input to a given shape."""

    is_linear = True

    type_check_key = ("_shape",)

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        x = with_rank(inputs[0], True, len(self._shape))
        return BroadcastTo((size, *self._shape)).apply((x,))

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        shape = self._shape
        type_check.expect(in_types[0].ndim <= type_check.make_variable(len(shape), "len(shape)"))
        actual = type_check.eval(in_types[0].shape)
        for i in range(-len(actual), 0):
            if actual[i] not in (shape[i], 1):
                source = f"in_type[0].shape[{i}]"
                raise type_check.InvalidType(
                    f"{source} == {shape[i]} or {source} == 1", f"in_type[0].shape: {actual}"
                )

    def forward(self, inputs: Arrays) -> Arrays:
        return (broadcast_array(self.xp, inputs[0], self._shape),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        return ops.sum_to(gy, self.input_shape(0))


def broadcast(*args: VariableLike) -> Variable | tuple[Variable, ...]:
    """Broadcasts given variables to their common shape.

    Args:
        args (:class:`~chainer.Variable` or array): Input variables. In each dimension their
            lengths are equal or 1; missing dimensions in front count as 1.

    Returns:
        ~chainer.Variable or tuple of them: The broadcast inputs; a variable for a single input.

    Raises:
        InvalidType: If the shapes cannot be broadcast together.

    Example:
        >>> x = np.random.uniform(0, 1, (3, 2)).astype(np.float32)
        >>> z = np.random.uniform(0, 1, (2,)).astype(np.float32)
        >>> y, w = F.broadcast(x, z)
        >>> y.shape, w.shape
        ((3, 2), (3, 2))
    """
    if len(args) == 1:
        return as_variable(args[0])
    return Broadcast().apply(args)


def broadcast_to(x: VariableLike, shape: Sequence[int]) -> Variable:
    """Broadcasts a given variable to a given shape.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(s_1, s_2, ..., s_N)`.
        shape (tuple of int): Shape of the output variable.

    Returns:
        ~chainer.Variable: Output variable of the given shape; ``x`` itself if it has it. The
        array may be a read-only view of the input.

    Raises:
        InvalidType: If the shape of ``x`` cannot be broadcast to ``shape``.

    Example:
        >>> x = np.arange(0, 3)
        >>> y = F.broadcast_to(x, (3, 3))
        >>> y.array
        array([[0, 1, 2],
               [0, 1, 2],
               [0, 1, 2]])
    """
    shape = tuple(shape)
    # An input that has the shape already needs no node in the graph.
    if shape_of(x) == shape:
        return as_variable(x)
    return BroadcastTo(shape).apply((x,))[0]
