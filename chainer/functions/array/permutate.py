"""Permutation along an axis."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.utils import type_check
from chainer.functions._axes import expect_axis


class Permutate(FunctionNode):
    """Reorders an array along an axis."""

    type_check_key = ("axis", "inv")

    def __init__(self, axis: int, inv: bool) -> None:
        self.axis = axis
        self.inv = inv

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, index_type = in_types
        expect_axis(x_type, self.axis)
        type_check.expect(
            index_type.dtype.kind == "i",
            index_type.ndim == 1,
            x_type.shape[self.axis] == index_type.shape[0],
        )

    def _order(self, indices: Any) -> Any:
        if not self.inv:
            return indices
        xp = self.xp
        order = xp.full_like(indices, -1)
        order[indices] = xp.arange(len(indices), dtype=indices.dtype)
        if xp is numpy and (order < 0).any():  # elsewhere, looking means waiting
            raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
        return order

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, indices = inputs
        self.retain_inputs((1,))
        if config.debug and (self.xp.sort(indices) != self.xp.arange(len(indices))).any():
            raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
        return (x.take(self._order(indices), axis=self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        if target_input_indexes[0] != 0:
            return (None,)
        indices = self.retained_input_arrays[0]
        gx = Permutate(self.axis, not self.inv).apply((grad_outputs[0], indices))[0]
        return tuple([gx if i == 0 else None for i in target_input_indexes])


def permutate(x: Any, indices: Any, axis: int = 0, inv: bool = False) -> Variable:
    """Permutates a given variable along an axis: ``y[i] = x[indices[i]]``.

    Args:
        x (Variable or array): Variable to permutate, of any shape.
        indices (Variable or array): Permutation of ``[0, 1, ..., n - 1]``, integer, ``n`` being the
            length of the axis.
        axis (int): Axis along which the variable is permutated.
        inv (bool): If True, ``indices`` is treated as its inverse: ``y[indices[i]] = x[i]``.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: In debug mode, if ``indices`` is not a permutation.

    Example:
        >>> x = np.array([10, 11, 12])
        >>> F.permutate(x, np.array([2, 0, 1], np.int32))
        variable([12, 10, 11])
        >>> F.permutate(x, np.array([2, 0, 1], np.int32), inv=True)
        variable([11, 12, 10])
    """
    return Permutate(axis, inv).apply((x, indices))[0]
