"""NumPy's indexes, taken apart into what the standard has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array, mixed
from chainer_array_api.functions import operands
from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, Index


@dataclass
class Plan:
    """An index of one array.

    The basic part is applied first, and leaves one axis for each array in the index. Then the
    arrays select along these axes.

    Attributes:
        basic: Numbers, slices with steps forwards, and None, for every axis.
        shape: Shape after the basic part.
        backwards: Axes, of those after the basic part, to turn around: steps went backwards.
        arrays: The integer arrays, of one shape.
        axes: The axis, of those after the basic part, that each array selects along.
        place: Where the axes of the arrays go among those that are left.
    """

    basic: list[Any] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)
    backwards: list[int] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)
    place: int = 0

    @property
    def rest(self) -> list[int]:
        """The axes, of those after the basic part, that no array selects along."""
        return [i for i in range(len(self.shape)) if i not in self.axes]


def is_simple(index: Index) -> bool:
    """Tells whether an index has numbers and slices with steps forwards only.

    Args:
        index: The index.
    """
    for item in index if index.__class__ is tuple else (index,):
        cls = item.__class__
        if cls is slice:
            step = item.step
            if not (step is None or (step.__class__ is int and step > 0)):
                return False
        elif cls is not int and item is not None and item is not Ellipsis:
            return False
    return True


def make(b: Backend, x: Array, index: Index) -> Plan:
    """Takes an index apart.

    Args:
        b: The backend.
        x: The array that is indexed.
        index: The index in the brackets.

    Raises:
        IndexError: If there are too many items, or something else than numbers, slices, None,
            Ellipsis, and integer or boolean arrays.
    """
    items = _items(b, x, index)
    plan = Plan()
    # Beside an array a number selects as an array does, and decides with it where the axes go.
    select = any(isinstance(item, Array) for item in items)
    runs: list[int] = []  # position in the index of each item that counts as an array
    axis = 0
    for position, item in enumerate(items):
        if item is None:
            plan.basic.append(None)
            plan.shape.append(1)
            continue
        length = x.shape[axis]
        axis += 1
        if isinstance(item, slice):
            _add_slice(b, plan, item, length)
        elif isinstance(item, Array) or select:
            runs.append(position)
            plan.axes.append(len(plan.shape))
            plan.basic.append(slice(None))
            plan.shape.append(length)
            plan.arrays.append(item if isinstance(item, Array) else b.xp.asarray(item))
        else:
            if not -length <= item < length:
                raise IndexError(f"index {item} is out of bounds for axis with size {length}")
            plan.basic.append(item)
    if runs:
        # NumPy puts the axes of the arrays where the arrays are if they are neighbors, else in
        # front.
        adjacent = runs[-1] - runs[0] == len(runs) - 1
        plan.place = sum(i < plan.axes[0] for i in plan.rest) if adjacent else 0
        plan.arrays = list(b.xp.broadcast_arrays(*plan.arrays))
    return plan


def _items(b: Backend, x: Array, index: Index) -> list[Any]:
    """Returns one item for each axis, and None for new ones."""
    items: list[Any] = []
    for item in index if isinstance(index, tuple) else (index,):
        items.extend(_item(b, x, item))
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > x.ndim:
        raise IndexError(f"too many indices: array has {x.ndim} axes, {used} were indexed")
    missing = [slice(None)] * (x.ndim - used)
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if places:
        items[places[0] : places[0] + 1] = missing
    else:
        items.extend(missing)
    return items


def _item(b: Backend, x: Array, item: ArrayLike) -> list[Any]:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return [item]
    if isinstance(item, (int, numpy.integer)) and not isinstance(item, bool):
        return [int(item)]
    if isinstance(item, numpy.ndarray):
        raise mixed(x, item)
    if isinstance(item, list) and not item:
        item = b.xp.zeros((0,), int)
    item = operands.array(b, item)
    if item.dtype.kind in "iu":
        return [item.astype(numpy.int64, copy=False)]
    if item.dtype.kind != "b":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if not item.ndim:
        raise IndexError("a boolean without axes cannot be used as an index here")
    # A mask is as many integer arrays as it has axes.
    return list(b.xp.nonzero(item))


def _add_slice(b: Backend, plan: Plan, item: slice, length: int) -> None:
    """Adds a slice whose bounds are inside, as the standard wants them."""
    start, stop, step = item.indices(length)
    count = len(range(start, stop, step))
    if not count:
        item = slice(0, 0)
    elif step > 0:
        item = slice(start, stop, step)
    elif b.steps_backwards:
        item = slice(start, None if stop < 0 else stop, step)
    else:
        plan.backwards.append(len(plan.shape))
        # The same elements in ascending order; the axis is turned around afterwards.
        item = slice(start + (count - 1) * step, start + 1, -step)
    plan.basic.append(item)
    plan.shape.append(count)
