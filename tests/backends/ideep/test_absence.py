"""A machine without ideep4py: everything runs on NumPy, and errors say what is missing."""

import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import intel64
from chainer.backends.ideep import library
from chainer.core.registry import registries
from chainer.utils import install_command


@pytest.fixture(autouse=True)
def absent(monkeypatch):
    reason = f"No module named 'ideep4py'; install it with {install_command('chainer[ideep]')}"
    monkeypatch.setattr(library, "find", lambda: (None, reason))
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget():
    """Lets operations look anew at what is there."""
    for name in registries.operations.names():
        registries.operations.get(name)._forget()


def test_is_not_available():
    assert not intel64.is_ideep_available()
    with pytest.raises(RuntimeError, match=re.escape(install_command("chainer[ideep]"))):
        intel64.check_ideep_available()
    assert not intel64.should_use_ideep(">=auto")


def test_auto_computes_on_numpy():
    with chainer.using_config("use_ideep", "auto"):
        y = F.relu(np.ones((3, 3), "f"))
        assert "No module named 'ideep4py'" in str(chainer.explain("relu", y.array))
    assert type(y.array) is np.ndarray


def test_always_is_refused():
    with (
        chainer.using_config("use_ideep", "always"),
        pytest.raises(RuntimeError, match="demands provider 'ideep'.*No module named"),
    ):
        F.relu(np.ones((3, 3), "f"))


def test_moves_are_refused():
    with pytest.raises(RuntimeError, match="No module named 'ideep4py'"):
        chainer.Variable(np.ones(3, "f")).to_intel64()
    with pytest.raises(RuntimeError, match="No module named 'ideep4py'"):
        L.Linear(3, 2).to_intel64()
    with pytest.raises(RuntimeError, match="'@ideep' is not available"):
        chainer.get_device("@ideep")
