"""Tests import the modules beside them; the configuration is left as it is."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def evaluating():
    """Dropout is off."""
    import chainer

    with chainer.using_config("train", False):
        yield
