"""Fixtures of the tests of the CuPy backend."""

from __future__ import annotations

import functools

import pytest

from chainer.backends.cupy import compiler
from chainer.backends.cupy.kernels import optimizers
from tests.backends.cupy import emulator


@functools.cache
def _module(name, types):
    return emulator.Module(name, types)


@pytest.fixture
def emulated(monkeypatch):
    """Lets kernels be compiled by the C++ compiler; the value is the backend to make them with."""
    if emulator.cxx() is None:
        pytest.skip("there is no C++ compiler with _Float16 and ucontext.h")
    monkeypatch.setattr(compiler, "load", _module)
    monkeypatch.setattr(optimizers.UpdateKernel, "_address", lambda self, a: emulator.address(a))
    return emulator.backend()
