"""The device class of host memory, under the name that pickles of release 7 contain."""

from __future__ import annotations

from chainer.core.arrays.backend import get_backend
from chainer.core.arrays.device import Device


class CpuDevice(Device):
    """The CPU with NumPy arrays: equal to ``chainer.get_device('@numpy')``."""

    __slots__ = ()

    def __new__(cls) -> CpuDevice:
        """Creates the device; pickles of release 7 call this without ``__init__``."""
        device = object.__new__(cls)
        device.backend = get_backend("numpy")
        device.index = None
        return device

    def __init__(self) -> None:
        pass
