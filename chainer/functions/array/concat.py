"""Concatenation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from chainer.backends.operations.joining import concat as concat_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import require_int
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import ShiftsAxes


class Concat(ShiftsAxes, ExpressionFunction):
    """Joins arrays along an axis."""

    is_linear = True

    accepts_opaque_arrays = True
    type_check_key = ("axis",)

    def __init__(self, axis: int = 1) -> None:
        self.axis = require_int(axis, "axis")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        if self.axis >= 0:
            type_check.expect(first.ndim > type_check.make_variable(self.axis, "axis"))
        else:
            type_check.expect(-first.ndim <= self.axis)
        ndim = type_check.eval(first.ndim)
        axis = self.axis % ndim
        for other in in_types[1:]:
            type_check.expect(first.dtype == other.dtype, first.ndim == other.ndim)
            for d in range(ndim):
                if d != axis:
                    type_check.expect(first.shape[d] == other.shape[d])

    def forward(self, inputs: Arrays) -> Arrays:
        self._kernel = concat_operation.select(*inputs, axis=self.axis)
        return (self._kernel.forward(inputs, self.axis),)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        # split_axis would give all of them; often only some are wanted.
        bounds = self._bounds()
        before = (slice(None),) * (self.axis % gy.ndim)
        return tuple([gy[(*before, slice(bounds[i], bounds[i + 1]))] for i in targets])

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        pieces = self._kernel.backward(grad_outputs[0], self._bounds(), self.axis)
        return tuple([pieces[i] for i in target_input_indexes])

    def _bounds(self) -> tuple[int, ...]:
        lengths = [x.shape[self.axis] for x in self.input_nodes]
        return tuple(itertools.accumulate(lengths, initial=0))


@explained_keywords
def concat(xs: Sequence[Any], axis: int = 1) -> Variable:
    """Concatenates given variables along an axis.

    Args:
        xs (tuple of :class:`~chainer.Variable` or array): Input variables to be concatenated, of
            one dtype. They must have the same shape, except in the dimension corresponding to
            ``axis``.
        axis (int): Axis along which the arrays will be joined.

    Returns:
        ~chainer.Variable: The concatenated variable.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or there is no such axis.
        TypeError: If ``axis`` is not an int.

    Example:
        >>> x = np.arange(0, 4).reshape(2, 2)
        >>> y = np.arange(0, 2).reshape(2, 1)
        >>> F.concat((x, y), axis=1).array
        array([[0, 1, 0],
               [2, 3, 1]])
    """
    return Concat(axis).apply(tuple(xs))[0]
