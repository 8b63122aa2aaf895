"""Devices: the places where arrays are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.arrays.current_device import Use
from chainer.core.arrays.lookup import array_classes, backend_of, find_backend, get_backend
from chainer.core.safe_exit import safe_exit
from chainer.core.task_local import TaskLocal
from chainer.core.typing import Array, ArrayTree

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


# As Any: pyright calls an instance of numpy.number "partially unknown".
_NUMPY_SCALARS: Any = (numpy.number, numpy.bool_)


#: The contexts of the ``with`` statements that a task has entered, innermost last. Not an attribute
#: of the device: a device may be entered twice, by several threads and by several tasks.
_entered: TaskLocal[tuple[AbstractContextManager[Any], ...]] = TaskLocal("chainer devices", ())


class Device:
    """A place where arrays of one backend are, such as ``@numpy`` or ``@cupy:0``.

    The backends of earlier releases have subclasses, which programs recognize by ``isinstance``:
    :class:`~chainer.backend.CpuDevice`, :class:`~chainer.backend.GpuDevice` and
    :class:`~chainer.backend.Intel64Device`.

    Args:
        backend (Backend): Backend of the device. A subclass that belongs to no backend leaves it
            out, and defines ``xp``, ``name``, ``supported_array_types``, ``is_array_supported``,
            ``send_array`` and ``__eq__``.
        index (int): Index among the devices of the backend; None if it has only one.

    Example:
        >>> device = chainer.get_device("@numpy")
        >>> device.name, device.xp is np
        ('@numpy', True)
        >>> model = L.Linear(3, 2).to_device(device)
        >>> isinstance(model.device, chainer.backend.CpuDevice)
        True
    """

    backend: Backend

    # An attribute of the class as well, for subclasses that do not call this __init__ and for
    # objects that pickles restore without it.
    index: int | None = None

    def __init__(self, backend: Backend | None = None, index: int | None = None) -> None:
        if backend is not None:
            self.backend = backend
        self.index = index

    @property
    def _has_backend(self) -> bool:
        return "backend" in self.__dict__

    def _own_backend(self, name: str) -> Backend:
        """Returns the backend; raises for a subclass without one that has to define ``name``."""
        if not self._has_backend:
            raise NotImplementedError(f"{type(self).__name__} must define {name}")
        return self.backend

    @property
    def name(self) -> str:
        """Specifier of the device, which :func:`chainer.get_device` accepts."""
        suffix = "" if self.index is None else f":{self.index}"
        return f"@{self._own_backend('name').name}{suffix}"

    @property
    def xp(self) -> ModuleType:
        """Array namespace of the device."""
        return self._own_backend("xp").xp

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """Classes of the arrays of this device."""
        return array_classes(self._own_backend("supported_array_types"))

    def is_array_supported(self, array: object) -> bool:
        """Returns whether an object is an array that is on this device.

        Args:
            array: Any object.
        """
        own = self._own_backend("is_array_supported()")
        found = find_backend(array.__class__)
        # Arrays that xp makes count as well: NumPy arrays are on the device of iDeep.
        if found is None or found not in (own, own.xp_backend):
            return False
        return not own.multi_device or found.device_of(cast("Array", array)) == self

    def send(self, arrays: ArrayTree) -> Any:
        """Moves arrays to this device.

        Args:
            arrays: An array, None, or a list, tuple or dict of such, nested to any depth. Variables
                are not accepted.

        Returns:
            The same structure with every array on this device. An array that is on this device
            already is returned as it is. An array that occurs twice is moved once.

        Raises:
            TypeError: If something is not an array. NumPy scalars are accepted as arrays without
                axes; the CPU device accepts numbers as well.
        """
        return self._send(arrays, {})

    def _send(self, arrays: ArrayTree, moved: dict[int, Array]) -> Any:
        """Moves arrays; ``moved`` are the results so far, by the ``id()`` of their sources."""
        if arrays is None:
            return None
        if isinstance(arrays, (list, tuple)):
            items = [self._send(item, moved) for item in cast("Sequence[Any]", arrays)]
            return items if isinstance(arrays, list) else tuple(items)
        if isinstance(arrays, dict):
            entries = cast("dict[Any, Any]", arrays)
            return {key: self._send(item, moved) for key, item in entries.items()}
        if id(arrays) not in moved:
            moved[id(arrays)] = self.send_array(arrays)
        return moved[id(arrays)]

    def send_array(self, array: Array) -> Array:
        """Moves one array to this device; :meth:`send` calls it for every array.

        Args:
            array: The array.
        """
        own = self._own_backend("send_array()")
        if isinstance(array, _NUMPY_SCALARS):
            array = numpy.asarray(array)
        backend = backend_of(array)
        if backend is own:
            array = backend.wrap(array)
            if backend.device_of(array) == self:
                return array
            return backend.copy(array, self)
        return own.from_host(backend.to_host(array), self)

    def use(self) -> None:
        """Makes this device current in this thread."""
        if self._has_backend:
            self.backend.use(self)

    def create_context(self) -> AbstractContextManager[Any]:
        """Returns a context manager in whose block this device is current."""
        return _DeviceContext(self) if self._has_backend else nullcontext(self)

    def __enter__(self) -> Device:
        if not self._has_backend:
            raise RuntimeError(
                f"{type(self).__name__} cannot be used in a with statement; "
                "use chainer.using_device() instead"
            )
        backend = self.backend
        previous = backend.device() if backend.multi_device else None
        context = None
        try:
            context = backend.use(self)
            context.__enter__()
            _entered.set((*_entered.get(), context))
        except BaseException:
            # An interrupt between the statements: nothing else would take back what use() did.
            if isinstance(context, Use) and context.is_entered:
                context.__exit__()
            if previous is not None:
                backend.use(previous)
            raise
        return self

    def _depth(self) -> int:
        return len(_entered.get())

    @safe_exit
    def __exit__(self, *args: Any) -> None:
        contexts = _entered.get()
        contexts[-1].__exit__(*args)
        _entered.set(contexts[:-1])

    def __eq__(self, other: object) -> bool:
        own = self._own_backend("__eq__()")
        if not isinstance(other, Device):
            return NotImplemented
        return own is other.__dict__.get("backend") and self.index == other.index

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Device {self.name}>" if self._has_backend else super().__repr__()

    def __reduce__(self) -> Any:
        if not self._has_backend:
            return super().__reduce__()
        return (available_device, (self.backend.name, self.index))


class _DeviceContext(ContextDecorator):
    """Makes a device current when the context is entered, not before; also as a decorator."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __enter__(self) -> Device:
        return self._device.__enter__()

    def _depth(self) -> int:
        return len(_entered.get())

    @safe_exit
    def __exit__(self, *args: Any) -> None:
        self._device.__exit__(*args)


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
