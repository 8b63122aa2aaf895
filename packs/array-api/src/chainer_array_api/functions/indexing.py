"""Reading and writing elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array, mixed
from chainer_array_api.functions import index_plan, moves, operands
from chainer_array_api.functions.index_plan import Plan
from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, Index


def get(b: Backend, x: Array, index: Index) -> Array:
    """Returns ``x[index]``.

    Args:
        b: The backend.
        x: The array.
        index: The index in the brackets.
    """
    if b.slices_as_numpy and index_plan.is_simple(index):
        return b.array_class(x.native[index])
    mask = _mask(b, x, index)
    if mask is not None:
        return b.array_class(x.native[mask.native])
    x, index = _without_scalar_mask(b, x, index)
    plan = index_plan.make(b, x, index)
    native = x.native[tuple(plan.basic)] if plan.basic else x.native[...]
    if plan.backwards:
        native = b.nx.flip(native, axis=tuple(plan.backwards))
    if not plan.arrays:
        return b.array_class(native)
    native = b.nx.permute_dims(native, (*plan.axes, *plan.rest))
    selected = b.gather(native, [i.native for i in plan.arrays])
    return b.array_class(_move(b, selected, plan.arrays[0].ndim, plan.place, False))


def _mask(b: Backend, x: Array, index: Index) -> Array | None:
    """Returns the index if it is a mask of all elements, which the standard knows."""
    mask: Any = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if mask.__class__ is b.array_class and mask.ndim and mask.dtype.kind == "b":
        return mask if mask.shape == x.shape else None
    return None


def _without_scalar_mask(b: Backend, x: Array, index: Index) -> tuple[Array, Any]:
    """Returns array and index; in place of a boolean without axes, an index of a new axis."""
    alone: Any = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(alone, (bool, numpy.bool)) or (
        isinstance(alone, Array) and not alone.ndim and alone.dtype.kind == "b"
    ):
        return b.array_class(x.native[None, ...]), b.xp.zeros((int(bool(alone)),), int)
    return x, index


def _move(b: Backend, native: Any, count: int, place: int, back: bool) -> Any:
    """Moves the first ``count`` axes behind ``place`` others, or back."""
    if not place:
        return native
    others = list(range(count, native.ndim))
    axes = [*others[:place], *range(count), *others[place:]]
    if back:
        axes = [axes.index(i) for i in range(native.ndim)]
    return b.moved(moves.permute, (native,), (tuple(axes),))


def set(b: Backend, x: Array, index: Index, value: ArrayLike) -> None:
    """Performs ``x[index] = value``.

    Args:
        b: The backend.
        x: The array.
        index: The index in the brackets.
        value: Number or array; broadcast and converted.
    """
    native = _value(b, x, value)
    if b.slices_as_numpy and index_plan.is_simple(index):
        x.native[index] = native
        return
    mask = _mask(b, x, index)
    if mask is not None and not getattr(native, "ndim", 0):
        x.native[mask.native] = native
        return
    _write(b, x, index, native, add=False)


def add_at(b: Backend, x: Array, index: Index, value: ArrayLike) -> None:
    """Adds to elements; those that are selected twice get both.

    Args:
        b: The backend.
        x: The array, changed in place.
        index: The index in the brackets.
        value: Number or array; broadcast and converted.
    """
    native = _value(b, x, value)
    _write(b, x, index, native, add=True)


def _value(b: Backend, x: Array, value: ArrayLike) -> Any:
    """Returns what is assigned: a number of Python, or a native array."""
    if isinstance(value, numpy.ndarray):
        raise mixed(x, value)
    if isinstance(value, (int, float, complex, numpy.generic)):
        return numpy.asarray(value).astype(x.dtype).item()
    other = operands.array(b, value)
    if other.dtype != x.dtype:
        return operands.astype(b, other, x.dtype).native
    # A value in the memory of the target could be overwritten before it is read.
    shared = b.may_share_memory(x.native, other.native)
    return b.nx.asarray(other.native, copy=True) if shared else other.native


def _write(b: Backend, x: Array, index: Index, value: ArrayLike, add: bool) -> None:
    x, index = _without_scalar_mask(b, x, index)
    plan = index_plan.make(b, x, index)
    basic = tuple(plan.basic) or ...
    if not plan.arrays:
        value = _fit(b, value, tuple(plan.shape), plan.backwards)
        if None in plan.basic:  # which the standard has for reading only
            view = x.native[basic]
            view[...] = view + value if add else value
        else:
            x.native[basic] = x.native[basic] + value if add else value
        return
    arrays = [i.native for i in plan.arrays]
    outer = tuple(plan.arrays[0].shape)
    lengths = [plan.shape[i] for i in plan.rest]
    shape = (*lengths[: plan.place], *outer, *lengths[plan.place :])
    if not hasattr(value, "ndim"):
        value = operands.number(b, value, x.dtype, b.native_device_of(x))
    # Turned around in the result's own axes, which the arrays' axes are not part of.
    backwards = [_in_result(plan, len(outer), axis) for axis in plan.backwards]
    value = b.nx.broadcast_to(_fit(b, value, shape, ()), shape)
    if backwards:
        value = b.nx.flip(value, axis=tuple(backwards))
    value = _move(b, value, len(outer), plan.place, back=True)
    view = x.native[basic] if plan.basic else x.native
    target = b.nx.permute_dims(view, (*plan.axes, *plan.rest))
    b.scatter(target, arrays, value, add)


def _in_result(plan: Plan, count: int, axis: int) -> int:
    position = plan.rest.index(axis)
    return position if position < plan.place else position + count


def _fit(b: Backend, value: ArrayLike, shape: tuple[int, ...], backwards: ArrayLike) -> Any:
    """Returns a value without axes in front of the target's axes, turned around as the target
    is.
    """
    if not getattr(value, "ndim", 0):
        return value
    extra = value.ndim - len(shape)
    if extra > 0:
        if math.prod(value.shape[:extra]) != 1:
            raise ValueError(f"cannot assign values of shape {tuple(value.shape)} to {shape}")
        value = b.moved(moves.reshape, (value,), (tuple(value.shape[extra:]),))
    if numpy.broadcast_shapes(tuple(value.shape), shape) != shape:
        raise ValueError(f"cannot assign values of shape {tuple(value.shape)} to {shape}")
    if backwards:
        value = b.nx.flip(b.nx.broadcast_to(value, shape), axis=tuple(backwards))
    return value


# -- functions of the namespace -------------------------------------------------------------------


def take(
    b: Backend,
    a: ArrayLike,
    indices: ArrayLike,
    axis: Any = None,
    out: ArrayLike = None,
    mode: str = "raise",
):
    """As :func:`numpy.take`."""
    x = operands.array(b, a)
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = operands.axis_of(axis, x.ndim)
    index = operands.array(b, indices)
    if mode == "clip":
        index = b.xp.clip(index, 0, x.shape[axis] - 1)
    elif mode == "wrap":
        index = index % x.shape[axis]
    result = b.get(x, (*(slice(None),) * axis, index))
    return result if out is None else operands.deliver(b, result.native, out, "take")


def _unraveled(b: Backend, x: Array, positions: ArrayLike) -> tuple[Array, ...]:
    positions = operands.array(b, positions).reshape(-1)
    positions = b.xp.where(positions < 0, positions + x.size, positions)
    return b.xp.unravel_index(positions, x.shape)


def put(b: Backend, a: Array, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """As :func:`numpy.put`, with as many values as positions or one."""
    index = _unraveled(b, a, ind)
    a[index] = v if isinstance(v, (int, float, complex)) else operands.array(b, v).reshape(-1)


def unravel_index(b: Backend, indices: ArrayLike, shape: Any) -> tuple[Array, ...]:
    """As :func:`numpy.unravel_index`."""
    rest = operands.array(b, indices)
    parts = []
    for length in reversed(operands.shape_of(shape)):
        parts.append(rest % length)
        rest = rest // length
    return tuple(reversed(parts))


def take_along_axis(b: Backend, arr: ArrayLike, indices: ArrayLike, axis: Any = -1) -> Array:
    """As :func:`numpy.take_along_axis`."""
    x = operands.array(b, arr)
    if axis is None:
        x, axis = x.reshape(-1), 0
    return b.get(x, _along(b, x, operands.array(b, indices), axis))


def put_along_axis(
    b: Backend, arr: Array, indices: ArrayLike, values: ArrayLike, axis: int
) -> None:
    """As :func:`numpy.put_along_axis`."""
    b.set(arr, _along(b, arr, operands.array(b, indices), axis), values)


def _along(b: Backend, x: Array, indices: Array, axis: int) -> tuple[Array, ...]:
    axis = operands.axis_of(axis, x.ndim)
    return tuple(
        indices if i == axis else b.xp.arange(n).reshape((1,) * i + (n,) + (1,) * (x.ndim - i - 1))
        for i, n in enumerate(x.shape)
    )


def fill_diagonal(b: Backend, a: Array, val: ArrayLike, wrap: bool = False) -> None:
    """As :func:`numpy.fill_diagonal`, without wrapping."""
    if wrap:
        raise ValueError("wrap=True is not available")
    places = b.xp.arange(min(a.shape))
    b.set(a, (places,) * a.ndim, val)


def compress(
    b: Backend, condition: ArrayLike, a: ArrayLike, axis: Any = None, out: ArrayLike = None
) -> Array:
    """As :func:`numpy.compress`."""
    (positions,) = b.xp.nonzero(operands.array(b, condition))
    return take(b, a, positions, axis, out)


def bincount(b: Backend, x: ArrayLike, weights: ArrayLike = None, minlength: int = 0) -> Array:
    """As :func:`numpy.bincount`."""
    x = operands.array(b, x)
    if x.size and int(x.min()) < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(minlength, int(x.max()) + 1 if x.size else 0)
    result = b.xp.zeros((length,), numpy.int64 if weights is None else numpy.float64)
    b.add_at(result, x, 1 if weights is None else weights)
    return result
