"""Helpers shared by the tests of the contract."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.arrays.backend import Backend, backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayLike, DTypeLike, VariableLike
from chainer.testing.array import to_host

__all__ = ["assert_equal", "assert_on_device", "devices_of_results", "values"]


def values(dtype: DTypeLike = "float32", shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Returns 0, 1, 2, ... as a NumPy array.

    Args:
        dtype: Dtype.
        shape: Shape.
    """
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)


def devices_of_results(device: Device) -> tuple[Device, ...]:
    """Returns the devices that a result computed on a device may be on.

    A backend with arrays of its own, such as iDeep, may also return arrays of its ``xp``.

    Args:
        device: The device.
    """
    base: Backend = device.backend.xp_backend
    return (device,) if base is device.backend else (device, base.device())


def assert_on_device(array: VariableLike, device: Device) -> None:
    """Raises unless an array or Variable is on a device.

    A backend with arrays of its own may also have returned an array of its ``xp``.

    Args:
        array: The array.
        device: The device.
    """
    array = array.array if isinstance(array, Variable) else array
    backend = backend_of(array)
    assert backend in (device.backend, device.backend.xp_backend), (
        f"{type(array)} is an array of backend {backend.name!r}, expected {device.backend.name!r}"
    )
    place = backend.device_of(array)
    assert place in devices_of_results(device), f"the array is on {place}, expected {device}"


def assert_equal(array: VariableLike, expected: ArrayLike, rtol: float = 0) -> None:
    """Raises unless an array or Variable has the expected values.

    Args:
        array: The array.
        expected: NumPy array or numbers.
        rtol: Relative tolerance.
    """
    np.testing.assert_allclose(to_host(array), expected, rtol=rtol, atol=0)
