"""Operators that select and write elements by indexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants, result_shape
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import (
    Tensor,
    array_of,
    host_array,
    is_float,
    is_tracked,
    is_variable,
    ndim_of,
    number_of,
)

if TYPE_CHECKING:
    from chainer.typing import Array, Index


def _selected(x: Tensor, index: Index) -> Tensor:
    return F.get_item(x, index) if is_tracked(x) else array_of(x)[index]


def _gathered_shape(attributes: Attributes, x: Tensor, indices: Tensor) -> Any:
    shape = list(array_of(x).shape)
    del shape[attributes.get("axis", 0)]
    return [*shape, *array_of(indices).shape]


@result_shape(_gathered_shape)
def _gather(attributes: Attributes, x: Tensor, indices: Tensor) -> Tensor:
    axis = attributes.get("axis", 0) % ndim_of(x)
    index = host_array(indices)
    if _is_lookup(x, index, axis):
        # Unlike indexes of get_item these are an input of a function, so that a further export
        # follows the operators that they are computed from.
        return F.embed_id(indices, x)
    # An array of no axes removes the axis, as an integer does.
    item = int(index) if index.ndim == 0 else index
    return _selected(x, (*[slice(None)] * axis, item))


def _is_lookup(x: Tensor, index: Index, axis: int) -> bool:
    """Returns whether rows of a matrix are looked up, as embeddings are."""
    array = array_of(x)
    return (
        (axis, array.ndim, array.dtype.kind) == (0, 2, "f")
        and index.ndim > 0
        and index.size > 0
        and index.min() >= 0
    )


def _grid(shape: tuple[int, ...], axis: int, index: Index) -> tuple[Any, ...]:
    grid = list(numpy.indices(shape, sparse=True))
    grid[axis] = index
    return tuple(grid)


def _gather_elements(attributes: Attributes, x: Tensor, indices: Tensor) -> Tensor:
    axis = attributes.get("axis", 0) % ndim_of(x)
    index = host_array(indices).astype(numpy.int64)
    return _selected(x, tuple(numpy.broadcast_arrays(*_grid(index.shape, axis, index))))


def _gathered_blocks_shape(attributes: Attributes, x: Tensor, indices: Tensor) -> Any:
    rows = array_of(indices).shape
    return [*rows[:-1], *array_of(x).shape[attributes.get("batch_dims", 0) + rows[-1] :]]


@result_shape(_gathered_blocks_shape)
def _gather_nd(attributes: Attributes, x: Tensor, indices: Tensor) -> Tensor:
    batch = attributes.get("batch_dims", 0)
    index = host_array(indices).astype(numpy.int64)
    lead = index.shape[:batch]
    front = numpy.indices(lead, sparse=True)
    more = index.ndim - 1 - batch
    front = tuple([f.reshape(f.shape + (1,) * more) for f in front])
    return _selected(x, (*front, *[index[..., i] for i in range(index.shape[-1])]))


def _scattered(
    attributes: Attributes, x: Tensor, places: tuple[Any, ...], updates: Tensor
) -> Tensor:
    """Writes updates at places, or combines them with the elements that are there."""
    how = attributes.get("reduction", "none")
    if not is_float(x) or not is_variable(x, updates):
        return _scattered_array(array_of(x), places, array_of(updates), how)
    array, change = array_of(x), array_of(updates)
    if how == "none":
        xp = get_array_module(array)
        kept = xp.ones_like(array)
        kept[places] = 0
        # Of updates at one place the last counts, as in the result; the others get no gradient.
        order = xp.full(array.shape, -1)
        numbers = xp.arange(change.size).reshape(change.shape)
        order[places] = numbers
        counted = (order[places] == numbers).astype(array.dtype)
        return F.scatter_add(x * kept, places, updates * counted)
    if how == "add":
        return F.scatter_add(x, places, updates)
    if how == "mul":
        return _combined(x, places, updates, F.prod)
    return _combined(x, places, updates, F.max if how == "max" else F.min)


def _combined(x: Array, places: tuple[Any, ...], updates: Array, function: Any) -> Tensor:
    """Combines updates one by one, since several may be for one place."""
    array = array_of(x)
    flat_places = numpy.ravel_multi_index(
        tuple(numpy.broadcast_arrays(*[host_array(p) for p in _full(places, array.shape)])),
        array.shape,
    ).reshape(-1)
    y = F.reshape(x, (-1,))
    values = F.reshape(updates, (-1,))
    ranks = _occurrences(flat_places)
    for rank in range(int(ranks.max(initial=-1)) + 1):
        chosen = numpy.flatnonzero(ranks == rank)
        at = flat_places[chosen]
        pair = F.stack([F.get_item(y, at), F.get_item(values, chosen)])
        new = function(pair, axis=0)
        kept = numpy.ones(array.size, array.dtype)
        kept[at] = 0
        y = F.scatter_add(y * kept, at, new)
    return F.reshape(y, array.shape)


def _full(places: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Returns an index for each axis; leading indexes select whole blocks."""
    lead = numpy.broadcast_arrays(*places)
    rest = shape[len(lead) :]
    grids = numpy.indices(rest, sparse=True)
    lead = [p.reshape(p.shape + (1,) * len(rest)) for p in lead]
    return [*lead, *[g.reshape((1,) * (lead[0].ndim - len(rest)) + g.shape) for g in grids]]


