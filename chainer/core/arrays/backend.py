"""Backends and devices, as programs use them (public module ``chainer.backend``).

:class:`Backend` itself is defined in :mod:`chainer.core.arrays.protocol`, and how the backend of an
array is found in :mod:`chainer.core.arrays.lookup`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, cast

import numpy

from chainer.core.arrays.device import Device, available_device
from chainer.core.arrays.lookup import (
    HOST_FAMILY,
    backend_of,
    find_backend,
    get_backend,
    is_array,
    is_array_type,
    not_an_array_message,
)
from chainer.core.arrays.opaque_layouts import OpaqueLayoutBackend
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array, DeviceLike

__all__ = [
    "HOST_FAMILY",
    "Backend",
    "Device",
    "OpaqueLayoutBackend",
    "backend_of",
    "copied",
    "copyto",
    "find_backend",
    "get_array_module",
    "get_backend",
    "get_device",
    "get_device_from_array",
    "is_array",
    "is_array_type",
    "not_an_array_message",
    "using_device",
    "wrap",
]

# As Any: pyright calls an instance of numpy.integer "partially unknown".
_Integer: Any = numpy.integer

#: Device specifiers of earlier releases -> name of the backend.
_OTHER_NAMES = {"cuda": "cupy", "intel64": "ideep"}

_HOST_SPECIFIERS = (None, "native", "@native", "cpu")


def get_device(device_spec: DeviceLike) -> Device:
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
    if device_spec in _HOST_SPECIFIERS:
        return get_backend("numpy").device()
    if isinstance(device_spec, str):
        return _device_of_text(device_spec)
    other: Any = device_spec
    if isinstance(other, (int, _Integer)) and not isinstance(other, bool):
        if other < 0:
            return get_backend("numpy").device()
        return available_device("cupy", int(other))
    if isinstance(device_spec, tuple) and len(device_spec) == 2:
        name, number = device_spec  # ('@cupy', 0), a form of release 6 and later
        return get_device(f"{name}:{number}")
    index: Any = getattr(device_spec, "id", None)
    # A device object of CuPy, or the placeholder for the host that chainer.backends.cuda gives.
    # Their classes are recognized by name, so that neither module is imported here.
    kind = type(device_spec)
    library = kind.__module__.split(".")[0]
    if kind.__module__ == "chainer.backends.cuda" and index == -1:
        return get_backend("numpy").device()
    if isinstance(index, int) and library in ("cupy", "cupy_backends"):
        return available_device("cupy", index)
    raise ValueError(
        "device must be a Device, a specifier such as '@numpy' or '@cupy:0', an integer or None, "
        f"got {device_spec!r}"
    )


def _device_of_text(text: str) -> Device:
    if text.lstrip("-").isdigit():
        return get_device(int(text))
    name, _, index = text.removeprefix("@").partition(":")
    name = _OTHER_NAMES.get(name, name)
    if not name or (index and not index.isdigit()):
        raise ValueError(f"device specifier must look like '@numpy' or '@cupy:0', got {text!r}")
    return available_device(name, int(index) if index else None)


def using_device(device_spec: DeviceLike) -> AbstractContextManager[Any]:
    """Context manager that makes a device current.

    Args:
        device_spec: Anything :func:`get_device` accepts.
    """
    device = get_device(device_spec)
    return device.backend.use(device)


def get_array_module(*args: object) -> ModuleType:
    """Returns the array namespace for the given arrays.

    Args:
        args: Arrays, :class:`~chainer.Variable` objects, or other values, which are ignored.

    Returns:
        module: ``numpy``, unless an argument is an array outside host memory; then the ``xp`` of
        its backend (``cupy``, ...).
    """
    for arg in args:
        array = _array_of(arg)
        if type(array) is numpy.ndarray:  # by far the most frequent type
            continue
        backend = find_backend(array.__class__)
        if backend is not None and backend.family != HOST_FAMILY:
            return backend.xp
    return numpy


def get_device_from_array(*arrays: object) -> Device:
    """Returns the device of the first argument that is an array or a Variable with an array.

    Arrays outside host memory come before NumPy arrays. Without any array, the CPU device is
    returned.

    Args:
        arrays: Arrays, :class:`~chainer.Variable` objects, or other values, which are ignored.
    """
    host: Device | None = None
    for arg in arrays:
        array = _array_of(arg)
        backend = find_backend(array.__class__)
        if backend is None:
            continue
        if backend.family != HOST_FAMILY:
            return backend.device_of(array)
        host = host or backend.device_of(array)
    return host or get_backend("numpy").device()


def _array_of(arg: object) -> Any:
    # Variables are recognized by their interface: the package autograd imports this module.
    if type(arg) is numpy.ndarray or not hasattr(arg, "creator_node"):
        return arg
    return cast(Any, arg).array


def wrap(array: Array) -> Array:
    """Returns an array in the form in which Variables hold it (see :class:`OpaqueLayoutBackend`).

    Args:
        array: Array of any backend.

    Raises:
        TypeError: If the object is not an array of a known backend.
    """
    return array if type(array) is numpy.ndarray else backend_of(array).wrap(array)


def copied(array: Array) -> Array:
    """Returns a copy of an array on its device.

    ``array.copy()`` is not enough: CuPy puts the copy on the current device.

    Args:
        array: Array of any backend.
    """
    backend = backend_of(array)
    return backend.copy(array, backend.device_of(array))


def copyto(dst: Array, src: Array) -> None:
    """Copies the elements of an array to another array, across backends and devices.

    Args:
        dst: Destination array.
        src: Source array, on any device. Its shape can be broadcast to that of ``dst``.
    """
    target, source = backend_of(dst), backend_of(src)
    if target.family != source.family:
        src = target.from_host(source.to_host(src), target.device_of(dst))
    elif source is target and target.multi_device:
        src = target.device_of(dst).send(src)
    with target.device_of(dst):
        target.xp.copyto(dst, target.to_xp(src))
