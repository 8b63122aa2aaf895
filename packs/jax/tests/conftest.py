"""The device under test; compiled programs are dropped after each module."""

from __future__ import annotations

import zlib

import chainer
import pytest


@pytest.fixture(autouse=True)
def repeatable_randomness(request):
    """Seeds all generators by the name of the test: what fails once, fails again."""
    chainer.utils.seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="module", autouse=True)
def empty_caches():
    """JAX keeps each compiled program: gigabytes after many tests."""
    yield
    import jax

    jax.clear_caches()


@pytest.fixture
def device():
    return chainer.get_device("@jax:0")


@pytest.fixture
def backend(device):
    return device.backend


@pytest.fixture
def xp(device):
    return device.xp
