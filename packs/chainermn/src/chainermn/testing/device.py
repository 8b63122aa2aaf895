"""Devices for tests."""

from __future__ import annotations

from typing import Any

import chainer


def get_device(device_id: int | None = None, use_chainerx: bool = False) -> Any:
    """Returns a device for a test.

    Args:
        device_id (int): Number of a GPU, or None for the CPU.
        use_chainerx (bool): Whether a device of ChainerX is wanted; there is none in this release.

    Returns:
        chainer.backend.Device: The device.
    """
    if use_chainerx:
        return chainer.get_device("native:0" if device_id is None else f"cuda:{device_id}")
    return chainer.get_device("@numpy" if device_id is None else f"@cupy:{device_id}")
