"""The setting CHAINER_IDEEP_BFLOAT16."""

import warnings
from types import SimpleNamespace

import pytest

from chainer.backends.ideep import library


def chosen(able):
    """Returns the math modes set where the CPU is able to compute in bfloat16, or is not."""
    modes = []

    def set_math_mode(mode):
        if not able:
            raise RuntimeError("this CPU has no instructions for bfloat16")
        modes.append(mode)

    library.choose_precision(SimpleNamespace(set_math_mode=set_math_mode))
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


def test_the_package_obeys_or_warns(monkeypatch):
    monkeypatch.setenv("CHAINER_IDEEP_BFLOAT16", "1")
    ideep4py = library.require()
    before = ideep4py.get_math_mode()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            library.choose_precision(ideep4py)
        assert (ideep4py.get_math_mode() == "bfloat16") == (not caught)
    finally:
        ideep4py.set_math_mode(before)
