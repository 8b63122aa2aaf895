"""Insertion of an axis."""

from __future__ import annotations

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.reshape import ShapeChange


class ExpandDims(ShapeChange):
    """Inserts an axis of length one, without copy."""

    type_check_key = ("axis",)

    def __init__(self, axis: int) -> None:
        if not isinstance(axis, (int, numpy.integer)):
            raise TypeError(f"axis must be int, got {axis!r}")
        self.axis = int(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        if self.axis >= 0:
            type_check.expect(in_types[0].ndim >= self.axis)
        else:
            type_check.expect(in_types[0].ndim >= -self.axis - 1)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        axis = self.axis % (x.ndim + 1)
        # numpy.expand_dims does the same with several times the overhead.
        return (x.reshape((*x.shape[:axis], 1, *x.shape[axis:])),)


@explained_keywords
def expand_dims(x: VariableLike, axis: int) -> Variable:
    """Expands dimensions of an input variable without copy.

    Args:
        x (:class:`~chainer.Variable` or array): Input variable.
        axis (int): Position where the new axis is to be inserted,
            :math:`-ndim - 1 \\leq axis \\leq ndim`. A negative one counts from behind:
            :math:`ndim + 1 - |axis|`.

    Returns:
        ~chainer.Variable: Variable with one dimension more than ``x``.

    Raises:
        InvalidType: If ``axis`` is out of bounds.

    Example:
        >>> x = np.array([1, 2, 3])
        >>> F.expand_dims(x, axis=0).shape
        (1, 3)
        >>> F.expand_dims(x, axis=1).shape
        (3, 1)
        >>> F.expand_dims(x, axis=-2).shape
        (1, 3)
    """
    return ExpandDims(axis).apply((x,))[0]
