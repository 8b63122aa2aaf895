"""Memory that the gradients of several variables share after backpropagation.

Rules may hand out the array they were given, or views of it: an addition gives all its operands the
same gradient, a concatenation cuts it up. Nobody wants an in-place change of one variable's
gradient to show in another's. So disjoint parts of one array are given away as they are, and what
two variables would both see they share until one of them reads it, which copies it; what was
broadcast is filled in then (:class:`SharedGradient`). Small arrays are copied at once.
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

_ndarray = numpy.ndarray
#: Views that lie between each other, as columns of a matrix do, are compared one by one up to this
#: number of them; more are copied.
_COMPARED = 8
#: Up to this number of bytes a copy is made sooner than anything that saves it.
_SMALL = 4096
#: Effort after which NumPy gives up finding out whether two views overlap.
_MOST_WORK = 10_000


class SharedGradient(LazyGradient):
    """Gradient in memory that unread gradients of other variables may be in, too.

    Args:
        array: The gradient.
        sharers: Ids of those in the memory. One that was read or cleared dies, and leaves.
    """

    __slots__ = ("_array", "_sharers")

    def __init__(self, array: Any, sharers: set[int]) -> None:
        self._array = array
        self._sharers = sharers
        sharers.add(id(self))

    def read(self, array: Any) -> Any:
        """Returns a copy of the gradient, or the memory itself if all of it is for this one."""
        # Other threads that are about to read this or another one hold it, so that it is counted.
        alone = len(self._sharers) == 1
        return self._array if alone and _is_whole(self._array) else own_copy(self._array)

    def __del__(self) -> None:
        self._sharers.discard(id(self))


class GradientMemory:
    """Who has which memory when gradients are given to variables."""

    __slots__ = ("_copies", "_holders")

    def __init__(self) -> None:
        # Id of an array that owns memory -> those who have it, None for somebody else. The only
        # one, as most are, is a tuple: the variable and its gradient.
        self._holders: dict[int, Any] = {}
        # Id of a gradient in memory of others -> the gradient, its one copy, who shares that.
        self._copies: dict[int, tuple[Any, Any, set[int]]] = {}

    def keep_off(self, array: Any) -> None:
        """Notes that others refer to an array: its memory is not to be given away."""
        self._holders[id(_owner(array))] = None

    def claim(self, variable: Variable, grad: Any) -> Any:
        """Returns what a variable shall have as its gradient.

        Args:
            variable: A variable without gradient. It has to be given the result before the next
                one claims.
            grad: Its gradient, an array or a view of one that others may be given as well.

        Returns:
            array or SharedGradient: ``grad``, or if need be a copy of it, at once or when read.
        """
        repeated: tuple[int, ...] = ()
        if grad.__class__ is not _ndarray or grad.base is not None or not grad.flags.writeable:
            repeated = backend_of(grad).broadcast_axes(grad)
            copies = _is_small(grad) if repeated else not _is_writable(grad)
            if copies:
                return own_copy(grad)
        all_holders = self._holders
        owner = id(_owner(grad))
        if owner not in all_holders and not repeated:
            all_holders[owner] = variable, grad
            return grad
        holders = all_holders.setdefault(owner, ())
        if holders is None:
            return own_copy(grad) if _is_small(grad) else self._share_copy(grad, repeated)
        if holders.__class__ is tuple:
            holders = all_holders[owner] = _Holders(holders)
        return holders.admit(variable, grad, bool(repeated))

    def _share_copy(self, grad: Any, repeated: tuple[int, ...]) -> SharedGradient:
        """Makes one copy of an array of others, for all variables that claim it."""
        found = self._copies.get(id(grad))
        if found is None:
            copy = _gathered_copy(grad, repeated) if repeated else own_copy(grad)
            found = self._copies[id(grad)] = grad, copy, set()
        return SharedGradient(*found[1:])


class _Holders:
    """Variables whose gradients are in the memory of one array.

    As long as they are disjoint parts of it, each has its own. From the first that is not, all
    share.

    Args:
        first: The first variable and its gradient, if there is one.
    """

    __slots__ = ("_bounds", "_parts", "_sharers")

    def __init__(self, first: tuple[Variable, Any] | tuple[()]) -> None:
        self._parts: list[tuple[Variable, Any]] = [first] if first else []
        self._bounds: tuple[int, int] | None = None
        self._sharers: set[int] | None = None

    def admit(self, variable: Variable, grad: Any, repeated: bool) -> Any:
        """Returns what the next variable shall have as its gradient."""
        parts, sharers = self._parts, self._sharers
        if sharers is None:
            overlaps = repeated or (self._overlaps(grad) if parts else False)
            if overlaps is False:
                parts.append((variable, grad))
                return grad
            if overlaps is None or _is_small(grad):
                return own_copy(grad)
            sharers = self._sharers = set()
            for other, part in parts:
                if other._grad is part:
                    other._grad = SharedGradient(part, sharers)
            parts.clear()
        return SharedGradient(grad, sharers)

    def _overlaps(self, grad: Any) -> bool | None:
        """Tells whether an array overlaps any so far, None for not known; remembers its place."""
        parts = self._parts
        first = parts[0][1]
        if grad is first or grad.__class__ is not _ndarray:
            return True
        low, high = self._bounds or byte_bounds(first)
        start, stop = byte_bounds(grad)
        if low < stop and start < high:
            if len(parts) >= _COMPARED:
                return None
            if any([_overlap(grad, part) for _, part in parts]):
                return True
        self._bounds = min(low, start), max(high, stop)
        return False


def own_copy(array: Any) -> Any:
    """Copies an array, in the order of its memory: a transposed view is as fast as any array."""
    if array.__class__ is not _ndarray:
        return copied(array)
    return array.copy("C" if 0 in array.strides else "K")


def _gathered_copy(array: Any, repeated: tuple[int, ...]) -> Any:
    """Copies an array that was broadcast; the copy is broadcast from no more memory than it."""
    first, all_of_it = slice(0, 1), slice(None)
    gathered = array[tuple([first if n in repeated else all_of_it for n in range(array.ndim)])]
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        return backend.xp.broadcast_to(own_copy(gathered), array.shape)


def _owner(array: Any) -> Any:
    """Returns the array that owns the memory of another."""
    base = getattr(array, "base", None)
    while base is not None:
        array = base
        base = getattr(array, "base", None)
    return array


def _is_whole(array: Any) -> bool:
    """Tells whether an array takes all of its owner's memory, each element once."""
    owner = _owner(array)
    size = getattr(owner, "nbytes", None)
    return (owner is array or array.nbytes == size) and not backend_of(array).broadcast_axes(array)


def _is_small(array: Any) -> bool:
    return array.__class__ is _ndarray and array.nbytes <= _SMALL


def _is_writable(array: Any) -> bool:
    return getattr(getattr(array, "flags", None), "writeable", True)


def _overlap(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> bool:
    try:
        # NumPy documents any number; its stubs know two of them.
        return numpy.shares_memory(a, b, max_work=_MOST_WORK)  # pyright: ignore[reportArgumentType]
    except TooHardError:
        return True
