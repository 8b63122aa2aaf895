"""Memory that the gradients of several variables share after backpropagation.

Rules may hand out the array they were given, or views of it: an addition gives all its operands the
same gradient, a concatenation cuts it up. Nobody wants an in-place change of one variable's
gradient to show in another's. So disjoint parts of one array are given away as they are, and what
two variables would both see they share until one of them reads it, which copies it; what was
broadcast is filled in then (:class:`SharedGradient`).
"""

# The gradient of a variable belongs to core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.exceptions import TooHardError
from numpy.lib.array_utils import byte_bounds

from chainer.core.backend import backend_of, copied
from chainer.core.lazy_gradient import LazyGradient

if TYPE_CHECKING:
    from chainer.core.variable import Variable

_ndarray = numpy.ndarray
#: Views that lie between each other, as columns of a matrix do, are compared one by one up to this
#: number of them; more are taken to overlap.
_COMPARED = 8
#: Effort after which NumPy gives up finding out whether two views overlap.
_MOST_WORK = 10_000


class SharedGradient(LazyGradient):
    """Gradient in memory that the unread gradients of other variables are in, too.

    Args:
        array: The gradient.
        sharers: Numbers of all that are in the memory. Whoever reads leaves it.
    """

    __slots__ = ("_array", "_number", "_sharers")

    def __init__(self, array: Any, sharers: set[int]) -> None:
        self._array = array
        self._sharers = sharers
        self._number = len(sharers)
        sharers.add(self._number)

    def read(self, array: Any) -> Any:
        """Returns a copy of the gradient, or for the last one that reads the memory itself."""
        sharers = self._sharers
        if len(sharers) == 1 and not _repeated_axes(self._array):
            return self._array
        result = own_copy(self._array)
        sharers.discard(self._number)  # afterwards: other threads may read theirs meanwhile
        return result


class GradientMemory:
    """Who has which memory when gradients are delivered to variables.

    Args:
        kept: Ids of arrays whose memory was given away already (see :func:`owner_of`).
    """

    __slots__ = ("_copies", "_holders")

    def __init__(self, kept: set[int]) -> None:
        # Id of an array that owns memory -> None if it was given away, the variable that has it,
        # or the several that have.
        self._holders: dict[int, Any] = dict.fromkeys(kept)
        # Id of a gradient in memory given away -> the gradient, its one copy, who shares that.
        self._copies: dict[int, tuple[Any, Any, set[int]]] = {}

    def claim(self, variable: Variable, grad: Any) -> Any:
        """Returns what a variable shall have as its gradient.

        Args:
            variable: A variable without gradient. It has to be given the result before the next
                one claims.
            grad: Its gradient, an array or a view of one that others may be given as well.

        Returns:
            array or SharedGradient: ``grad``, or if need be a copy of it, at once or when read.
        """
        repeated = _repeated_axes(grad)
        if not (repeated or _is_writable(grad)):
            return own_copy(grad)
        owner = owner_of(grad)
        holders = self._holders
        if owner not in holders:
            if not repeated:
                holders[owner] = variable
                return grad
            holders[owner] = set()
        several = holders[owner]
        if several is None:
            return self._share_copy(grad, repeated)
        if several.__class__ is not set:
            if several.__class__ is not _Parts:
                several = holders[owner] = _Parts(several)
            if not repeated and several.add(variable, grad):
                return grad
            several = holders[owner] = several.shared()
        return SharedGradient(grad, several)

    def _share_copy(self, grad: Any, repeated: tuple[int, ...]) -> SharedGradient:
        """Makes one copy of an array that was given away, for all variables it is claimed for."""
        found = self._copies.get(id(grad))
        if found is None:
            copy = _gathered_copy(grad, repeated) if repeated else own_copy(grad)
            found = self._copies[id(grad)] = grad, copy, set()
        return SharedGradient(*found[1:])


class _Parts:
    """Variables whose gradients are known to be disjoint parts of one array.

    Args:
        first: One of them.
    """

    __slots__ = ("bounds", "variables")

    def __init__(self, first: Variable) -> None:
        self.variables = [first]
        self.bounds: tuple[int, int] | None = None

    def add(self, variable: Variable, grad: Any) -> bool:
        """Adds a variable if its gradient overlaps no other; returns whether it did."""
        others = [other._grad for other in self.variables]
        if grad.__class__ is not _ndarray or others[0] is grad:
            return False
        low, high = self.bounds or byte_bounds(others[0])
        start, stop = byte_bounds(grad)
        between = low < stop and start < high
        if between and (
            len(others) >= _COMPARED or any([_overlap(grad, other) for other in others])
        ):
            return False
        self.variables.append(variable)
        self.bounds = min(low, start), max(high, stop)
        return True

    def shared(self) -> set[int]:
        """Makes sharers of all."""
        sharers: set[int] = set()
        for variable in self.variables:
            variable._grad = SharedGradient(variable._grad, sharers)
        return sharers


def owner_of(array: Any) -> int:
    """Identifies the memory of an array: the id of the array that owns it."""
    base = getattr(array, "base", None)
    while base is not None:
        array = base
        base = getattr(array, "base", None)
    return id(array)


def own_copy(array: Any) -> Any:
    """Copies an array in the order of its memory: a transposed view as fast as any array."""
    return array.copy("K") if array.__class__ is _ndarray else copied(array)


def _gathered_copy(array: Any, repeated: tuple[int, ...]) -> Any:
    """Copies an array that was broadcast; the copy is broadcast from no more memory than it."""
    first, all_of_it = slice(0, 1), slice(None)
    gathered = array[tuple([first if n in repeated else all_of_it for n in range(array.ndim)])]
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        return backend.xp.broadcast_to(own_copy(gathered), array.shape)


def _repeated_axes(array: Any) -> tuple[int, ...]:
    if array.__class__ is _ndarray and array.flags.writeable:  # most often
        return ()
    return backend_of(array).repeated_axes(array)


def _is_writable(array: Any) -> bool:
    return getattr(getattr(array, "flags", None), "writeable", True)


def _overlap(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> bool:
    try:
        # NumPy documents any number; its stubs know two of them.
        return numpy.shares_memory(a, b, max_work=_MOST_WORK)  # pyright: ignore[reportArgumentType]
    except TooHardError:
        return True
