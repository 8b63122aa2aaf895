"""The CuPy backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy

from chainer.backends.cupy import library
from chainer.backends.cupy.copies import copy_between_devices
from chainer.backends.cupy.device import GpuDevice
from chainer.backends.cupy.random_marks import mark
from chainer.core.arrays.device import Device
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array


class CupyBackend(Backend):
    """Arrays on CUDA devices: ``cupy.ndarray``. Available where CuPy and a device are."""

    name = "cupy"
    array_types = ("cupy:ndarray",)
    is_accelerator = True

    def __init__(self) -> None:
        super().__init__()
        self._devices: dict[int, Device] = {}

    # Every operation asks for these two.

    @cached_property
    def xp(self) -> ModuleType:  # type: ignore[override]
        return library.require()

    @cached_property
    def multi_device(self) -> bool:  # type: ignore[override]
        """Whether this machine has several, so that the current one may be the wrong one."""
        return self.xp.cuda.runtime.getDeviceCount() > 1

    def unavailable_reason(self) -> str | None:
        return library.find()[1]

    def devices(self) -> Sequence[Device]:
        return [self._numbered(i) for i in range(self.xp.cuda.runtime.getDeviceCount())]

    def device(self, index: int | None = None) -> Device:
        cupy = self.xp
        if index is None:
            return self._numbered(cupy.cuda.Device().id)
        count = cupy.cuda.runtime.getDeviceCount()
        if not 0 <= index < count:
            raise ValueError(f"CUDA device {index} does not exist; there are {count}, from 0 on")
        return self._numbered(index)

    def device_of(self, array: Array) -> Device:
        return self._numbered(array.device.id)

    def _numbered(self, index: int) -> Device:
        device = self._devices.get(index)
        if device is None:  # one object for each: what every operation asks for
            device = self._devices.setdefault(index, GpuDevice.from_device_id(index))
        return device

    def use(self, device: Device) -> Array:
        if not self.multi_device:
            return nullcontext(device)
        native = self.xp.cuda.Device(device.index)
        previous = self.xp.cuda.Device().id
        native.use()
        return _restored(self.xp, previous, device)

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Array:
        with self.xp.cuda.Device(device.index):
            return self.xp.asarray(array)

    def to_host(self, array: Array) -> numpy.ndarray[Any, Any]:
        with array.device:
            return array.get()

    def copy(self, array: Array, device: Device) -> Array:
        cupy = self.xp
        with array.device:
            if array.device.id == device.index:
                return array.copy()
            source = cupy.ascontiguousarray(array)
        with cupy.cuda.Device(device.index):
            moved = cupy.empty(source.shape, source.dtype)
        copy_between_devices(cupy, source, moved)
        return moved

    def random_mark(self, device: Device) -> Any:
        with self.use(device):
            return mark(self.xp.random.get_random_state())

    def synchronize(self, device: Device) -> None:
        self.xp.cuda.Device(device.index).synchronize()


@contextmanager
def _restored(cupy: ModuleType, previous: int, device: Device) -> Iterator[Device]:
    try:
        yield device
    finally:
        cupy.cuda.Device(previous).use()


backend = CupyBackend()
