"""Memory of recorded calls: references to arrays that need not exist any more.

While a step is recorded, its intermediate results are freed as without a record. The tape keeps a
:class:`Ref` for each array that a call gets: which buffer, where in it, and how it is laid out. The
program then decides where each buffer lies.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from chainer.core.arrays.recorder import VaryingNumber
from chainer.core.typing import DType, Shape

_ndarray = numpy.ndarray


class Buffer:
    """The memory of one array, which views may share.

    Attributes:
        nbytes: Its size.
        memory: The array that owns it, if it has to stay where it is: an argument, state, or an
            array that the step did not make. None for an intermediate result.
    """

    __slots__ = ("memory", "nbytes")

    def __init__(self, nbytes: int, memory: Any = None) -> None:
        self.nbytes = nbytes
        self.memory = memory


class Ref:
    """An array: a buffer with an offset in bytes, a shape, strides and a dtype.

    Attributes:
        array: The array itself, if its buffer stays where it is.
    """

    __slots__ = ("array", "buffer", "dtype", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer,
        offset: int,
        shape: Shape,
        strides: Shape,
        dtype: DType,
        array: Any = None,
    ) -> None:
        self.buffer = buffer
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.array = array

    def place(self) -> tuple[Any, ...]:
        """Returns what is equal for references to the same elements."""
        return id(self.buffer), self.offset, self.shape, self.strides, self.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    def extent(self) -> int:
        """Returns the number of bytes from the first element to the end of the last one."""
        steps = [(n - 1) * stride for n, stride in zip(self.shape, self.strides)]
        return sum(steps) + self.dtype.itemsize

    def is_contiguous(self) -> bool:
        """Returns whether the elements lie one after the other, in C order."""
        step = self.dtype.itemsize
        for length, stride in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1 and stride != step:
                return self.size == 0
            step *= length
        return True

    def is_whole(self) -> bool:
        """Returns whether it is a contiguous array of the whole buffer."""
        nbytes = self.size * self.dtype.itemsize
        return self.offset == 0 and nbytes == self.buffer.nbytes and self.is_contiguous()

    def piece(self, start: int, stop: int) -> Ref:
        """Returns elements of a contiguous array, as an array with one axis."""
        itemsize = self.dtype.itemsize
        array = None if self.array is None else self.array.reshape(-1)[start:stop]
        offset = self.offset + start * itemsize
        return Ref(self.buffer, offset, (stop - start,), (itemsize,), self.dtype, array)


class Held:
    """A result that is not an array, such as what a kernel keeps for its backward call.

    Each repetition computes a new one, and later calls get it.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def on_tape(self) -> Any:
        """Returns what the recorded step gets: this object, or an array that represents it."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)


class Opaque:
    """Base of the arrays of a recording that have a layout of their own; see :mod:`.opaque`.

    Attributes:
        held: The array of a provider, and where later calls find the arrays of repetitions.
    """

    held: Held

    def plain(self) -> Any:
        """Returns a NumPy array of the recording with the same elements."""
        raise NotImplementedError


def root(array: Any) -> Any:
    """Returns the array that owns the memory of a view."""
    while isinstance(array.base, _ndarray):
        array = array.base
    return array


class Buffers:
    """All memory that a recording refers to."""

    def __init__(self) -> None:
        # By the identity of the owner. A weak reference tells that an identity is used anew. It has
        # no callback, in which Python would drop Ctrl-C.
        self._known: dict[int, tuple[Any, Buffer]] = {}
        #: Memory that objects refer to, such as a dataclass that is an argument of a kernel.
        self.in_objects: set[Buffer] = set()

    def release(self) -> None:
        """Forgets all memory."""
        self._known.clear()
        self.in_objects.clear()

    def _enter(self, owner: Any, buffer: Buffer) -> Buffer:
        self._known[id(owner)] = weakref.ref(owner), buffer
        return buffer

    def _find(self, owner: Any) -> Buffer | None:
        found = self._known.get(id(owner))
        return found[1] if found is not None and found[0]() is owner else None

    def made(self, array: Any) -> None:
        """Notes that a recorded call made an array, and with it the memory."""
        owner = root(array)
        if self._find(owner) is None:
            self._enter(owner, Buffer(owner.nbytes))

    def of(self, array: Any) -> Buffer:
        """Returns the memory of an array. An array that no call made keeps its memory."""
        owner = root(array)
        return self._find(owner) or self._enter(owner, Buffer(owner.nbytes, owner))

    def refer(self, array: Any) -> Ref:
        """Returns a reference to a plain array."""
        owner = root(array)
        buffer = self.of(owner)
        offset = 0
        if array is not owner:
            offset = _address(array) - _address(owner)
        kept = None if buffer.memory is None else array
        return Ref(buffer, offset, array.shape, array.strides, array.dtype, kept)

    def pin(self, array: Any) -> None:
        """Keeps the memory of an array where it is, since an object refers to it."""
        owner = root(array)
        buffer = self.of(owner)
        if buffer.memory is None:
            buffer.memory = owner
        self.in_objects.add(buffer)

    def pin_all(self) -> None:
        """Keeps all memory that exists now where it is, since another program refers to it."""
        for reference, buffer in list(self._known.values()):
            owner = reference()
            if owner is not None:
                buffer.memory = owner
                self.in_objects.add(buffer)

    def symbols(self, value: Any) -> Any:
        """Returns references for plain arrays, also within tuples, lists and dicts."""
        kind = type(value)
        if kind is _ndarray:
            return self.refer(value)
        if kind is tuple or kind is list:
            return kind([self.symbols(v) for v in value])
        if kind is dict:
            return {k: self.symbols(v) for k, v in value.items()}
        if isinstance(value, (Held, VaryingNumber)):
            return value
        for array in _arrays_in(value):
            self.pin(array)
        return value


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def _members(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return value
    if isinstance(value, dict):
        return value.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return ()


def _arrays_in(value: Any) -> Iterator[Any]:
    """Yields the arrays that an object refers to, such as a named tuple or a dataclass."""
    for member in _members(value):
        if isinstance(member, _ndarray):
            yield member
        else:
            yield from _arrays_in(member)


def leaves(value: Any) -> Iterator[Any]:
    """Yields what nested tuples, lists, dicts and dataclasses of a call consist of."""
    members = _members(value)
    if not members:
        yield value
    for member in members:
        yield from leaves(member)


def references(value: Any) -> Iterator[Ref]:
    """Yields the references within nested tuples, lists and dicts."""
    for leaf in leaves(value):
        if isinstance(leaf, Ref):
            yield leaf


def replaced(value: Any, change: Callable[[Ref], Any]) -> Any:
    """Returns a structure with other objects in place of its references."""
    kind = type(value)
    if kind is Ref:
        return change(value)
    if kind is tuple or kind is list:
        return kind([replaced(v, change) for v in value])
    if kind is dict:
        return {k: replaced(v, change) for k, v in value.items()}
    return value
