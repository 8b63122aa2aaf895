"""Where the tests of this folder run: on the first CUDA device.

``CHAINER_GPU_TESTS_ON`` names another device. ``@strict:0`` (see ``tests/strict_backend``) tries
the tests themselves where no GPU is.
"""

from __future__ import annotations

import os

import numpy as np

from chainer.core.arrays.backend import get_backend, get_device
from chainer.testing import attr

NAME = os.environ.get("CHAINER_GPU_TESTS_ON", "@cupy:0")
ON_GPU = NAME.startswith("@cupy")
HOST = get_device("@numpy")


def reason_to_skip() -> str | None:
    """Returns why the tests of this folder cannot run here, or None."""
    if not ON_GPU:
        return None
    reason = get_backend("cupy").unavailable_reason()
    if reason is None and attr.gpu_limit() < 1:
        reason = f"CHAINER_TEST_GPU_LIMIT is {attr.gpu_limit()}"
    return None if reason is None else f"needs a GPU: {reason}"


def device():
    """Returns the device under test."""
    return get_device(NAME)


def to_host(array) -> np.ndarray:
    """Copies an array to the host."""
    return np.array(HOST.send(array))
