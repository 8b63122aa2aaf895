"""The conformance suite on NumPy arrays."""

# ruff: noqa: F403
import pytest

from chainer.core.backend import get_device
from chainer.plugins.testing.conformance.test_backend_contract import *
from chainer.plugins.testing.conformance.test_operations import *


@pytest.fixture(scope="module")
def device():
    return get_device("@numpy")
