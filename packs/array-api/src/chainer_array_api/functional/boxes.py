"""Arrays that can be written, on arrays of a library, which cannot.

A :class:`Box` holds an array of the library. A write puts another one in its place. A
:class:`View` knows its parent and two functions: one computes its value from the value of the
parent, the other one computes the new value of the parent when the view is written. So a write
through any chain of views reaches the box.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from chainer_array_api.array import Array


class Observer:
    """Is notified of reads and writes of boxes while a step is recorded."""

    def created(self, box: Box) -> None:
        """A box was made."""

    def read(self, box: Box) -> None:
        """A box is about to be read."""

    def wrote(self, box: Box) -> None:
        """A box is about to be written."""


class _State(threading.local):
    """The observer of this thread: other threads may work with boxes during a recording."""

    observer: Observer | None = None


state = _State()


class Box:
    """A place for an array of the library.

    Args:
        value: The array.
    """

    __slots__ = ("__weakref__", "_holder", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._holder: Holder | None = None
        if state.observer is not None:
            state.observer.created(self)

    @property
    def value(self) -> Any:
        """The array, without telling the observer."""
        if self._holder is not None:
            self._holder.release()
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if self._holder is not None:
            self._holder.release()
        self._value = value

    @property
    def root(self) -> Box:
        """The box itself."""
        return self

    def read(self) -> Any:
        """Returns the value."""
        if state.observer is not None:
            state.observer.read(self)
        return self.value

    def write(self, value: Array) -> None:
        """Replaces the value.

        Args:
            value: Array of the same shape and dtype.
        """
        if state.observer is not None:
            state.observer.wrote(self)
        self.value = value


class Holder:
    """The values of boxes between two calls of a program that writes all of them.

    As long as no box is read or written, the program passes its results to itself, and touches no
    box. A read or a write of one box gives all boxes their values.

    Args:
        boxes: The boxes.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        # Weak references: the boxes know their holder, and a model must be freed at once.
        self._boxes = [weakref.ref(box) for box in boxes]
        self._lock = threading.Lock()
        self._values: list[Any] | None = None

    @property
    def values(self) -> list[Any] | None:
        """The values in the order of the boxes. None if the boxes have them."""
        return self._values

    def hold(self, values: list[Any]) -> None:
        """Takes the values of all boxes.

        Args:
            values: The values in the order of the boxes.
        """
        if self._values is None:
            with self._lock:
                for box in self._live_boxes():
                    box._holder, box._value = self, None
                self._values = values
        else:
            self._values = values

    def release(self) -> None:
        """Gives each box its value."""
        with self._lock:
            if self._values is None:
                return  # another thread did it meanwhile
            for reference, value in zip(self._boxes, self._values, strict=True):
                box = reference()
                if box is not None:
                    box._value = value
                    box._holder = None
            self._values = None

    def live_boxes(self) -> list[Box]:
        """Returns the boxes that still exist."""
        return self._live_boxes()

    def _live_boxes(self) -> list[Box]:
        return [box for box in [reference() for reference in self._boxes] if box is not None]


class View:
    """A part of a box, or its elements in another arrangement.

    Args:
        parent: Box or view.
        there: Returns the value for the parent's value. None if they are the same.
        back: Returns the parent's new value for its old one and the value of the view; None
            likewise.
    """

    __slots__ = ("_back", "_source", "_there", "_value", "parent", "root")

    def __init__(
        self,
        parent: Box | View,
        there: Callable[[Any], Any] | None,
        back: Callable[[Any, Any], Any] | None,
    ) -> None:
        self.parent = parent
        self.root: Box = parent.root
        self._there = there
        self._back = back
        self._value: Any = None
        self._source: Any = None  # what the value was computed from

    @property
    def is_whole(self) -> bool:
        """Whether the value is the value of the parent."""
        return self._there is None

    def read(self) -> Any:
        """Returns the value, computed again if the box was written."""
        value = self.parent.read()
        if self._there is None:
            return value
        # The array, not the version: a recording replaces it by a tracer and puts it back.
        source = self._source
        if source is None or source() is not value:
            is_described = isinstance(value, Described)
            self._value = value.through(self._there) if is_described else self._there(value)
            self._source = weakref.ref(value)
        return self._value

    def write(self, value: Array) -> None:
        """Writes through to the box.

        Args:
            value: Array of the same shape and dtype.
        """
        if self._back is not None:
            value = self._back(self.parent.read(), value)
        self.parent.write(value)


class Described:
    """The shape and dtype of a value that a recording has not computed yet.

    Args:
        shape: The shape.
        dtype: The dtype.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def through(self, there: Callable[[Any], Any]) -> Described:
        """Returns the description of what a function makes of the value.

        Args:
            there: Function of a :class:`View`, which computes its value from its parent's.
        """
        raise NotImplementedError(f"{type(self).__name__} must define through()")


class Stale:
    """The value of a box that was made while a step was recorded and has no value since."""

    _MESSAGE = (
        "this array was made while a step was recorded, and has no value: return it from the step, "
        "or keep it as an attribute of a link that the capture watches"
    )

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(self._MESSAGE)


class BoxedArray(Array):
    """An array on a box or a view of one."""

    __slots__ = ("node",)

    def __init__(self, native: Array) -> None:
        self.node: Box | View = Box(native)

    @classmethod
    def on(cls, node: Box | View) -> BoxedArray:
        """Returns an array on a box or view.

        Args:
            node: The box or view.
        """
        self = cls.__new__(cls)
        self.node = node
        return self

    @property
    def native(self) -> Any:  # type: ignore[override]
        """The library's array: the present value, which later writes do not change."""
        return self.node.read()

    @property
    def device(self) -> Any:
        """The device, as the library has it."""
        return self.backend.native_devices[self.backend.index_of(self.node.read())]
