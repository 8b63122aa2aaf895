"""The conformance suite on NumPy arrays with ``use_ideep='always'``."""

# ruff: noqa: F403
import pytest

from chainer.backends import intel64
from chainer.core.arrays.backend import get_device
from chainer.core.config.configuration import using_config
from chainer.testing.conformance.test_operations import *

pytestmark = [
    # iDeep computes in float32; other dtypes reach the kernels that test_numpy.py tests.
    pytest.mark.sampled(6, always={"dtype": "float32", "layout": "contiguous"}),
    pytest.mark.ideep,
    pytest.mark.skipif(not intel64.is_ideep_available(), reason="ideep4py is not available"),
]


@pytest.fixture(scope="module")
def device():
    return get_device("@numpy")


@pytest.fixture(autouse=True, scope="module")
def _use_ideep():
    with using_config("use_ideep", "always"):
        yield
