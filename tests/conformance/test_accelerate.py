"""The conformance suite on NumPy arrays with ``accelerate='auto'``: iDeep and Numba together."""

# ruff: noqa: F403
import numpy as np
import pytest

import chainer
from chainer.backends import intel64
from chainer.backends.ideep.kernels import _checks
from chainer.core.arrays.acceleration import SpeedupBySize
from chainer.core.arrays.backend import get_device
from chainer.core.arrays.kernel import get_operation
from chainer.core.config.configuration import using_config
from chainer.core.registry import registries
from chainer.testing.conformance.test_contract_arrays import *
from chainer.testing.conformance.test_contract_backend import *
from chainer.testing.conformance.test_contract_capture import *
from chainer.testing.conformance.test_contract_kernels import *
from chainer.testing.conformance.test_contract_threads import *
from chainer.testing.conformance.test_contract_training import *
from chainer.testing.conformance.test_contract_variables import *
from chainer.testing.conformance.test_operations import *

#: The suites of iDeep and of Numba alone run all dtypes.
QUICK = True

supports = pytest.importorskip("chainer_numba.supports")

pytestmark = [
    # The suites of iDeep and of Numba alone run all layouts as well. Here it matters which of the
    # two is chosen: by the operation and by shapes, and for some operations by the layout.
    pytest.mark.sampled(4, always={"layout": "contiguous"}),
    pytest.mark.ideep,
    pytest.mark.skipif(not intel64.is_ideep_available(), reason="ideep4py is not available"),
]


@pytest.fixture(scope="module")
def device():
    return get_device("@numpy")


@pytest.fixture(autouse=True, scope="module")
def _accelerate():
    """Providers serve arrays of any size: by the measured sizes, few calls of tests are theirs."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in supports.MIN_ELEMENTS:
            patch.setitem(supports.MIN_ELEMENTS, kind, 0)
        for name in ("SMALL_PRODUCT", "SMALL_ARRAY", "SMALL_SCORES"):
            patch.setattr(_checks, name, 0)
        patch.setattr(SpeedupBySize, "__call__", lambda self, spec: self.steps[-1][1])
        _forget()
        with using_config("accelerate", "auto"):
            yield
    _forget()


def _forget():
    """Forgets the choices of kernels, which followed other rules."""
    registries.operations.load_all()
    for name in registries.operations.names():
        get_operation(name)._forget()


def test_both_providers_serve():
    x = chainer.Variable(np.ones((2, 4, 6, 6), "f"))
    assert chainer.explain("softplus", x, beta=1.0).chosen.provider == "numba"
    W = np.ones((4, 4, 3, 3), "f")
    assert type(chainer.functions.convolution_2d(x, W).array).__name__ == "mdarray"
