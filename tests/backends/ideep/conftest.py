"""Everything here needs ideep4py, except the tests of its absence."""

import numpy as np
import pytest

from chainer.backends import intel64
from chainer.core.config.configuration import using_config


def pytest_collection_modifyitems(items):
    here = [item for item in items if "backends/ideep" in str(item.path)]
    for item in here:
        item.add_marker(pytest.mark.ideep)
        if not intel64.is_ideep_available() and item.path.name != "test_absence.py":
            item.add_marker(pytest.mark.skip(reason="ideep4py is not available"))


@pytest.fixture
def auto():
    with using_config("use_ideep", "auto"):
        yield


@pytest.fixture
def rng():
    return np.random.RandomState(0)
