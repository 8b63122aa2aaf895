"""Splitting along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from chainer.backends.operations.joining import split_axis as split_operation
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import as_int, require_int
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import ShiftsAxes


class InvalidSections(ValueError, ZeroDivisionError):
    """A number of sections that is not positive; earlier releases divided by it."""


class SplitAxis(ShiftsAxes, LinearMap):
    """Splits an array along an axis.

    Args:
        indices_or_sections: Number of sections, or positions where to split.
        axis: Axis.

    Attributes:
        sections: Number of sections; None if there are positions.
        indices: Positions; None if there is a number of sections.
    """

    accepts_opaque_arrays = True
    type_check_key = ("axis", "sections", "_positions")

    def __init__(self, indices_or_sections: Any, axis: int) -> None:
        self.axis = require_int(axis, "axis")
        self.sections: int | None = None
        self._positions: tuple[int, ...] = ()
        #: The argument, as programs that read graphs expect it.
        self.indices_or_sections = indices_or_sections
        self.indices: Any = None
        # A number of sections or positions: the two meanings numpy.split gives the argument. An
        # array without dimensions is a number, too.
        if getattr(indices_or_sections, "ndim", None) == 0 and (
            indices_or_sections.dtype.kind in "iu"
        ):
            indices_or_sections = int(indices_or_sections)
        if isinstance(indices_or_sections, int):
            if indices_or_sections <= 0:
                raise InvalidSections(
                    f"indices_or_sections must be positive, got {indices_or_sections} sections"
                )
            self.sections = indices_or_sections
        else:
            self.indices = indices_or_sections
            self._positions = _as_positions(indices_or_sections)
            if config.debug and any(a > b for a, b in pairwise(self._positions)):
                raise ValueError(f"indices_or_sections must be sorted, got {self._positions}")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        x_type = in_types[0]
        axis = self.axis
        type_check.expect(x_type.ndim > axis if axis >= 0 else x_type.ndim >= -axis)
        if self.sections is not None:
            sections = type_check.make_variable(self.sections, "sections")
            type_check.expect(x_type.shape[axis] % sections == 0)
        elif self._positions:
            max_index = type_check.make_variable(max(self._positions), "max_index")
            type_check.expect(x_type.shape[axis] >= max_index)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        length = x.shape[self.axis]
        if self.sections is None:
            self._bounds = (0, *self._positions, length)
        else:
            size = length // self.sections
            self._bounds = tuple([i * size for i in range(self.sections + 1)])
        self._kernel = split_operation.select(x, axis=self.axis)
        return self._kernel.forward(x, self._bounds, self.axis)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x = self.input_nodes[0]
        gx = self._kernel.backward(grad_outputs, x.shape, x.dtype, self._bounds, self.axis)
        return (gx,)


def _as_positions(indices: Array) -> tuple[int, ...]:
    ndim = getattr(indices, "ndim", None)
    if ndim == 1:
        if indices.dtype.kind not in "iu" and indices.size:
            raise TypeError(f"indices_or_sections must be integers, got {indices.dtype}")
        return tuple([int(i) for i in indices])
    if isinstance(indices, (list, tuple, range)):
        message = f"indices_or_sections must be integers, got {indices}"
        return tuple([as_int(i, message) for i in indices])
    raise TypeError(f"indices_or_sections must be integer or 1-D array.\nActual: {type(indices)}")


@explained_keywords
def split_axis(
    x: VariableLike, indices_or_sections: int | Sequence[int], axis: int, force_tuple: bool = True
) -> tuple[Variable, ...] | Variable:
    """Splits given variables along an axis.

    Args:
        x (:class:`~chainer.Variable` or array): Variable to be split.
        indices_or_sections (int or array): If an integer ``N``, the array will be divided into
            ``N`` equal arrays along ``axis``. If a 1-D array of sorted integers, it indicates the
            positions where the array is split.
        axis (int): Axis that the input array is split along.
        force_tuple (bool): If False, a variable instead of a tuple is returned when the number of
            outputs is one.

    Returns:
        tuple of Variable, or Variable: The parts, views of ``x``. A tuple if there is more than one
        or ``force_tuple`` is True.

    Raises:
        InvalidType: If there is no such axis, if its length is not a multiple of the number of
            sections, or if a position is beyond its end.
        TypeError: If ``indices_or_sections`` is neither an int nor one-dimensional.
        ValueError: If the number of sections is not positive.

    Example:
        >>> x = np.arange(6).reshape(2, 3)
        >>> left, right = F.split_axis(x, [1], axis=1)
        >>> left.shape, right.shape
        ((2, 1), (2, 2))
    """
    ys = SplitAxis(indices_or_sections, axis).apply((x,))
    if force_tuple or len(ys) != 1:
        return ys
    return ys[0]
