"""The devices of CUDA (public name ``chainer.backend.GpuDevice``)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy

from chainer.backends.cupy import library
from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import find_backend, get_backend

# As Any: pyright calls an instance of numpy.integer "partially unknown".
_Integer: Any = numpy.integer


class GpuDevice(Device):
    """A CUDA device with CuPy arrays, ``@cupy:<id>``.

    Args:
        device (cupy.cuda.Device): The device as an object of CuPy.

    Attributes:
        device: The device as an object of CuPy.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.
        TypeError: If ``device`` is not a device object of CuPy.

    Example:
        On a GPU:

        >>> from chainer.backends import cuda
        >>> device = chainer.backend.GpuDevice.from_array(cuda.to_gpu(np.ones(3)))
        >>> device.name
        '@cupy:0'
    """

    def __init__(self, device: Any) -> None:
        cupy = library.require()
        if not isinstance(device, cupy.cuda.Device):
            raise TypeError(f"device must be a cupy.cuda.Device, got {device!r}")
        super().__init__(get_backend("cupy"), int(device.id))
        self.device = device

    @staticmethod
    def from_device_id(device_id: int) -> GpuDevice:
        """Returns the device of an id.

        Args:
            device_id (int): Id of the CUDA device, from 0 on.

        Raises:
            RuntimeError: If there is no CUDA; the message says what is missing.
            ValueError: If ``device_id`` is not a non-negative integer.
        """
        cupy = library.require()
        if not isinstance(device_id, (int, _Integer)) or device_id < 0:
            raise ValueError(f"device_id must be a non-negative integer, got {device_id!r}")
        return GpuDevice(cupy.cuda.Device(int(device_id)))

    @staticmethod
    def from_array(array: object) -> GpuDevice | None:
        """Returns the device of a CuPy array, and None for any other object.

        Args:
            array: Any object.
        """
        backend = find_backend(array.__class__)
        if backend is None or backend.name != "cupy":
            return None
        device = backend.device_of(array)
        return device if isinstance(device, GpuDevice) else None

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """Classes of the arrays of this device: ``cupy.ndarray``."""
        return (self.xp.ndarray,)

    def create_context(self) -> AbstractContextManager[Any]:
        """Returns a new device object of CuPy, in whose ``with`` block this device is current."""
        return library.require().cuda.Device(self.index)

    def __repr__(self) -> str:
        return f"<GpuDevice (cupy):{self.index}>"
