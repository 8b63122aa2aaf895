"""Permutation along an axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import expect_axis
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions._inputs import require_array
from chainer.functions.rules import PiecewiseLinearFunction, array_of
from chainer.functions.rules.batching import ShiftsAxes


def _check_indices(indices: Array) -> None:
    """Raises InvalidValue unless the indexes are a one-dimensional array of integers."""
    require_array(indices)
    dtype, ndim = indices.dtype, indices.ndim
    if dtype.kind != "i" or ndim != 1:
        raise InvalidValue(
            "indices should be a one-dimensional int array", f"{ndim} dimensions of {dtype}"
        )


def _inverse_indices(indices: Array) -> Array:
    """Returns the permutation that undoes another one; programs import it by this name."""
    xp = get_array_module(indices)
    inverse = xp.full_like(indices, -1)
    inverse[indices] = xp.arange(len(indices), dtype=indices.dtype)
    # On a device, looking at values means waiting for it.
    if xp is numpy and (inverse < 0).any():
        raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
    return inverse


class Permutate(ShiftsAxes, PiecewiseLinearFunction):
    """Reorders an array along an axis.

    It is applied to ``(x,)``. A node of release 4, ``Permutate(axis, inv)``, is applied to ``(x,
    indices)``.

    Args:
        indices (array): Permutation.
        axis (int): Axis.
        inv (bool): Whether ``indices`` is the inverse of the permutation.
    """

    type_check_key = ("axis", "_length")

    def __init__(self, indices: Any = None, axis: int = 0, inv: bool = False) -> None:
        if isinstance(indices, int):
            # The arguments of release 4: axis and inv.
            indices, axis, inv = None, indices, bool(axis)
        self.indices: Any = array_of(indices)
        self.axis = axis
        self.inv = inv
        if indices is not None:
            _check_indices(self.indices)

    @property
    def _length(self) -> int | None:
        """The number of indices: the type check depends on it, besides the input."""
        return None if self.indices is None else len(self.indices)

    def apply(self, inputs: Iterable[VariableLike]) -> Variables:
        inputs = tuple(inputs)
        if self.indices is None and len(inputs) == 2:
            self.indices = array_of(inputs[1])
            _check_indices(self.indices)
            inputs = inputs[:1]
        return super().apply(inputs)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        (x_type,) = in_types
        expect_axis(x_type, self.axis)
        # Release 7 took fewer or more indices, but could not compute the gradient.
        expect_as(InvalidValue, x_type.shape[self.axis] == len(self.indices))

    def _order(self, inv: bool) -> Array:
        return _inverse_indices(self.indices) if inv else self.indices

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        indices = self.indices
        # Sorting costs more than the permutation: in debug mode only.
        if config.debug and (self.xp.sort(indices) != self.xp.arange(len(indices))).any():
            raise ValueError(f"indices must be a permutation of 0 to {len(indices) - 1}")
        return (x.take(self._order(self.inv), axis=self.axis),)

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        return self.forward(tangents)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        return (gy.take(self._order(not self.inv), axis=self.axis),)


@explained_keywords
def permutate(x: VariableLike, indices: VariableLike, axis: int = 0, inv: bool = False) -> Variable:
    """Permutates a given variable along an axis: ``y[i] = x[indices[i]]``.

    Args:
        x (Variable or array): Variable to permutate, of any shape.
        indices (Variable or array): Permutation of ``[0, 1, ..., n - 1]``, signed integer, ``n``
            being the length of the axis. It is a constant, not an input of the graph.
        axis (int): Axis along which the variable is permutated.
        inv (bool): If True, ``indices`` is treated as its inverse: ``y[indices[i]] = x[i]``.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit. If ``indices`` does not, the error is a
            ValueError as well.
        ValueError: In debug mode, if ``indices`` is not a permutation.

    Example:
        >>> x = np.array([10, 11, 12])
        >>> F.permutate(x, np.array([2, 0, 1], np.int32))
        variable([12, 10, 11])
        >>> F.permutate(x, np.array([2, 0, 1], np.int32), inv=True)
        variable([11, 12, 10])
    """
    return Permutate(indices, axis, inv).apply((x,))[0]
