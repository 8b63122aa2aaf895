"""The backend: what Chainer has to know of strict arrays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy

from chainer.core.arrays.backend import Backend
from chainer.core.arrays.device import Device
from chainer_strict_backend import current, namespace
from chainer_strict_backend.array import ndarray
from chainer_strict_backend.transfers import note


class StrictBackend(Backend):
    """Arrays of class :class:`chainer_strict_backend.ndarray` on two devices."""

    name = "strict"
    array_types = (ndarray,)
    is_accelerator = True

    @property
    def xp(self) -> ModuleType:
        return namespace

    def devices(self) -> Sequence[Device]:
        return tuple(Device(self, index) for index in range(current.COUNT))

    def device(self, index: int | None = None) -> Device:
        index = current.get() if index is None else index
        if not 0 <= index < current.COUNT:
            raise ValueError(f"there is no device '@strict:{index}', only 0 to {current.COUNT - 1}")
        return Device(self, index)

    def device_of(self, array: Any) -> Device:
        return Device(self, array.device_index)

    def use(self, device: Device) -> AbstractContextManager[Any]:
        return current.use(device.index or 0)

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> ndarray:
        note("to_device")
        return ndarray(array.copy(), device.index or 0)

    def to_host(self, array: Any) -> numpy.ndarray[Any, Any]:
        note("to_host")
        return array._host.copy()

    def copy(self, array: Any, device: Device) -> ndarray:
        if array.device_index != device.index:
            note("between_devices")
        return ndarray(array._host.copy(), device.index or 0)

    # States are in host memory, which functions of the namespace refuse.

    def random_state(self, device: Device) -> Any:
        return namespace.random._source.get_state(legacy=False)

    def set_random_state(self, state: Any, device: Device) -> None:
        namespace.random._source.set_state(state)


backend = StrictBackend()
