"""Delivery of gradient arrays to variables, so that no two variables share memory visibly.

A differentiation rule may return the array it was given, or views of it: an addition passes one
array to all its operands, a concatenation returns slices. If variables stored these arrays as they
are, changing the gradient of one in place would change the gradient of another. Copying each of
them at once would take memory for copies that are often never read. Therefore:

- A gradient in memory of its own is stored as it is. So are disjoint parts of one array.
- Gradients that overlap, and gradients whose elements are repeated (a broadcast array), are stored
  as :class:`AliasedGradient`: the copy is made when the gradient is read.
- Small gradients are copied at once: a copy of 4 KiB takes less time than keeping track of it.
"""

# The gradient of a variable belongs to core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.exceptions import TooHardError
from numpy.lib.array_utils import byte_bounds

from chainer.core.arrays.backend import backend_of, copied
from chainer.core.autograd.lazy_gradient import LazyGradient

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, Indexes

_ndarray = numpy.ndarray
#: Interleaved views of one array, such as columns of a matrix, are compared one by one, which takes
#: quadratic time: beyond this number the next one is copied.
MAX_OVERLAP_CHECKS = 8
#: Gradients up to this size in bytes are copied at once.
SMALL_GRADIENT_BYTES = 4096
#: Candidate solutions after which NumPy gives up deciding whether two views overlap.
MAX_OVERLAP_WORK = 10_000


class AliasedGradient(LazyGradient):
    """Gradient whose memory unread gradients of other variables may share.

    Args:
        array: The gradient.
        unread: Ids of the unread gradients in this memory. Reading or clearing a gradient destroys
            this object, which removes its id from the set.
    """

    __slots__ = ("_array", "_unread")

    def __init__(self, array: Array, unread: set[int]) -> None:
        self._array = array
        self._unread = unread
        unread.add(id(self))

    def read(self, array: Array) -> Array:
        """Returns a copy, or the array itself if it is safe to give it away.

        It is safe if no other unread gradient uses the memory and the array covers all of it.
        """
        # If another thread is about to read a gradient in this memory, it holds a reference to that
        # gradient. That gradient is then still counted, and this one is copied.
        last = len(self._unread) == 1
        return self._array if last and _is_whole_memory(self._array) else own_copy(self._array)

    def __del__(self) -> None:
        self._unread.discard(id(self))


class GradientDelivery:
    """The gradients that one backward pass has stored in variables."""

    __slots__ = ("_borrowed", "_in_memory")

    def __init__(self) -> None:
        # Id of an array that owns memory -> users of the memory. Most often that is one variable,
        # stored as a pair of the variable and its gradient.
        self._in_memory: dict[int, tuple[Variable, Array] | AliasGroup | BorrowedMemory] = {}
        # Id of an array that is referenced elsewhere -> the array. It moves to the dictionary above
        # when a gradient is in its memory, which is rare, while many are marked.
        self._borrowed: dict[int, Array] = {}

    def mark_borrowed(self, array: Array) -> None:
        """Marks an array as referenced elsewhere: its memory must not be stored in a variable.

        Args:
            array: An array of the user's, such as the gradient set for the root.
        """
        owner = _memory_owner(array)
        self._borrowed[id(owner)] = owner
        self._in_memory.pop(id(owner), None)

    def deliver(self, variable: Variable, grad: Array) -> Array | AliasedGradient:
        """Returns the object to store as the gradient of a variable.

        Args:
            variable: A variable without gradient. The caller must store the result in it before it
                calls this method for another variable.
            grad: Its gradient. Other variables may get the same array or views of it.

        Returns:
            array or AliasedGradient: ``grad`` itself, or a copy of it, made now or when it is read.
        """
        repeated: Indexes = ()
        if grad.__class__ is not _ndarray or grad.base is not None or not grad.flags.writeable:
            repeated = backend_of(grad).broadcast_axes(grad)
            if _is_small(grad) if repeated else not _is_writable(grad):
                return own_copy(grad)
        owner = id(_memory_owner(grad))
        others = self._in_memory.get(owner)
        if others is None and owner in self._borrowed:
            others = self._in_memory[owner] = BorrowedMemory(self._borrowed[owner])
        if others is None:
            if not repeated:
                self._in_memory[owner] = variable, grad
                return grad
            others = self._in_memory[owner] = AliasGroup()
        elif isinstance(others, tuple):
            others = self._in_memory[owner] = AliasGroup(others)
        return others.admit(variable, grad, repeated)


