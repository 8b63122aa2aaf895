"""Arrays that can be written, on JAX's arrays, which cannot.

A :class:`Box` holds a ``jax.Array``. A write puts another one in its place. A :class:`View` knows
its parent and two functions: one computes its value from the parent's, the other one computes the
parent's new value when the view is written. So a write through any chain of views reaches the box.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from chainer_array_api import Array


class Observer:
    """What is told about reads and writes of boxes while a step is recorded."""

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
    """A place for a ``jax.Array``.

    Args:
        value: The array.

    Attributes:
        value: The array, without telling the observer.
        version: Number of writes.
    """

    __slots__ = ("__weakref__", "value", "version")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.version = 0
        if state.observer is not None:
            state.observer.created(self)

    @property
    def root(self) -> Box:
        """The box itself."""
        return self

    def read(self) -> Any:
        """Returns the value."""
        if state.observer is not None:
            state.observer.read(self)
        return self.value

    def write(self, value: Any) -> None:
        """Replaces the value.

        Args:
            value: Array of the same shape and dtype.
        """
        if state.observer is not None:
            state.observer.wrote(self)
        self.value = value
        self.version += 1


class View:
    """A part of a box, or its elements in another arrangement.

    Args:
        parent: Box or view.
        there: Returns the value for the parent's value. None if they are the same.
        back: Returns the parent's new value for its old one and that of the view; None likewise.
    """

    __slots__ = ("_back", "_there", "_value", "_version", "parent", "root")

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
        self._version: Any = None  # what the value was computed from

    def read(self) -> Any:
        """Returns the value, computed again if the box was written."""
        value = self.parent.read()
        if self._there is None:
            return value
        # The array, not the version: a recording replaces it by a tracer and puts it back.
        source = self._version
        if source is None or source() is not value:
            self._value = self._there(value)
            self._version = weakref.ref(value)
        return self._value

    def write(self, value: Any) -> None:
        """Writes through to the box.

        Args:
            value: Array of the same shape and dtype.
        """
        if self._back is not None:
            value = self._back(self.parent.read(), value)
        self.parent.write(value)


class Stale:
    """The value of a box that was made while a step was recorded and has no value since."""

    _MESSAGE = (
        "this array was made while a step was recorded, and has no value: return it from the step, "
        "or keep it as an attribute of a link that the capture watches"
    )

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(self._MESSAGE)


class JaxArrayBase(Array):
    """An array on a box or a view of one."""

    __slots__ = ("node",)

    def __init__(self, native: Any) -> None:
        self.node: Box | View = Box(native)

    @classmethod
    def on(cls, node: Box | View) -> JaxArrayBase:
        """Returns an array on a box or view.

        Args:
            node: The box or view.
        """
        self = cls.__new__(cls)
        self.node = node
        return self

    @property
    def native(self) -> Any:  # type: ignore[override]
        """The ``jax.Array``: the present value, which later writes do not change."""
        return self.node.read()

    @property
    def device(self) -> Any:
        """The device, as JAX has it."""
        return self.backend.native_devices[self.backend.index_of(self.node.read())]
