"""The device of iDeep (public name ``chainer.backend.Intel64Device``)."""

from __future__ import annotations

import numpy

from chainer.backends._cpu import scalar_as_array
from chainer.backends.ideep import library
from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import get_backend
from chainer.core.typing import Array


class Intel64Device(Device):
    """The CPU with arrays of oneDNN, ``@intel64``; all instances are equal.

    NumPy arrays are on this device as well: those that oneDNN has no layout for stay as they are.

    Raises:
        RuntimeError: If iDeep is not available; the message says what is missing.

    Example:
        >>> from chainer.backends import intel64
        >>> name = "@intel64" if intel64.is_ideep_available() else "@numpy"
        >>> model = L.Linear(3, 2).to_device(name)
        >>> model(np.zeros((4, 3), np.float32)).shape
        (4, 2)
    """

    def __new__(cls) -> Intel64Device:
        # Not in __init__, which unpickling an object of release 7 does not call.
        library.require()
        device = object.__new__(cls)
        device.backend = get_backend("ideep")
        return device

    def __init__(self) -> None:
        pass

    @staticmethod
    def from_array(array: object) -> Intel64Device | None:
        """Returns the device of an mdarray, and None for any other object.

        Args:
            array: Any object.
        """
        ideep4py, _ = library.find()
        if ideep4py is None or not isinstance(array, ideep4py.mdarray):
            return None
        return Intel64Device()

    @property
    def name(self) -> str:
        """Specifier of the device: ``'@intel64'``."""
        return "@intel64"

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """Classes of the arrays of this device: ``numpy.ndarray`` and ``ideep4py.mdarray``."""
        return (numpy.ndarray, *super().supported_array_types)

    def send_array(self, array: Array) -> Array:
        """Converts an array to one of oneDNN; one that it has no layout for, to a NumPy array.

        Args:
            array: The array.
        """
        return super().send_array(scalar_as_array(array))

    def __repr__(self) -> str:
        return "<Intel64Device>"
