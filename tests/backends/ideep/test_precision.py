"""The setting CHAINER_IDEEP_BFLOAT16."""

import warnings
from types import SimpleNamespace

import pytest

from chainer.backends.ideep import library


def chosen(able):
    """Returns the math modes set where the CPU is able to compute in bfloat16, or is not."""
    modes = []
    ops = SimpleNamespace(has_bfloat16=lambda: able)
    library.choose_precision(SimpleNamespace(ops=ops, set_math_mode=modes.append))
    return modes


def test_float32_by_default(monkeypatch):
    for value in (None, "", "0"):
        if value is None:
            monkeypatch.delenv("CHAINER_IDEEP_BFLOAT16", raising=False)
        else:
            monkeypatch.setenv("CHAINER_IDEEP_BFLOAT16", value)
        assert chosen(able=True) == []


def test_bfloat16_where_the_cpu_has_it(monkeypatch):
    monkeypatch.setenv("CHAINER_IDEEP_BFLOAT16", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chosen(able=True) == ["bfloat16"]


def test_a_warning_where_it_has_not(monkeypatch):
    monkeypatch.setenv("CHAINER_IDEEP_BFLOAT16", "1")
    with pytest.warns(RuntimeWarning, match="no instructions for bfloat16"):
        assert chosen(able=False) == []
