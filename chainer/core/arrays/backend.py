"""Array backends: the protocol, and which backend an array belongs to.

A backend is an array type together with what the framework must know of it. Everything else (which
functions exist, how they differentiate) is written once against the array namespace ``xp`` of
the backend and against kernels (:mod:`chainer.core.arrays.kernel`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, ClassVar, cast

import numpy

from chainer.core.arrays.device import Device
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry, EntryLoadError, UnknownNameError

#: Family of the backends whose arrays live in host memory and may be mixed in one call.
HOST_FAMILY = "host"

# As Any: to the checker what is an instance of numpy.generic is "partially unknown".
_Scalar: Any = numpy.generic
_Integer: Any = numpy.integer


class Backend:
    """An array type and what the framework must know of it.

    Subclass it, set ``name`` and ``array_types``, and define :meth:`xp`, :meth:`from_host`,
    :meth:`to_host` and, where the defaults do not fit, the rest. Register an instance in a pack
    (hook ``chainer_backends``) or at run time with ``chainer.plugins.register``.

    Attributes:
        name: Name in device specifiers: ``'@name'``.
        array_types: Array classes, or lazy names ``'module:Class'`` of classes whose library
            need not be imported to be recognised.
        family: Backends of one family may be mixed in one call, and a kernel may return arrays of
            another one of the family. Everything in host memory that NumPy understands is of
            family ``'host'``; other backends are families by themselves.
        is_accelerator: Whether ``forward_gpu`` rather than ``forward_cpu`` serves its arrays, in
            functions that define the two instead of ``forward``.
        multi_device: Whether there may be more than one device. Then the device of its inputs is
            current while a function runs; where there is one only, nothing has to be looked up.
        makes_xp_arrays: Whether ``xp`` makes the arrays, so that :meth:`to_xp` has nothing to do.
    """

    name: ClassVar[str]
    array_types: ClassVar[tuple[type | str, ...]]
    family: ClassVar[str] = ""
    is_accelerator: ClassVar[bool] = False
    multi_device: ClassVar[bool] = False
    makes_xp_arrays: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.family and "name" in cls.__dict__:
            cls.family = cls.name
        cls.makes_xp_arrays = cls.to_xp is Backend.to_xp
        if cls.is_accelerator and "multi_device" not in cls.__dict__:
            cls.multi_device = True

    @property
    def xp(self) -> ModuleType:
        """Array namespace with the NumPy API."""
        raise NotImplementedError(f"backend {type(self).__name__} must define xp")

    def unavailable_reason(self) -> str | None:
        """Returns None where the backend works, else what is missing and how to get it."""
        return None

    def version(self) -> str:
        """Returns the version of the library behind the backend."""
        return str(getattr(self.xp, "__version__", "unknown"))

    def devices(self) -> Sequence[Device]:
        """Returns the devices of the backend; a single one without an index by default."""
        return (Device(self),)

    def device(self, index: int | None = None) -> Device:
        """Returns one device.

        Args:
            index: Index of the device; the current device when None.
        """
        if index not in (None, 0):
            raise ValueError(f"backend {self.name!r} has one device only, got index {index}")
        return Device(self)

    def device_of(self, array: Any) -> Device:
        """Returns the device an array lives on."""
        return self.device()

    def use(self, device: Device) -> AbstractContextManager[Any]:
        """Makes a device current, at once and until the returned context manager exits."""
        return nullcontext(device)

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Any:
        """Returns a copy of a NumPy array on a device (the array itself where memory is shared).

        The result is an array of this backend, or of its :attr:`xp_backend` where the own ones
        cannot hold the shape or dtype.
        """
        raise NotImplementedError(f"backend {type(self).__name__} must define from_host()")

    def to_host(self, array: Any) -> numpy.ndarray[Any, Any]:
        """Returns the contents of an array as a NumPy array."""
        raise NotImplementedError(f"backend {type(self).__name__} must define to_host()")

    def copy(self, array: Any, device: Device) -> Any:
        """Returns a copy of an array of this backend on one of its devices."""
        return array.copy()

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """Returns an array of a scalar or an array of this backend; arrays are not copied."""
        return self.xp.asarray(value, dtype)

    @property
    def xp_backend(self) -> Backend:
        """The backend of the arrays that ``xp`` makes; itself by default.

        Another one of the same family where the arrays cannot hold everything, or code written
        against ``xp`` gets arrays of another type (see :meth:`to_xp`). Then arrays of either stand
        for each other: :meth:`from_host`, functions and kernels may return arrays of this one, and
        all methods of the backend take them.
        """
        return self

    def wrap(self, array: Any) -> Any:
        """Returns an array as Variables hold it.

        Called for arrays that users hand in and functions return. A backend whose own arrays wrap
        those of a library lists the classes of both in ``array_types``, and wraps here.
        """
        return array

    def to_xp(self, array: Any) -> Any:
        """Returns the array as the type that ``xp`` makes, for code written against ``xp``.

        For reading: the result may be a copy. Arrays that are of that type already are returned
        as they are.
        """
        return array

    def xp_view(self, array: Any) -> Any:
        """Returns the array as the type that ``xp`` makes; writing to it changes the array."""
        return self.to_xp(array)

    def broadcast_axes(self, array: Any) -> tuple[int, ...]:
        """Returns the axes along which all elements of an array are the same memory.

        Those of broadcast views. A gradient that has such axes is filled in when it is read; one
        that is not known to have any must be writable, or it is copied when it is delivered.
        """
        return ()

    def synchronize(self, device: Device) -> None:
        """Waits until everything submitted to a device is done."""

    def random(self, device: Device) -> Any:
        """Returns the random number source: an object with the API of ``numpy.random``."""
        return self.xp.random

    def memory(self, device: Device) -> dict[str, int]:
        """Returns figures about the memory of a device, in bytes, by name."""
        return {}

    def __repr__(self) -> str:
        return f"<backend {self.name}>"


_by_type: dict[type[Any], Backend] = {}
_unknown_types: set[type[Any]] = set()
_reported: set[Entry] = set()


def _forget(*_: Any) -> None:
    _by_type.clear()
    _unknown_types.clear()


registries.backends.add_listener(_forget)


#: Backends of other distributions of this repository, and the distributions.
_SUPPLIERS = {"array_api_strict": "chainer-array-api", "torch": "chainer-array-api"}


def get_backend(name: str) -> Backend:
    """Returns a backend by name.

    Args:
        name: Name of the backend, such as ``'numpy'``.

    Raises:
        LookupError: If no installed plugin supplies a backend of this name; where it is known
            which distribution does, the message names it.
    """
    try:
        return registries.backends.get(name)
    except UnknownNameError as error:
        supplier = _SUPPLIERS.get(name)
        if supplier is None or _is_installed(supplier):
            raise
        raise UnknownNameError(
            f"no backend named {name!r}; it is part of the distribution {supplier}, which is not "
            f"installed: pip install {supplier}"
        ) from error


def _is_installed(distribution: str) -> bool:
    from importlib import metadata  # takes 30 ms

    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _distance(candidate: type | str, cls: type) -> int | None:
    """Returns how far up the bases of ``cls`` a class is: 0 for ``cls`` itself, None: not there."""
    mro = cls.__mro__
    if isinstance(candidate, type):
        return mro.index(candidate) if candidate in mro else None
    module, _, name = candidate.partition(":")
    for distance, base in enumerate(mro):
        if base.__qualname__ == name and (
            base.__module__ == module or base.__module__.startswith(module + ".")
        ):
            return distance
    return None


def is_array_type(candidate: type | str, cls: type) -> bool:
    """Tells whether arrays of class ``cls`` count as those of a class, given so or by lazy name.

    They do if ``cls`` derives from it, unless another backend claims a nearer base.
    """
    distance = _distance(candidate, cls)
    return distance is not None and distance <= _search(cls)[1]


def _importable() -> Iterator[Backend]:
    """Yields the registered backends; one that cannot be imported is reported, once, and left out.

    What is asked here is only whose an array is: somebody else's broken plugin is no obstacle.
    """
    for entry in registries.backends.entries():
        try:
            yield entry.load()
        except EntryLoadError as error:
            if entry not in _reported:
                _reported.add(entry)
                warnings.warn(f"backend is not used: {error}", RuntimeWarning, stacklevel=2)


def _search(cls: type[Any]) -> tuple[Backend | None, int]:
    """Returns the backend of the nearest base of ``cls``, and how far up that is."""
    best: Backend | None = None
    nearest = len(cls.__mro__)
    for backend in _importable():
        for candidate in backend.array_types:
            distance = _distance(candidate, cls)
            if distance is not None and distance < nearest:
                best, nearest = backend, distance
    return best, nearest


def find_backend(cls: type[Any]) -> Backend | None:
    """Returns the backend whose arrays are of class ``cls``, or None.

    Where several backends know a base of ``cls``, that of the nearest base is meant.
    """
    backend = _by_type.get(cls)
    if backend is not None or cls in _unknown_types:
        return backend
    if cls.__module__ == "builtins":
        _unknown_types.add(cls)
        return None
    backend, distance = _search(cls)
    # Only what looks like an array is worth importing third-party packs for: initializers, labels
    # and the like pass here, too.
    if distance > 0 and hasattr(cls, "shape") and not issubclass(cls, _Scalar):
        registries.backends.load_all()
        backend, _ = _search(cls)
    if backend is None:
        _unknown_types.add(cls)
    else:
        _by_type[cls] = backend
    return backend


def is_array(obj: Any) -> bool:
    """Tells whether an object is an array of a known backend."""
    return find_backend(obj.__class__) is not None


def backend_of(array: Any) -> Backend:
    """Returns the backend of an array.

    Raises:
        TypeError: If the object is not an array of a known backend.
    """
    backend = _by_type.get(array.__class__) or find_backend(array.__class__)
    if backend is None:
        raise TypeError(not_an_array_message(array))
    return backend


def wrap(array: Any) -> Any:
    """Returns an array as Variables hold it (see :meth:`Backend.wrap`).

    Raises:
        TypeError: If the object is not an array of a known backend.
    """
    return array if type(array) is numpy.ndarray else backend_of(array).wrap(array)


def not_an_array_message(obj: Any) -> str:
    """Returns the text of the error raised where an array was expected."""
    return f"numpy.ndarray or cuda.ndarray are expected.\nActual: {type(obj)}"


def _unwrap(arg: Any) -> Any:
    # Variables are recognised by their interface: variable.py imports this module.
    if type(arg) is numpy.ndarray or not hasattr(arg, "creator_node"):
        return arg
    return arg.array


def get_array_module(*args: Any) -> ModuleType:
    """Returns the array namespace for the given arrays.

    Args:
        args: Arrays, :class:`~chainer.Variable` objects, or other values, which are ignored.

    Returns:
        module: ``numpy``, unless an argument is an array of another backend; then the ``xp`` of
        that backend (``cupy``, ...).
    """
    for arg in args:
        array = _unwrap(arg)
        if type(array) is numpy.ndarray:
            continue
        backend = find_backend(array.__class__)
        if backend is not None and backend.family != HOST_FAMILY:
            return backend.xp
    return numpy


def get_device_from_array(*arrays: Any) -> Device:
    """Returns the device of the first argument that is an array (or a Variable holding one).

    Arrays outside host memory win over NumPy arrays. Without any array the CPU device is returned.
    """
    host: Device | None = None
    for arg in arrays:
        array = _unwrap(arg)
        backend = find_backend(array.__class__)
        if backend is None:
            continue
        if backend.family != HOST_FAMILY:
            return backend.device_of(array)
        host = host or backend.device_of(array)
    return host or get_backend("numpy").device()


def copied(array: Any) -> Any:
    """Returns a copy of an array on its device (``copy()`` of CuPy's arrays is on the current)."""
    backend = backend_of(array)
    return backend.copy(array, backend.device_of(array))


def copyto(dst: Any, src: Any) -> None:
    """Copies the elements of an array into another one, across backends and devices.

    Args:
        dst: Destination array.
        src: Source array of a shape that broadcasts to that of ``dst``, on any device.
    """
    target, source = backend_of(dst), backend_of(src)
    if target.family != source.family:
        src = target.from_host(source.to_host(src), target.device_of(dst))
    elif source is target and target.multi_device:
        src = target.device_of(dst).send(src)
    with target.device_of(dst):
        target.xp.copyto(dst, target.to_xp(src))


def get_device(device_spec: Any) -> Device:
    """Returns a device for a specifier.

    Args:
        device_spec: A :class:`Device`; a string such as ``'@numpy'``, ``'@cupy:0'``, ``'@ideep'``,
            ``'0'`` or ``'native'``; an integer (a negative one means the CPU, others a CUDA
            device); None for the CPU; a CUDA device object.

    Raises:
        ValueError: If the specifier has no meaning.
        RuntimeError: If the backend is not available; the message says what is missing.
    """
    if isinstance(device_spec, Device):
        return device_spec
    if device_spec is None or device_spec in ("native", "@native", "cpu"):
        return get_backend("numpy").device()
    if isinstance(device_spec, str):
        if device_spec.lstrip("-").isdigit():
            return get_device(int(device_spec))
        name, _, index = device_spec.removeprefix("@").partition(":")
        name = {"intel64": "ideep", "cuda": "cupy"}.get(name, name)
        if not name or (index and not index.isdigit()):
            raise ValueError(
                f"device specifier must look like '@numpy' or '@cupy:0', got {device_spec!r}"
            )
        return _device(name, int(index) if index else None)
    if isinstance(device_spec, (int, _Integer)) and not isinstance(device_spec, bool):
        if device_spec < 0:
            return get_backend("numpy").device()
        return _device("cupy", int(device_spec))
    if isinstance(device_spec, tuple):
        pair = cast("tuple[Any, ...]", device_spec)
        if len(pair) == 2:  # ('@cupy', 0) of later releases
            return get_device(f"{pair[0]}:{pair[1]}")
    other = cast(Any, device_spec)
    index = getattr(other, "id", None)
    if isinstance(index, int) and type(other).__module__.split(".")[0] in (
        "cupy",
        "cupy_backends",
    ):
        return _device("cupy", index)
    raise ValueError(
        "device must be a Device, a specifier such as '@numpy' or '@cupy:0', an integer or None, "
        f"got {device_spec!r}"
    )


def _device(name: str, index: int | None) -> Device:
    try:
        backend = get_backend(name)
    except LookupError as error:
        raise ValueError(f"unknown backend in device specifier '@{name}': {error}") from error
    reason = backend.unavailable_reason()
    if reason is not None:
        raise RuntimeError(f"device '@{name}' is not available: {reason}")
    return backend.device(index)


def using_device(device_spec: Any) -> AbstractContextManager[Any]:
    """Context manager that makes a device current.

    Args:
        device_spec: Anything :func:`get_device` takes.
    """
    device = get_device(device_spec)
    return device.backend.use(device)
