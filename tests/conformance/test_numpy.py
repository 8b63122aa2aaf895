"""The conformance suite on NumPy arrays."""

# ruff: noqa: F403
import pytest

from chainer.core.arrays.backend import get_device
from chainer.testing.conformance.test_contract_arrays import *
from chainer.testing.conformance.test_contract_backend import *
from chainer.testing.conformance.test_contract_capture import *
from chainer.testing.conformance.test_contract_devices import *
from chainer.testing.conformance.test_contract_kernels import *
from chainer.testing.conformance.test_contract_threads import *
from chainer.testing.conformance.test_contract_training import *
from chainer.testing.conformance.test_contract_transfers import *
from chainer.testing.conformance.test_contract_variables import *
from chainer.testing.conformance.test_operations import *
from chainer.testing.conformance.test_transforms import *

# Kernels of NumPy see all layouts in the tests of each function.
pytestmark = pytest.mark.sampled(3, always={"layout": "contiguous"})


@pytest.fixture(scope="module")
def device():
    return get_device("@numpy")
