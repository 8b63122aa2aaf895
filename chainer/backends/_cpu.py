"""The device of host memory, under the module name that pickles of release 7 contain."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import find_backend, get_backend
from chainer.core.typing import Array, ArrayTree


def scalar_as_array(value: object) -> Any:
    """Returns a number or a text as an array without axes, and anything else unchanged.

    Args:
        value: Any object.
    """
    # numpy.isscalar is slow, and nearly all values are arrays: those are recognized first.
    if find_backend(value.__class__) is None and numpy.isscalar(value):
        return numpy.asarray(value)
    return value


class CpuDevice(Device):
    """The CPU with NumPy arrays, ``@numpy``; all instances are equal.

    Example:
        >>> device = chainer.backend.CpuDevice()
        >>> device == chainer.get_device("@numpy")
        True
        >>> device.send(np.arange(1, 3))
        array([1, 2])
    """

    def __new__(cls) -> CpuDevice:
        # Not in __init__, which unpickling an object of release 7 does not call.
        device = object.__new__(cls)
        device.backend = get_backend("numpy")
        return device

    def __init__(self) -> None:
        pass

    @staticmethod
    def from_array(array: object) -> CpuDevice | None:
        """Returns the device of a NumPy array, and None for any other object.

        Args:
            array: Any object.
        """
        return CpuDevice() if isinstance(array, numpy.ndarray) else None

    def send_array(self, array: Array) -> Array:
        """Moves an array to host memory; numbers and texts become arrays without axes.

        Args:
            array: The array.
        """
        return super().send_array(scalar_as_array(array))

    def create_context(self) -> AbstractContextManager[Any]:
        """Returns a context manager that does nothing: there is one device only."""
        return nullcontext(self)

    def __repr__(self) -> str:
        return "<CpuDevice (numpy)>"


def _to_cpu(arrays: ArrayTree) -> Any:
    """Moves arrays to host memory. Programs of release 7 call it by this name."""
    return CpuDevice().send(arrays)


def _array_to_cpu(array: Array) -> Any:
    """Moves one array, which may be None, to host memory."""
    return None if array is None else CpuDevice().send_array(array)
