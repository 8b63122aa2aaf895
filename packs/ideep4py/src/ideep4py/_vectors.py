"""``intVector`` and ``mdarrayVector``: the original's typed lists, which were C++ vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ideep4py._mdarray import mdarray

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

T = TypeVar("T")


class VectorIterator(Generic[T]):
    """A position in a vector, as ``begin()`` and ``end()`` return and ``insert()`` and ``erase()``
    take.
    """

    __slots__ = ("position", "vector")

    def __init__(self, vector: _Vector[T], position: int) -> None:
        self.vector = vector
        self.position = position

    def value(self) -> T:
        """The element at this position."""
        return self.vector[self.position]

    def incr(self, n: int = 1) -> VectorIterator[T]:
        """Moves forward."""
        self.position += n
        return self

    def decr(self, n: int = 1) -> VectorIterator[T]:
        """Moves back."""
        self.position -= n
        return self

    def __add__(self, n: int) -> VectorIterator[T]:
        return VectorIterator(self.vector, self.position + n)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, VectorIterator)
            and other.vector is self.vector
            and other.position == self.position
        )

    # incr() and decr() change a position, which therefore must not be a key.
    __hash__ = None  # type: ignore[assignment]


class _Vector(Generic[T]):
    """A list whose elements are all of one type."""

    __slots__ = ("_items",)
    _items: list[T]

    def __init__(self, *given: Any) -> None:
        arguments: list[Any] = list(given)
        if not arguments:
            self._items = []
        # As the constructors of C++ vectors: a size, or a size and the value of all elements.
        elif len(arguments) <= 2 and isinstance(arguments[0], int):
            fill = self._check(arguments[1]) if len(arguments) == 2 else self._default()
            self._items = [fill] * arguments[0]
        elif len(arguments) == 1 and isinstance(arguments[0], Iterable):
            self._items = [self._check(v) for v in arguments[0]]
        else:
            raise TypeError(
                f"{type(self).__name__} takes nothing, a sequence, or a size and a value; "
                f"got {arguments!r}"
            )

    @classmethod
    def _check(cls, value: AnyArray) -> T:
        raise TypeError(f"{cls.__name__} cannot hold {value!r}")

    @classmethod
    def _default(cls) -> T:
        raise TypeError(f"{cls.__name__} has no default value: give one")

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> _Vector[T]: ...
    def __getitem__(self, index: int | slice) -> T | _Vector[T]:
        if isinstance(index, slice):
            return type(self)(self._items[index])
        try:
            return self._items[index]
        except IndexError:
            raise IndexError("index out of range") from None

    def __setitem__(self, index: int | slice, value: AnyArray) -> None:
        if isinstance(index, slice):
            self._items[index] = [self._check(v) for v in value]
        else:
            self._items[index] = self._check(value)

    def __delitem__(self, index: int | slice) -> None:
        del self._items[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"

    def append(self, value: T) -> None:
        """Adds an element at the end."""
        self._items.append(self._check(value))

    push_back = append

    def pop(self) -> T:
        """Removes the last element and returns it."""
        if not self._items:
            raise IndexError("pop from empty container")
        return self._items.pop()

    def pop_back(self) -> None:
        """Removes the last element."""
        self.pop()

    def front(self) -> T:
        """The first element."""
        return self[0]

    def back(self) -> T:
        """The last element."""
        return self[-1]

    def size(self) -> int:
        """Number of elements."""
        return len(self._items)

    def empty(self) -> bool:
        """Whether the vector has no elements."""
        return not self._items

    def capacity(self) -> int:
        """Number of elements that fit without a reallocation: here the number of elements."""
        return len(self._items)

    def reserve(self, n: int) -> None:
        """Does nothing: Python lists grow by themselves."""

    def clear(self) -> None:
        """Removes all elements."""
        self._items.clear()

    def resize(self, n: int, *value: T) -> None:
        """Cuts, or fills up with ``value``, to ``n`` elements."""
        fill = self._check(value[0]) if value else self._default()
        self._items[n:] = [fill] * (n - len(self._items))

    def assign(self, n: int, value: T) -> None:
        """Replaces the contents by ``n`` times ``value``."""
        self._items = [self._check(value)] * n

    def swap(self, other: _Vector[T]) -> None:
        """Exchanges the contents with another vector."""
        self._items, other._items = other._items, self._items

    def begin(self) -> VectorIterator[T]:
        """The position of the first element."""
        return VectorIterator(self, 0)

    def end(self) -> VectorIterator[T]:
        """The position after the last element."""
        return VectorIterator(self, len(self._items))

    def iterator(self) -> Iterator[T]:
        """A Python iterator."""
        return iter(self._items)

    def insert(self, where: VectorIterator[T], value: T) -> VectorIterator[T]:
        """Inserts ``value`` in front of a position."""
        self._items.insert(where.position, self._check(value))
        return VectorIterator(self, where.position)

    def erase(
        self, where: VectorIterator[T], stop: VectorIterator[T] | None = None
    ) -> VectorIterator[T]:
        """Removes the element at a position, or those from there to ``stop``."""
        del self._items[where.position : where.position + 1 if stop is None else stop.position]
        return VectorIterator(self, where.position)


class intVector(_Vector[int]):
    """A list of ints: ``intVector()``, ``intVector(sequence)``, ``intVector(size[, value])``."""

    __slots__ = ()

    @classmethod
    def _check(cls, value: AnyArray) -> int:
        # A bool is an int in Python, and is most likely a mistake in a list of sizes.
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"intVector holds ints, got {type(value).__name__}")
        return value.__index__()

    @classmethod
    def _default(cls) -> int:
        return 0


class mdarrayVector(_Vector[mdarray]):
    """A list of mdarrays: ``mdarrayVector()``, ``mdarrayVector(sequence)``, ``mdarrayVector(size,
    value)``.
    """

    __slots__ = ()

    @classmethod
    def _check(cls, value: AnyArray) -> mdarray:
        if not isinstance(value, mdarray):
            raise TypeError(f"mdarrayVector holds mdarrays, got {type(value).__name__}")
        return value


# Programs know the classes by the name of the package, as in the original.
intVector.__module__ = mdarrayVector.__module__ = "ideep4py"