def _occurrences(places: Any) -> Any:
    """Returns how many equal numbers stand before each element."""
    order = numpy.argsort(places, kind="stable")
    sorted_places = places[order]
    starts = numpy.flatnonzero(numpy.diff(sorted_places, prepend=-1))
    ranks = numpy.empty(len(places), numpy.int64)
    lengths = numpy.diff(numpy.append(starts, len(places)))
    ranks[order] = numpy.concatenate([numpy.arange(n) for n in lengths] or [ranks])
    return ranks


def _scattered_array(array: Array, places: tuple[Any, ...], updates: Array, how: str) -> Any:
    result = array.copy()
    if how == "none":
        result[places] = updates
    else:
        name = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}[how]
        xp = get_array_module(array)
        getattr(xp, name).at(result, places, updates)
    return result


def _scatter_elements(
    attributes: Attributes, x: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    array = array_of(x)
    axis = attributes.get("axis", 0) % array.ndim
    index = host_array(indices).astype(numpy.int64) % max(array.shape[axis], 1)
    places = tuple(numpy.broadcast_arrays(*_grid(index.shape, axis, index)))
    return _scattered(attributes, x, places, updates)


def _scatter_nd(attributes: Attributes, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    index = host_array(indices).astype(numpy.int64)
    shape = array_of(x).shape
    places = tuple([index[..., i] % max(shape[i], 1) for i in range(index.shape[-1])])
    return _scattered(attributes, x, places, updates)


def _tensor_scatter(
    attributes: Attributes, cache: Tensor, update: Tensor, starts: Tensor | None = None
) -> Tensor:
    """Writes new entries of a cache of keys or values at a position of each sequence."""
    array = array_of(cache)
    axis = attributes.get("axis", -2) % array.ndim
    length, count = array.shape[axis], array_of(update).shape[axis]
    rows = array.shape[0]
    first = numpy.zeros(rows, int) if starts is None else host_array(starts).astype(int)
    at = first[:, None] + numpy.arange(count)[None, :]
    if attributes.get("mode", "linear") == "circular":
        at %= length
    elif at.max(initial=0) >= length:
        raise ValueError(f"TensorScatter: position {at.max()} is behind a cache of {length}")
    shape = array_of(update).shape
    grid = list(numpy.indices(shape, sparse=True))
    grid[axis] = at.reshape(
        [rows if i == 0 else count if i == axis else 1 for i in range(len(shape))]
    )
    return _scattered(attributes, cache, tuple(numpy.broadcast_arrays(*grid)), update)


@constants(2)
def _one_hot(attributes: Attributes, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    count = int(number_of(depth))
    index = host_array(indices).astype(numpy.int64)
    off, on = host_array(values)
    # An index beyond the depth on either side has no place, and gets the first value everywhere.
    index = numpy.where(index < 0, index + count, index)
    check_shape("OneHot", (*index.shape, count))
    rows = index[..., None] == numpy.arange(count)
    result = numpy.where(rows, on, off).astype(array_of(values).dtype)
    return numpy.moveaxis(result, -1, attributes.get("axis", -1))


def _top_k(attributes: Attributes, x: Tensor, k: Tensor | None = None) -> tuple[Tensor, ...]:
    array = array_of(x)
    xp = get_array_module(array)
    axis = attributes.get("axis", -1) % array.ndim
    count = attributes["k"] if k is None else int(number_of(k))
    host = host_array(array)
    if attributes.get("largest", 1):
        # A stable sort of the reversed array keeps equal elements in their order.
        order = numpy.flip(numpy.argsort(numpy.flip(host, axis), axis=axis, kind="stable"), axis)
        order = host.shape[axis] - 1 - order
    else:
        order = numpy.argsort(host, axis=axis, kind="stable")
    order = numpy.take(order, numpy.arange(count), axis)
    grid = tuple(numpy.broadcast_arrays(*_grid(order.shape, axis, order)))
    return _selected(x, grid), xp.asarray(order.astype(numpy.int64))


def _compress(attributes: Attributes, x: Tensor, condition: Tensor) -> Tensor:
    axis = attributes.get("axis")
    chosen = numpy.flatnonzero(host_array(condition))
    if axis is None:
        flat = F.reshape(x, (-1,)) if is_tracked(x) else array_of(x).reshape(-1)
        return _selected(flat, chosen)
    return _selected(x, (*[slice(None)] * (axis % ndim_of(x)), chosen))


OPERATORS: dict[str, Callable[..., Any]] = {
    "Compress": _compress,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "TopK": _top_k,
}
