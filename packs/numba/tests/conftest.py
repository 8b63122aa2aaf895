"""Small arrays reach the kernels, and random numbers are the same each time."""

from __future__ import annotations

import zlib
from importlib.util import find_spec

import chainer
import pytest

from chainer_numba import supports


@pytest.fixture(autouse=True)
def repeatable_randomness(request):
    """Seeds all generators by the name of the test: what fails once, fails again."""
    chainer.utils.seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def any_size(monkeypatch):
    """Kernels serve arrays of any size; the choices made meanwhile are forgotten."""
    for kind in supports.MIN_ELEMENTS:
        monkeypatch.setitem(supports.MIN_ELEMENTS, kind, 0)
    forget()
    yield
    forget()


def forget():
    from chainer_numba.pack import KERNELS

    for name in installed(KERNELS):
        chainer.kernel.get_operation(name)._forget()


def installed(names):
    """Names of operations that are here: one belongs to chainer-models."""
    return sorted(set(names) - (set() if find_spec("chainer_models") else {"packed_product"}))


@pytest.fixture
def with_numba():
    with chainer.using_config("kernels", ("numba",)):
        yield


@pytest.fixture
def use_threads(monkeypatch):
    """A function that sets the number of threads; pieces may then be small."""

    from chainer_numba import launching

    def use(count):
        monkeypatch.setattr(launching.config, "NUMBA_NUM_THREADS", count)
        monkeypatch.setattr(launching, "ELEMENTS_OF_THREAD", 64)

    return use
