"""Insertion of an axis."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.array.reshape import reshape


class ExpandDims(FunctionNode):
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

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        axis = self.axis % (x.ndim + 1)
        return (x.reshape((*x.shape[:axis], 1, *x.shape[axis:])),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (reshape(grad_outputs[0], self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (grad_outputs[0].reshape(self.inputs[0].shape),)  # type: ignore[index]


def expand_dims(x: Any, axis: int) -> Variable:
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
