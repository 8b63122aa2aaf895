"""Converter of indexing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from chainer.typing import Array
from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes, array_of

_INT64 = numpy.iinfo(numpy.int64)

#: Dtypes that the operator Gather takes for indexes.
_INDEX_TYPES = ("int32", "int64")


def _sliced(g: Nodes, x: str, items: list[Any]) -> str:
    """Adds the nodes for slices and integers; arrays and new axes are left to the caller."""
    starts: list[int | str] = []
    ends: list[int | str] = []
    axes: list[int] = []
    steps: list[int] = []
    squeezed: list[int] = []
    for axis, item in enumerate([item for item in items if item is not None]):
        if isinstance(item, int):
            squeezed.append(axis)
            item = slice(item, item + 1 if item != -1 else None)
        if isinstance(item, slice) and item != slice(None):
            step = 1 if item.step is None else int(item.step)
            # Bounds beyond the ends mean all there is in that direction.
            first, last = (0, _INT64.max) if step > 0 else (_INT64.max, _INT64.min)
            starts.append(first if item.start is None else _bound(item.start))
            ends.append(last if item.stop is None else _bound(item.stop))
            axes.append(axis)
            steps.append(step)
    if axes:
        x = g.slice(x, starts, ends, axes, steps)
    return g.squeeze(x, squeezed) if squeezed else x


@rule()
def GetItem(g: Nodes, x: str) -> str:
    """Slices, integers and new axes first, then arrays of indexes.

    An index that is an input of the model, such as the neighbors of a graph's nodes, stays one. A
    boolean array is one of the sample: its positions become constants.
    """
    given = _given_index(g)
    if given is not None:
        name, axis = given
        return g("Gather", x, name, axis=axis)
    g.warn_if_frozen("slices", "its index")
    items = _full_index(g.func.slices, g.ndim())
    twin = g.params.application.twin
    others = items if twin is None else _full_index(twin.function.slices, g.ndim())
    if twin is not None and len(others) == len(items):
        items = [_dynamic(g, item, other) for item, other in zip(items, others, strict=True)]
    if any([isinstance(item, numpy.ndarray) for item in items]):
        # NumPy treats integers next to arrays as arrays of no axes.
        items = [numpy.asarray(item) if isinstance(item, int) else item for item in items]
    x = _sliced(g, x, items)
    items = [item for item in items if not isinstance(item, int)]
    if any([isinstance(item, numpy.ndarray) for item in items]):
        return _select(g, x, items)
    return _with_new_axes(g, x, items)


def _given_index(g: Nodes) -> tuple[str, int] | None:
    """Returns the name and the axis of an array of indexes that is a value of the graph.

    It is the only index beside slices of all elements.
    """
    slices = g.func.slices
    items = list(slices) if isinstance(slices, tuple) else [slices]
    found = [
        i for i, item in enumerate(items) if hasattr(item, "dtype") and item.dtype.kind in "iu"
    ]
    # Negative indexes are not allowed before opset 11.
    if len(found) != 1 or g.opset < 11:
        return None
    (axis,) = found
    if not all([isinstance(item, slice) and item == slice(None) for item in items[:axis]]):
        return None
    rest = [item for item in items[axis + 1 :] if item is not Ellipsis]
    if not all([isinstance(item, slice) and item == slice(None) for item in rest]):
        return None
    name = g.context.find_name(items[axis])
    # A persistent array of a link is a constant.
    if name is None or name in g.context.persistents or items[axis].dtype.name not in _INDEX_TYPES:
        return None
    return name, axis


def _bound(bound: Any) -> int | str:
    return bound if isinstance(bound, str) else int(bound)


def _dynamic(g: Nodes, item: Any, other: Array) -> Any:
    """Returns an item of an index in which bounds may be names of what computes them."""
    if isinstance(item, slice) and isinstance(other, slice) and item != other:
        start, stop = (
            a if a is None or b is None else g.length(a, b)
            for a, b in ((item.start, other.start), (item.stop, other.stop))
        )
        return slice(start, stop, item.step)
    if isinstance(item, int) and isinstance(other, int) and item != other:
        g.warn(f"the index {item} depends on axes that have names; it is a constant")
    return item


def _full_index(slices: Any, ndim: int) -> list[Any]:
    """Returns an index with an item for each axis: int, slice, array, and None for new axes."""
    index = slices if isinstance(slices, tuple) else (slices,)
    items: list[Any] = []
    for item in index:
        if item is None or item is Ellipsis or isinstance(item, slice):
            items.append(item)
            continue
        array = numpy.asarray(array_of(item))
        if array.dtype == bool:
            # As NumPy does: one array of positions for each axis of the mask.
            items += list(array.nonzero())
        elif array.ndim == 0 and not hasattr(item, "shape"):
            items.append(int(array))
        else:
            items.append(array.astype(numpy.int64))
    used = len([item for item in items if item is not None and item is not Ellipsis])
    rest = [slice(None)] * (ndim - used)
    for i, item in enumerate(items):
        if item is Ellipsis:
            return [*items[:i], *rest, *items[i + 1 :]]
    return items + rest


def _with_new_axes(g: Nodes, x: str, items: list[Any]) -> str:
    new = [i for i, item in enumerate(items) if item is None]
    return g.unsqueeze(x, new) if new else x


def _gathered(
    g: Nodes, x: str, arrays: list[Array], axes: list[int], lengths: list[int], ndim: int
) -> tuple[str, int]:
    """Selects along axes by one array for each; returns the axis of the selected elements, too."""
    if len(axes) == 1:
        return g.gather(x, arrays[0], axes[0]), axes[0]
    others = [i for i in range(ndim) if i not in axes]
    # The axes of the arrays come first and are joined, so that one index selects.
    x = g.transpose(x, [*axes, *others])
    g.warn_of_lengths(axes[1:])
    x = _joined(g, x, [-1, *[0] * len(others)], len(axes))
    return g.gather(x, numpy.ravel_multi_index(arrays, lengths), 0), 0


def _from_front(arrays: Iterable[Array], lengths: list[int]) -> list[Array]:
    """Counts negative indexes from the front: they are not allowed before opset 11."""
    return [numpy.where(a < 0, a + n, a) for a, n in zip(arrays, lengths, strict=True)]


def _moved(g: Nodes, x: str, at: int, before: int, selected: int, rest: int) -> str:
    """Moves the ``selected`` axes from position ``at`` behind the first ``before`` other axes."""
    order = list(range(at)) + list(range(at + selected, rest + selected))
    order[before:before] = range(at, at + selected)
    return x if order == list(range(rest + selected)) else g.transpose(x, order)


def _select(g: Nodes, x: str, items: list[Any]) -> str:
    """Selects by arrays of indexes, which are broadcast to one shape."""
    places = [i for i, item in enumerate(items) if isinstance(item, numpy.ndarray)]
    axes = [len([item for item in items[:i] if item is not None]) for i in places]
    # Slices keep axes, and integers beside arrays count as arrays: no axis was removed before.
    lengths = [g.shape()[a] for a in axes]
    arrays = _from_front(numpy.broadcast_arrays(*[items[i] for i in places]), lengths)
    adjacent = places == list(range(places[0], places[0] + len(places)))
    kept = [i for i, item in enumerate(items) if not isinstance(item, numpy.ndarray)]
    selected = len(arrays[0].shape)
    ndim = len([item for item in items if item is not None])
    x, at = _gathered(g, x, arrays, axes, lengths, ndim)
    # NumPy puts the axes of the result in place of arrays side by side, else first.
    leading = [i for i in kept if i < places[0]] if adjacent else []
    before = len([i for i in leading if items[i] is not None])
    x = _moved(g, x, at, before, selected, len([i for i in kept if items[i] is not None]))
    layout = [items[i] for i in kept]
    layout[len(leading) : len(leading)] = [slice(None)] * selected
    return _with_new_axes(g, x, layout)


def _joined(g: Nodes, x: str, shape: list[int], count: int) -> str:
    """Joins the first axes; the others keep their lengths."""
    if len(shape) == 1:
        return g("Reshape", x, g.ints([-1]))
    lengths = g("Shape", x)
    rest = g.slice(lengths, [count], [_INT64.max], [0])
    return g("Reshape", x, g("Concat", g.ints(shape[:1]), rest, axis=0))
