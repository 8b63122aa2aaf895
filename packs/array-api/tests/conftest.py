"""The backends under test, and the same random numbers each time."""

from __future__ import annotations

import importlib.util
import zlib

import chainer
import pytest

LIBRARIES = {"array_api_strict": "array_api_strict", "torch": "torch"}


@pytest.fixture(autouse=True)
def repeatable_randomness(request):
    """Seeds all generators by the name of the test: what fails once, fails again."""
    chainer.utils.seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def need():
    """A function that skips the test if the library of a backend is missing."""

    def check(name: str) -> None:
        if importlib.util.find_spec(LIBRARIES[name]) is None:
            pytest.skip(f"{LIBRARIES[name]} is not installed")

    return check


@pytest.fixture(params=sorted(LIBRARIES))
def device(request, need):
    """The first device of each backend whose library is installed."""
    need(request.param)
    return chainer.get_device(f"@{request.param}")


@pytest.fixture
def backend(device):
    return device.backend


@pytest.fixture
def xp(device):
    return device.xp
