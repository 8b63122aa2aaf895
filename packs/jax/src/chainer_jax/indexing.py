"""Reading and writing elements: NumPy's rules, JAX's functional updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer_array_api import Array
from chainer_array_api.functions import index_plan, moves
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
        return b.array_class(b.moved(elements, (x.native, mask.native), ()))
    x, index = _without_scalar_mask(b, x, index)
    plan = index_plan.make(b, x, index)
    part = _part(b, x, plan.basic)
    if not plan.arrays:
        return part
    native = b.moved(moves.permute, (part.native,), ((*plan.axes, *plan.rest),))
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
        # Slices have no hash before Python 3.12.
        index = tuple([(i.start, i.stop, i.step) if isinstance(i, slice) else i for i in index])
        return b.view(
            x,
            lambda v: b.moved(_read_steps, (v,), (index,)),
            lambda p, v: b.moved(_write_steps, (p, v), (index,)),
        )
    start, stop, part = tuple(starts), tuple(map(sum, zip(starts, lengths))), tuple(lengths)
    kept = _kept_shape(basic, part)
    return b.view(
        x,
        lambda v: b.moved(_read_part, (v,), (start, stop, kept)),
        lambda p, v: b.moved(_write_part, (p, v), (start, stop, part)) if v.size else p,
    )


# Functions that move elements: of NumPy's arrays or of JAX's.


def _read_part(nx: Any, x: Any, start: Shape, stop: Shape, shape: Shape) -> Any:
    if nx is numpy:
        return x[tuple(map(slice, start, stop))].reshape(shape)
    from jax import lax

    return lax.slice(x, start, stop).reshape(shape)


def _write_part(nx: Any, x: Any, value: Any, start: Shape, stop: Shape, shape: Shape) -> Any:
    value = value.reshape(shape)
    if nx is numpy:
        return _written(x, tuple(map(slice, start, stop)), value)
    from jax import lax

    # XLA updates a contiguous part much faster than single elements.
    return lax.dynamic_update_slice(x, value, start)


def _read_steps(nx: Any, x: Any, index: tuple[Any, ...]) -> Any:
    return x[_with_slices(index)]


def _write_steps(nx: Any, x: Any, value: Any, index: tuple[Any, ...]) -> Any:
    index = _with_slices(index)
    return _written(x, index, value) if nx is numpy else x.at[index].set(value)


def _with_slices(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([slice(*item) if isinstance(item, tuple) else item for item in index])


def elements(nx: Any, x: Any, *indices: Any) -> Any:
    """Returns ``x[indices]``, for ``moved``."""
    return x[indices]


def _write_elements(nx: Any, x: Any, value: Any, *indices: Any) -> Any:
    return _written(x, indices, value) if nx is numpy else x.at[indices].set(value)


def add_elements_to(x: Any, value: Any, *indices: Any) -> Any:
    """Returns an array with values added to elements."""
    return x.at[indices].add(value)


def _written(x: Any, index: tuple[Any, ...], value: Any) -> Any:
    result = x.copy()
    result[index] = value
    return result


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
        value = b.moved(moves.broadcast, (_fit(b, value, shape, ()),), (shape,))
        b.assign(part, part.native + value if add else value)
        return
    arrays = [i.native for i in plan.arrays]
    outer = tuple(plan.arrays[0].shape)
    lengths = [plan.shape[i] for i in plan.rest]
    shape = (*lengths[: plan.place], *outer, *lengths[plan.place :])
    value = b.moved(moves.broadcast, (_fit(b, value, shape, ()),), (shape,))
    value = _move(b, value, len(outer), plan.place, back=True)
    target = b.permuted(part, (*plan.axes, *plan.rest))
    check_bounds(b, target.shape, arrays)
    old = target.native
    if add:
        added = add_elements_to if boxes.state.observer is not None else b.add_elements
        b.assign(target, added(old, value, *arrays))
    else:
        b.assign(target, b.moved(_write_elements, (old, value, *arrays), ()))
