"""Reading and writing elements: NumPy's rules, JAX's functional updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer_array_api import Array
from chainer_array_api.functions import index_plan
from chainer_array_api.functions.indexing import (
    _fit,
    _mask,
    _move,
    _value,
    _without_scalar_mask,
)

from chainer_jax import boxes

if TYPE_CHECKING:
    from chainer.typing import Index, Shape

Backend = Any


def check_bounds(b: Backend, shape: Shape, indices: list[Any]) -> None:
    """Raises if an index is out of bounds: XLA would take another element without a word.

    Indexes of a step that is being recorded have no values yet and are not checked.

    Args:
        b: The backend.
        shape: Shape of the indexed array.
        indices: Native arrays of integers, for its first axes.

    Raises:
        IndexError: If an index is out of bounds.
    """
    if boxes.state.observer is not None:
        return
    for axis, (length, index) in enumerate(zip(shape, indices, strict=False)):
        if isinstance(index, b.jax.core.Tracer) or not index.size:
            continue
        host = numpy.asarray(index)
        low, high = int(host.min()), int(host.max())
        if low < -length or high >= length:
            wrong = low if low < -length else high
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {length}")


def get(b: Backend, x: Array, index: Index) -> Array:
    """Returns ``x[index]``: a view if the index has no arrays.

    Args:
        b: The backend.
        x: The array.
        index: The index in the brackets.
    """
    mask = _mask(b, x, index)
    if mask is not None:
        return b.array_class(x.native[mask.native])
    x, index = _without_scalar_mask(b, x, index)
    plan = index_plan.make(b, x, index)
    part = _part(b, x, plan.basic)
    if not plan.arrays:
        return part
    native = part.native.transpose((*plan.axes, *plan.rest))
    selected = b.gather(native, [i.native for i in plan.arrays])
    return b.array_class(_move(b, selected, plan.arrays[0].ndim, plan.place, False))


def _part(b: Backend, x: Array, basic: list[Any]) -> Any:
    """Returns ``x[tuple(basic)]`` as a view; all axes are in the index."""
    items = [item for item in basic if item is not None]
    shape = x.shape
    if len(items) == len(basic) and all(
        isinstance(item, slice) and item.indices(n) == (0, n, 1)
        for item, n in zip(items, shape, strict=True)
    ):
        return b.same(x)
    index = tuple(basic)
    starts, lengths, contiguous = [], [], True
    for item, n in zip(items, shape, strict=True):
        if isinstance(item, slice):
            start, stop, step = item.indices(n)
            starts.append(start)
            lengths.append(max(0, stop - start))
            contiguous = contiguous and step == 1
        else:
            starts.append(item + n if item < 0 else item)
            lengths.append(1)
    if not contiguous:
        return b.view(x, lambda v: v[index], lambda p, v: p.at[index].set(v))
    # XLA updates a contiguous part much faster than single elements.
    lax = b.jax.lax
    start, stop, part = tuple(starts), tuple(map(sum, zip(starts, lengths))), tuple(lengths)
    kept = _kept_shape(basic, part)
    return b.view(
        x,
        lambda v: lax.slice(v, start, stop).reshape(kept),
        lambda p, v: lax.dynamic_update_slice(p, v.reshape(part), start) if v.size else p,
    )


def _kept_shape(basic: list[Any], lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape of a part: no axis for a number, an axis of length 1 for None."""
    shape, remaining = [], iter(lengths)
    for item in basic:
        if item is None:
            shape.append(1)
            continue
        length = next(remaining)
        if isinstance(item, slice):
            shape.append(length)
    return tuple(shape)


def set(b: Backend, x: Array, index: Index, value: Array) -> None:
    """Performs ``x[index] = value``.

    Args:
        b: The backend.
        x: The array.
        index: The index in the brackets.
        value: Number or array; broadcast and converted.
    """
    native = _value(b, x, value)
    mask = _mask(b, x, index)
    if mask is not None and not getattr(native, "ndim", 0):
        old = x.native
        b.assign(x, b.nx.where(mask.native, b.nx.asarray(native, dtype=old.dtype), old))
        return
    _write(b, x, index, native, add=False)


def add_at(b: Backend, x: Array, index: Index, value: Array) -> None:
    """Adds to elements; those that are selected twice get both.

    Args:
        b: The backend.
        x: The array, changed in place.
        index: The index in the brackets.
        value: Number or array; broadcast and converted.
    """
    _write(b, x, index, _value(b, x, value), add=True)


def _write(b: Backend, x: Array, index: Index, value: Array, add: bool) -> None:
    if not hasattr(value, "ndim"):
        value = b.native_number(value, x.dtype, b.native_device_of(x))
    x, index = _without_scalar_mask(b, x, index)
    plan = index_plan.make(b, x, index)
    part = _part(b, x, plan.basic)
    if not plan.arrays:
        shape = tuple(plan.shape)
        value = b.nx.broadcast_to(_fit(b, value, shape, ()), shape)
        b.assign(part, part.native + value if add else value)
        return
    arrays = [i.native for i in plan.arrays]
    outer = tuple(plan.arrays[0].shape)
    lengths = [plan.shape[i] for i in plan.rest]
    shape = (*lengths[: plan.place], *outer, *lengths[plan.place :])
    value = b.nx.broadcast_to(_fit(b, value, shape, ()), shape)
    value = _move(b, value, len(outer), plan.place, back=True)
    target = b.permuted(part, (*plan.axes, *plan.rest))
    check_bounds(b, target.shape, arrays)
    update = target.native.at[tuple(arrays)]
    b.assign(target, update.add(value) if add else update.set(value))
