"""What the tests of the contract share."""

# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np

from chainer.core.arrays.backend import Backend, backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.variable import Variable
from chainer.testing.array import to_host

__all__ = ["assert_at_home", "assert_equal", "homes", "values"]


def values(dtype: Any = "float32", shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Returns 0, 1, 2, ... as a NumPy array.

    Args:
        dtype: Dtype.
        shape: Shape.
    """
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)


def homes(device: Device) -> tuple[Device, ...]:
    """Returns where arrays sent to a device may be: there, or where its plain arrays are.

    Args:
        device: The device.
    """
    plain: Backend = device.backend.xp_backend
    return (device,) if plain is device.backend else (device, plain.device())


def assert_at_home(array: Any, device: Device) -> None:
    """Raises unless an array or Variable is on a device, or a plain array that stands for such.

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
    assert place in homes(device), f"the array is on {place}, expected {device}"


def assert_equal(array: Any, expected: Any, rtol: float = 0) -> None:
    """Raises unless an array or Variable has the expected values.

    Args:
        array: The array.
        expected: NumPy array or numbers.
        rtol: Relative tolerance.
    """
    np.testing.assert_allclose(to_host(array), expected, rtol=rtol, atol=0)
