"""Fixtures of the tests of the CuPy backend."""

from __future__ import annotations

import functools

import pytest

from chainer.backends.cupy import compiler, library
from chainer.backends.cupy.backend import backend
from chainer.backends.cupy.kernels import _base as base
from chainer.core.registry import registries
from tests.backends.cupy import emulator
from tests.backends.cupy.fake_cupy import FakeCupy


@functools.cache
def _module(name, types):
    return emulator.Module(name, types)


def forget_cupy():
    """Lets the backend look for CuPy again."""
    for name in ("xp", "multi_device"):
        vars(backend).pop(name, None)


@pytest.fixture
def emulated(monkeypatch):
    """Lets kernels be compiled by the C++ compiler; the value is the backend to make them with."""
    if emulator.cxx() is None:
        pytest.skip("there is no C++ compiler with _Float16 and ucontext.h")
    monkeypatch.setattr(compiler, "load", _module)
    monkeypatch.setattr(base.CudaKernel, "address", lambda self, a: emulator.address(a))
    return emulator.backend()


@pytest.fixture
def fake_cupy(emulated, monkeypatch):
    """Lets the CuPy backend work on a stand-in for CuPy with emulated kernels."""
    module = FakeCupy("cupy")
    monkeypatch.setattr(library, "find", lambda: (module, None))
    monkeypatch.setattr(library, "require", lambda: module)
    operations = [registries.operations.get(name) for name in registries.operations.names()]
    for operation in operations:  # forget kernels made before, and those made here
        monkeypatch.setattr(operation, "_tables", {})
        monkeypatch.setattr(operation, "_loaded", {})
    forget_cupy()
    yield module
    forget_cupy()
