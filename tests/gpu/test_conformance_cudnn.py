"""The rows of the conformance suite that cuDNN may serve, with cuDNN and without."""

# ruff: noqa: F403
import pytest

from chainer.backends.cupy.cudnn import library
from chainer.core.config.configuration import using_config
from chainer.testing.conformance.test_operations import *
from tests.gpu import place

pytestmark = [
    pytest.mark.cudnn,
    pytest.mark.skipif(not place.ON_GPU, reason="cuDNN works on CUDA devices"),
]


@pytest.fixture(params=["always", "never"], autouse=True)
def _use_cudnn(request):
    if request.param == "always" and library.missing():
        pytest.skip(library.missing())
    with using_config("use_cudnn", request.param):
        yield
