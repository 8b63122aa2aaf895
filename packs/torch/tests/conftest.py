"""Tests import the modules beside them; those that need PyTorch say how to get it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def torch():
    """PyTorch, or a skipped test where it is missing."""
    return pytest.importorskip(
        "torch", reason="PyTorch is not installed; pip install torch, then make test-torch"
    )


@pytest.fixture
def evaluating():
    """Dropout is off, and batch normalization uses running statistics."""
    import chainer

    with chainer.using_config("train", False):
        yield
