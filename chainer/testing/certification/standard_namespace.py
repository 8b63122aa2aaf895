"""The namespace of the device under test, for the array API test suite to import.

The suite imports the module that ``ARRAY_API_TESTS_MODULE`` names. The environment variable
``CHAINER_ARRAY_API_DEVICE`` names the device.
"""

from __future__ import annotations

import os
from typing import Any

from chainer.core.arrays.backend import get_device

#: Environment variable with the name of the device.
DEVICE = "CHAINER_ARRAY_API_DEVICE"


def __getattr__(name: str) -> Any:
    device = os.environ.get(DEVICE)
    if device is None:
        raise AttributeError(f"the variable {DEVICE} must name a device to have {name!r}")
    return getattr(get_device(device).backend.xp, name)
