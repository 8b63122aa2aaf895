"""The namespace that the array API test suite imports: that of the device under test.

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
    return getattr(get_device(os.environ[DEVICE]).backend.xp, name)
