"""Permutation along an axis."""

from __future__ import annotations

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._axes import expect_axis
from chainer.functions.rules import PiecewiseLinearFunction


class Permutate(PiecewiseLinearFunction):
    """Reorders an array along an axis."""

    type_check_key = ("axis", "inv")
    retained_inputs = (1,)

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

    def _order(self, indices: Array, inv: bool) -> Array:
        if not inv:
            return indices
        xp = self.xp
        order = xp.full_like(indices, -1)
        order[indices] = xp.arange(len(indices), dtype=indices.dtype)
        # On a device, looking at values means waiting for it.
        if xp is numpy and (order < 0).any():
            raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
        return order

    def forward(self, inputs: Arrays) -> Arrays:
        x, indices = inputs
        # Sorting costs more than the permutation: in debug mode only.
        if config.debug and (self.xp.sort(indices) != self.xp.arange(len(indices))).any():
            raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
        return (x.take(self._order(indices, self.inv), axis=self.axis),)

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        return self.forward((tangents[0], self.retained_input_arrays[0]))

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        order = self._order(self.retained_input_arrays[0], not self.inv)
        return tuple([None if i else gy.take(order, axis=self.axis) for i in target_input_indexes])


def permutate(x: VariableLike, indices: VariableLike, axis: int = 0, inv: bool = False) -> Variable:
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