class BorrowedMemory:
    """Memory of an array that something else refers to: gradients in it are copied.

    Args:
        array: The array, which is kept alive so that no other one gets its id.
    """

    __slots__ = ("_array", "_copies")

    def __init__(self, array: Array) -> None:
        self._array = array
        # Id of a gradient -> the gradient, its only copy, and the ids of the unread gradients that
        # share the copy.
        self._copies: dict[int, tuple[Array, Array, set[int]]] = {}

    def admit(self, variable: Variable, grad: Array, repeated: Indexes) -> Array | AliasedGradient:
        """Returns the object to store as the gradient of a variable; see :class:`AliasGroup`."""
        if _is_small(grad):
            return own_copy(grad)
        found = self._copies.get(id(grad))
        if found is None:
            copy = _copy_before_broadcasting(grad, repeated) if repeated else own_copy(grad)
            found = self._copies[id(grad)] = grad, copy, set()
        return AliasedGradient(found[1], found[2])


class AliasGroup:
    """Variables whose gradients are in the memory of one array.

    As long as the gradients are disjoint parts of the memory, each variable has its part. When one
    overlaps, all of them become aliased gradients.

    Args:
        first: The first variable and its gradient, if there is one.
    """

    __slots__ = ("_aliases", "_bounds", "_parts")

    def __init__(self, first: tuple[Variable, Array] | None = None) -> None:
        #: Variables with disjoint gradients.
        self._parts: list[tuple[Variable, Array]] = [] if first is None else [first]
        #: First and last address of the parts.
        self._bounds: tuple[int, int] | None = None
        #: Ids of the unread aliased gradients; None while all gradients are disjoint.
        self._aliases: set[int] | None = None

    def admit(self, variable: Variable, grad: Array, repeated: Indexes) -> Array | AliasedGradient:
        """Returns the object to store as the gradient of one more variable.

        Args:
            variable: The variable.
            grad: Its gradient.
            repeated: Axes along which all elements of the gradient are the same memory.
        """
        aliases = self._aliases
        if aliases is None:
            overlaps = bool(repeated) or (self._overlaps(grad) if self._parts else False)
            if overlaps is False:
                self._parts.append((variable, grad))
                return grad
            if overlaps is None or _is_small(grad):
                return own_copy(grad)
            aliases = self._aliases = set()
            for other, part in self._parts:
                if other._gradient is part:  # else it was read or replaced meanwhile
                    other._gradient = AliasedGradient(part, aliases)
            self._parts.clear()
        return AliasedGradient(grad, aliases)

    def _overlaps(self, grad: Array) -> bool | None:
        """Returns whether a gradient overlaps one of the parts; None if that is too hard to tell.

        If a gradient overlaps no part, its address range is remembered.
        """
        parts = self._parts
        first = parts[0][1]
        if grad is first or grad.__class__ is not _ndarray:
            return True
        low, high = self._bounds or byte_bounds(first)
        start, stop = byte_bounds(grad)
        # Slices of leading axes come one after the other: they are compared with one range.
        if low < stop and start < high:
            if len(parts) >= MAX_OVERLAP_CHECKS:
                return None
            if any([_share_memory(grad, part) for _, part in parts]):
                return True
        self._bounds = min(low, start), max(high, stop)
        return False


def own_copy(array: Array) -> Array:
    """Copies an array in the order of its memory, so that transposed views are not slower."""
    if array.__class__ is not _ndarray:
        return copied(array)
    return array.copy("C" if 0 in array.strides else "K")


def _copy_before_broadcasting(array: Array, repeated: Indexes) -> Array:
    """Copies the distinct elements of a broadcast array, and broadcasts the copy."""
    first, everything = slice(0, 1), slice(None)
    distinct = array[tuple([first if n in repeated else everything for n in range(array.ndim)])]
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        return backend.xp.broadcast_to(own_copy(distinct), array.shape)


def _memory_owner(array: Array) -> Any:
    """Returns the array that owns the memory of another."""
    base = getattr(array, "base", None)
    while base is not None:
        array = base
        base = getattr(array, "base", None)
    return array


def _is_whole_memory(array: Array) -> bool:
    """Returns whether an array takes all of its owner's memory, each element once."""
    owner = _memory_owner(array)
    size = getattr(owner, "nbytes", None)
    return (owner is array or array.nbytes == size) and not backend_of(array).broadcast_axes(array)


def _is_small(array: Array) -> bool:
    return array.__class__ is _ndarray and array.nbytes <= SMALL_GRADIENT_BYTES


def _is_writable(array: Array) -> bool:
    return getattr(getattr(array, "flags", None), "writeable", True)


def _share_memory(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> bool:
    try:
        # NumPy documents any number; its stubs know two of them.
        work: Any = MAX_OVERLAP_WORK
        return numpy.shares_memory(a, b, max_work=work)
    except TooHardError:
        return True
