"""Backends and devices, as programs use them (public module ``chainer.backend``).

:class:`Backend` itself is defined in :mod:`chainer.core.arrays.protocol`, and how the backend of an
array is found in :mod:`chainer.core.arrays.lookup`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.capabilities import CAPABILITIES
from chainer.core.arrays.current_device import CurrentDevice
from chainer.core.arrays.device import Device, available_device
from chainer.core.arrays.holders import array_of
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
from chainer.core.lazy import lazy_module
from chainer.core.registry import registries
from chainer.core.typing import Array, ArrayLike, DeviceLike

if TYPE_CHECKING:
    from chainer.backends._chainerx import ChainerxDevice, from_chx, to_chx
    from chainer.backends._cpu import CpuDevice
    from chainer.backends.cuda import GpuDevice
    from chainer.backends.intel64 import Intel64Device

__all__ = [
    "CAPABILITIES",
    "HOST_FAMILY",
    "Backend",
    "ChainerxDevice",
    "CpuDevice",
    "CurrentDevice",
    "Device",
    "GpuDevice",
    "Intel64Device",
    "OpaqueLayoutBackend",
    "backend_of",
    "copied",
    "copyto",
    "find_backend",
    "from_chx",
    "get_array_module",
    "get_backend",
    "get_device",
    "get_device_from_array",
    "is_array",
    "is_array_type",
    "not_an_array_message",
    "to_chx",
    "using_device",
    "wrap",
]

# As Any: pyright calls an instance of numpy.integer "partially unknown".
_Integer: Any = numpy.integer

#: Device specifiers of earlier releases -> name of the backend.
_OTHER_NAMES = {"cpu": "numpy", "cuda": "cupy", "intel64": "ideep", "native": "numpy"}


def get_device(device_spec: DeviceLike) -> Device:
    """Returns a device for a specifier.

    Args:
        device_spec: A :class:`Device`; a string such as ``'@numpy'``, ``'@cupy:0'``, ``'@intel64'``
            or ``'0'``; an integer (a negative one means the CPU, others a CUDA device); None for
            the CPU; a CUDA device object. The ``'@'`` may be left out.

    Raises:
        TypeError: If the specifier is of a type that has no meaning.
        ValueError: If a string that begins with ``'@'`` has no meaning.
        RuntimeError: If the backend is not available; the message says what is missing. Also if a
            string without ``'@'`` has no meaning: in release 7 such a string names a ChainerX
            device.

    Example:
        >>> chainer.get_device("@numpy").xp.__name__
        'numpy'
    """
    if isinstance(device_spec, Device):
        return device_spec
    if device_spec is None:
        return get_backend("numpy").device()
    if isinstance(device_spec, str):
        return _device_of_text(device_spec)
    other: Any = device_spec
    if isinstance(other, (int, _Integer)):
        return _device_of_number(int(other))
    if isinstance(device_spec, tuple) and len(device_spec) == 2:
        name, number = device_spec  # ('cuda', 0), a form of release 6 and later
        if name == "numpy" or not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"device must be a specifier such as '@numpy', got {device_spec!r}")
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
    raise TypeError(
        "device must be a Device, a specifier such as '@numpy' or '@cupy:0', an integer or None, "
        f"got {device_spec!r}"
    )


def _device_of_number(number: int) -> Device:
    return get_backend("numpy").device() if number < 0 else available_device("cupy", number)


def _device_of_text(text: str) -> Device:
    try:
        number = int(text)
    except ValueError:
        pass
    else:
        return _device_of_number(number)
    name, separator, index = text.removeprefix("@").partition(":")
    name = _OTHER_NAMES.get(name, name)
    if name and index.isdigit() == bool(separator):
        if text.startswith("@") or name in registries.backends:
            if separator and text.startswith("@") and _is_host(name):
                # As in release 7: the host is one device.
                raise ValueError(f"device specifier '@{name}' must have no number, got {text!r}")
            return available_device(name, int(index) if separator else None)
    elif text.startswith("@"):
        raise ValueError(f"device specifier must look like '@numpy' or '@cupy:0', got {text!r}")
    raise RuntimeError(
        f"unknown device specifier {text!r}; specifiers look like '@numpy', '@cupy:0' or 0, which "
        "is the first GPU, and `chainer backends` lists the backends. In release 7, a name without "
        "'@' is a device of ChainerX, and ChainerX is not available"
    )


def _is_host(name: str) -> bool:
    """Whether a name belongs to a backend on the host that has one device."""
    if name not in registries.backends:
        return False
    backend = get_backend(name)
    return backend.family == HOST_FAMILY and not backend.multi_device


def using_device(device_spec: DeviceLike) -> AbstractContextManager[Any]:
    """Context manager that makes a device current.

    Args:
        device_spec: Anything :func:`get_device` accepts.

    Example:
        >>> with chainer.using_device("@numpy"):
        ...     layer = L.Linear(2, 1)
        ...
        >>> layer.device
        <CpuDevice (numpy)>
    """
    return get_device(device_spec).create_context()


def get_array_module(*args: object) -> ModuleType:
    """Returns the array namespace for the given arrays.

    Args:
        args: Arrays, :class:`~chainer.Variable` objects, or other values, which are ignored.

    Returns:
        module: ``numpy``, unless an argument is an array outside host memory; then the ``xp`` of
        its backend (``cupy``, ...).

    Example:
        >>> chainer.backend.get_array_module(np.ones(2), chainer.Variable(np.ones(2))).__name__
        'numpy'
    """
    for arg in args:
        array = array_of(arg)
        if type(array) is numpy.ndarray:  # by far the most frequent type
            continue
        backend = find_backend(array.__class__)
        if backend is not None and backend.family != HOST_FAMILY:
            return backend.xp
    return numpy


def get_device_from_array(*arrays: object) -> Device:
    """Returns the device of the first argument that holds an array other than a NumPy array.

    If there is no such array, the function returns the CPU device.

    Args:
        arrays: Arrays, :class:`~chainer.Variable` objects, or other values, which are ignored.

    Example:
        >>> chainer.backend.get_device_from_array(np.ones(2))
        <CpuDevice (numpy)>
    """
    for arg in arrays:
        array = array_of(arg)
        backend = find_backend(array.__class__)
        if backend is not None and backend.name != "numpy":
            return backend.device_of(array)
    return get_backend("numpy").device()


def wrap(array: Array) -> Array:
    """Returns an array in the form in which Variables hold it (see :class:`OpaqueLayoutBackend`).

    Args:
        array: Array of any backend.

    Raises:
        TypeError: If the object is not an array of a known backend.

    Example:
        >>> x = np.zeros(2)
        >>> chainer.backend.wrap(x) is x
        True
    """
    if type(array) is numpy.ndarray:
        return array if array.dtype.isnative else native_copy(array)
    return backend_of(array).wrap(array)


def native_copy(array: Array) -> Array:
    """Returns a copy of a NumPy array in the byte order of the machine.

    Files written on other machines give arrays of foreign byte order. Their dtype is not equal to
    the dtype of parameters.

    Args:
        array: NumPy array.
    """
    return array.astype(array.dtype.newbyteorder("="))


def copied(array: Array) -> Array:
    """Returns a copy of an array on its device.

    ``array.copy()`` is not enough: CuPy puts the copy on the current device.

    Args:
        array: Array of any backend.

    Example:
        >>> x = np.zeros(2)
        >>> y = chainer.backend.copied(x)
        >>> y[0] = 1
        >>> x
        array([0., 0.])
    """
    backend = backend_of(array)
    return backend.copy(array, backend.device_of(array))


def copyto(dst: Array, src: ArrayLike) -> None:
    """Copies the elements of an array to another array, across backends and devices.

    Args:
        dst: Destination array.
        src: Source array, on any device. Its shape can be broadcast to the shape of ``dst``. For a
            destination in host memory also a number, or a list or tuple of numbers.

    Raises:
        TypeError: If ``dst`` is not an array or ``src`` has no values, or if the data type of
            ``src`` cannot be cast to the data type of ``dst`` by the rule ``'same_kind'``.
        ValueError: If the shapes do not fit.

    Example:
        >>> target = np.zeros(2)
        >>> chainer.backend.copyto(target, np.ones(2))
        >>> target
        array([1., 1.])
    """
    target, source = backend_of(dst), find_backend(src.__class__)
    if source is None:
        if target.family != HOST_FAMILY or src is None:
            raise TypeError(not_an_array_message(src))
        src = get_backend("numpy").device().send(src)
    elif target.family != source.family:
        src = target.from_host(source.to_host(src), target.device_of(dst))
    elif source is target and target.multi_device:
        src = target.device_of(dst).send(src)
    with target.device_of(dst):
        target.xp.copyto(dst, src if source is None else target.to_xp(src))


# The device classes of our own backends, which this module must not import.
__getattr__, __dir__ = lazy_module(
    globals(),
    {
        "ChainerxDevice": "chainer.backends._chainerx",
        "CpuDevice": "chainer.backends._cpu",
        "GpuDevice": "chainer.backends.cuda",
        "Intel64Device": "chainer.backends.intel64",
        "from_chx": "chainer.backends._chainerx",
        "to_chx": "chainer.backends._chainerx",
    },
)
