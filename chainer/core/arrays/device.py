"""Devices: the places where arrays are."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from chainer.core.arrays.lookup import backend_of, get_backend
from chainer.core.typing import Array, ArrayTree

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


class _Entered(threading.local):
    """The contexts of the ``with`` statements that a thread has entered, innermost last."""

    def __init__(self) -> None:
        self.contexts: list[AbstractContextManager[Any]] = []


# Not an attribute of the device: a device may be entered twice, and by several threads.
_entered = _Entered()


class Device:
    """A place where arrays of one backend are, such as ``@numpy`` or ``@cupy:0``.

    Args:
        backend (Backend): Backend of the device.
        index (int): Index among the devices of the backend; None if it has only one.
    """

    __slots__ = ("backend", "index")

    def __init__(self, backend: Backend, index: int | None = None) -> None:
        self.backend = backend
        self.index = index

    @property
    def name(self) -> str:
        """Specifier of the device, which :func:`chainer.get_device` accepts."""
        suffix = "" if self.index is None else f":{self.index}"
        return f"@{self.backend.name}{suffix}"

    @property
    def xp(self) -> ModuleType:
        """Array namespace of the device."""
        return self.backend.xp

    @property
    def supported_array_types(self) -> tuple[Any, ...]:
        """Classes of the arrays of this device; lazy names of those that are not imported yet."""
        return self.backend.array_types

    def send(self, arrays: ArrayTree) -> Any:
        """Moves arrays to this device.

        Args:
            arrays: An array, None, or a list, tuple or dict of such, nested to any depth. Variables
                are not accepted.

        Returns:
            The same structure with every array on this device. An array that is on this device
            already is returned as it is.
        """
        if arrays is None:
            return None
        if isinstance(arrays, (list, tuple)):
            moved = [self.send(item) for item in cast("Sequence[Any]", arrays)]
            return moved if isinstance(arrays, list) else tuple(moved)
        if isinstance(arrays, dict):
            entries = cast("dict[Any, Any]", arrays)
            return {key: self.send(item) for key, item in entries.items()}
        return self._send_array(arrays)

    def _send_array(self, array: Array) -> Array:
        backend = backend_of(array)
        if backend is self.backend:
            array = backend.wrap(array)
            if backend.device_of(array) == self:
                return array
            return backend.copy(array, self)
        return self.backend.from_host(backend.to_host(array), self)

    def use(self) -> None:
        """Makes this device current in this thread."""
        self.backend.use(self)

    def __enter__(self) -> Device:
        context = self.backend.use(self)
        context.__enter__()
        _entered.contexts.append(context)
        return self

    def __exit__(self, *args: Any) -> None:
        _entered.contexts.pop().__exit__(*args)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.backend is other.backend and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.backend.name, self.index))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Device {self.name}>"

    def __reduce__(self) -> Any:
        return (available_device, (self.backend.name, self.index))


def available_device(name: str, index: int | None) -> Device:
    """Returns a device of a backend that works on this machine.

    Args:
        name: Name of the backend.
        index: Index of the device; the current one if None.

    Raises:
        ValueError: If no plugin supplies the backend.
        RuntimeError: If the backend is not available; the message says what is missing.
    """
    try:
        backend = get_backend(name)
    except LookupError as error:
        raise ValueError(f"unknown backend in device specifier '@{name}': {error}") from error
    reason = backend.unavailable_reason()
    if reason is not None:
        raise RuntimeError(f"device '@{name}' is not available: {reason}")
    return backend.device(index)
