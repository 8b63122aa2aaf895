"""Tests of arrays and devices that both the forward and the backward computation need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.arrays.extended_dtypes import kind_of

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.typing import Array


def has_nan(array: Array | None) -> bool:
    """Returns whether a floating-point or complex array contains NaN."""
    if array is None or getattr(array, "dtype", None) is None or kind_of(array.dtype) not in "fc":
        return False
    backend = find_backend(array.__class__)
    if backend is None:
        return bool(numpy.isnan(array).any())
    return bool(backend.xp.isnan(backend.to_xp(array)).any())


def is_current(device: Device) -> bool:
    """Returns whether a device is the current one of its backend."""
    current = device.backend.device()
    return current is device or current == device
