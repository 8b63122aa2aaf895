"""Reading and writing elements with functions of the standard that change nothing.

An index is applied to the numbers of the elements, in NumPy. Then ``take`` reads the elements with
these numbers, and ``where`` puts new elements in their places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array
from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, Index

_Host = numpy.ndarray[Any, Any]


def _host_index(b: Backend, index: Index) -> Any:
    """Returns an index with NumPy arrays in place of the backend's."""
    if isinstance(index, tuple):
        return tuple([_host_index(b, item) for item in index])
    if isinstance(index, Array):
        return b.host_copy(index.native)
    if isinstance(index, list):
        return numpy.asarray([_host_index(b, item) for item in index], None if index else int)
    return index


def _is_basic(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    basic = (int, numpy.integer, slice, type(None), type(Ellipsis))
    return all(isinstance(item, basic) and not isinstance(item, bool) for item in items)


def beside(b: Backend, native: Any, host: _Host) -> Any:
    """Returns a NumPy array as a native array on the device of another one."""
    several = {"device": native.device} if len(b.native_devices) > 1 else {}
    return b.nx.asarray(numpy.array(host, order="C"), **several)  # of 0 axes, too


def _taken(b: Backend, native: Any, numbers: _Host) -> Any:
    """Returns the elements of a native array that have some numbers."""
    nx = b.nx
    if not numbers.size:
        several = {"device": native.device} if len(b.native_devices) > 1 else {}
        return nx.zeros(numbers.shape, dtype=native.dtype, **several)
    flat = nx.reshape(native, (-1,))
    return nx.reshape(b.taken(flat, numbers.reshape(-1)), numbers.shape)


def _replaced(b: Backend, old: Any, numbers: _Host, new: Any) -> Any:
    """Returns an array whose elements with some numbers are others; of two, the last one counts."""
    nx = b.nx
    if not numbers.size:
        return old
    source = numpy.full(old.shape, -1, numpy.int64)
    source.reshape(-1)[numbers.reshape(-1)] = numpy.arange(numbers.size)
    chosen = _taken(b, new, numpy.maximum(source, 0))
    return nx.where(beside(b, old, source >= 0), chosen, old)


def get(b: Backend, x: Array, index: Index) -> Array:
    """Returns ``x[index]``: a view if the index has no arrays.

    Args:
        b: The backend.
        x: The array.
        index: The index in the brackets.
    """
    index = _host_index(b, index)
    numbers = numpy.arange(x.size).reshape(x.shape)[index]
    if not _is_basic(index):
        return b.array_class(_taken(b, x.native, numbers))
    numbers = numpy.asarray(numbers)
    return b.view(x, lambda v: _taken(b, v, numbers), lambda p, v: _replaced(b, p, numbers, v))


def write(b: Backend, x: Array, index: Index, value: ArrayLike, add: bool) -> None:
    """Performs ``x[index] = value``, or adds; elements that are selected twice get both.

    Args:
        b: The backend.
        x: The array, changed in place.
        index: The index in the brackets.
        value: Number or array; broadcast and converted.
        add: Whether to add.
    """
    numbers = numpy.asarray(numpy.arange(x.size).reshape(x.shape)[_host_index(b, index)])
    value = b.xp.asarray(value, dtype=x.dtype)
    # Leading axes of length 1 may be too many, as in NumPy.
    while value.ndim > numbers.ndim and value.shape[0] == 1:
        value = value.reshape(value.shape[1:])
    native = b.nx.broadcast_to(value.native, numbers.shape)
    old = x.native
    if not add:
        b.assign(x, _replaced(b, old, numbers, native))
        return
    flat = numbers.reshape(-1)
    values = b.nx.reshape(native, (-1,))
    while flat.size:  # each round adds to each element once
        _, first = numpy.unique(flat, return_index=True)
        part = flat[first]
        total = _taken(b, old, part) + _taken(b, values, first)
        old = _replaced(b, old, part, total)
        rest = numpy.setdiff1d(numpy.arange(flat.size), first)
        flat, values = flat[rest], _taken(b, values, rest)
    b.assign(x, old)
