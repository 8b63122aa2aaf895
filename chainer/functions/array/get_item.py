"""Indexing."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.numpy.kernels.indexing import selects_once
from chainer.backends.operations.indexing import scatter_add as scatter_add_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


def normalize_index(slices: Any) -> Any:
    """Checks an index and turns a list that holds more than numbers into a tuple.

    Raises:
        IndexError: If the index contains a Variable.
    """
    if isinstance(slices, list) and not all(isinstance(s, (int, numpy.integer)) for s in slices):
        slices = tuple(slices)
    for s in slices if isinstance(slices, tuple) else (slices,):
        if isinstance(s, Variable):
            raise IndexError(
                "a Variable cannot be used as an index, which has no gradient; "
                "use its 'array' attribute"
            )
    return slices


class GetItem(FunctionNode):
    """Selects elements of an array."""

    type_check_key = ()

    def __init__(self, slices: Any) -> None:
        self.slices = slices

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        y = inputs[0][self.slices]
        return (self.xp.asarray(y) if isinstance(y, numpy.generic) else y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return GetItemGrad(self.slices, self.inputs[0].shape).apply(grad_outputs)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (_spread(self.xp, self.inputs[0].shape, self.slices, grad_outputs[0]),)  # type: ignore[index]


class GetItemGrad(FunctionNode):
    """Adds values to selected elements of an array of zeros."""

    def __init__(self, slices: Any, shape: tuple[int, ...]) -> None:
        self.slices = slices
        self._in_shape = shape

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (_spread(self.xp, self._in_shape, self.slices, inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (get_item(grad_outputs[0], self.slices),)


def _spread(xp: Any, shape: tuple[int, ...], slices: Any, gy: Any) -> Any:
    gx = xp.zeros(shape, dtype=gy.dtype)
    if selects_once(slices):
        gx[slices] = gy
    else:
        scatter_add_operation.select(gx, gy).add_at(gx, slices, gy)
    return gx


def get_item(x: Any, slices: Any) -> Variable:
    """Extracts elements from an array with specified shape, axes and offsets.

    Args:
        x (:class:`~chainer.Variable` or array): Variable to be sliced.
        slices (int, slice, Ellipsis, None, integer array-like, boolean array-like or tuple of
            them): Selection of the elements, as NumPy has it. A list that holds anything but
            integers is
            taken for a tuple.

    Returns:
        ~chainer.Variable: The selected elements; a view of ``x`` where NumPy makes one.

    Raises:
        IndexError: If ``x`` cannot be indexed that way, or the index contains a Variable.

    Example:
        >>> x = np.arange(12).reshape((2, 2, 3))
        >>> F.get_item(x, 0)
        variable([[0, 1, 2],
                  [3, 4, 5]])
        >>> F.get_item(x, (0, 0, slice(0, 2, 1)))  # equals x[0, 0, 0:2:1]
        variable([0, 1])
        >>> F.get_item(x, (Ellipsis, 2))  # equals x[..., 2]
        variable([[ 2,  5],
                  [ 8, 11]])
        >>> F.get_item(x, (1, np.newaxis, 1, 0))  # equals x[1, None, 1, 0]
        variable([9])
    """
    if not isinstance(slices, (int, slice)):
        slices = normalize_index(slices)
    return GetItem(slices).apply((x,))[0]
