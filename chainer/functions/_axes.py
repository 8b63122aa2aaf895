"""Axis arguments of functions that reduce or rearrange dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from chainer.core.typing import Shape
from chainer.core.utils import type_check
from chainer.functions._errors import expect_as
from chainer.functions._scalars import as_int

Axis = int | tuple[int, ...] | None


def check_axes_argument(axis: Any) -> tuple[int, ...] | None:
    """Returns an argument that is None, an int or a tuple of ints, as None or a tuple.

    Raises:
        TypeError: If it is something else.
        ValueError: If an axis occurs twice.
    """
    # Return early in the common cases.
    if axis is None:
        return axis
    if axis.__class__ is int:
        return (axis,)
    error_message = f"None, int or tuple of int are required as axis, got {axis!r}"
    if not isinstance(axis, tuple):
        return (as_int(axis, error_message),)
    axes = tuple([as_int(a, error_message) for a in axis])
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in axis: {axes}")
    return axes


class ReducesAxes:
    """Mixin of functions that reduce axes: their arguments, and the type check.

    Args:
        axis: Axes that are reduced; all of them for None.
        keepdims: Whether they remain as axes of length 1.
    """

    type_check_key = ("axis",)

    def __init__(self, axis: Axis = None, keepdims: bool = False) -> None:
        self.axis = check_axes_argument(axis)
        self.keepdims = keepdims

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)


def expect_axis(x_type: Any, axis: int) -> None:
    """Type check: an array has an axis."""
    if axis >= 0:
        type_check.expect(x_type.ndim > axis)
    else:
        type_check.expect(x_type.ndim >= -axis)


def check_axes_exist(
    info: Any, axis: Axis, error: type[type_check.InvalidType] = type_check.InvalidType
) -> None:
    """Type check: every axis is one of an input.

    Args:
        info: Expression of the input, ``in_types[0]``.
        axis: None, an int or a tuple of ints.
        error: Class of the error.
    """
    if axis is None:
        return
    for a in (axis,) if isinstance(axis, int) else axis:
        expect_as(error, info.ndim > (a if a >= 0 else -a - 1))


def normalized_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Returns the axes as nonnegative numbers in increasing order; all of them for None.

    Raises:
        ValueError: If an axis occurs twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, tuple) and len(axis) == 1 and ndim:
        return (axis[0] % ndim,)
    # Sort nonnegative numbers, so that duplicates of an axis are neighbors.
    axes = sorted(a % ndim for a in ((axis,) if isinstance(axis, int) else axis)) if ndim else []
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in axis: {axis}")
    return tuple(axes)


# Remembered: it takes as long as to repeat a small array. A training has a few shapes.
@lru_cache(maxsize=1024)
def shape_before_repeating(shape: Shape, axis: Axis) -> Shape:
    """Returns a shape with length 1 at some axes.

    Args:
        shape: The shape.
        axis: The axes; all of them for None.
    """
    return kept_shape(shape, normalized_axes(axis, len(shape)))


def kept_shape(shape: Shape, axes: Iterable[int]) -> tuple[int, ...]:
    """Returns a shape with length 1 at some axes (given as nonnegative numbers)."""
    reduced = list(shape)
    for a in axes:
        reduced[a] = 1
    return tuple(reduced)
