"""Every test draws the same random numbers each time."""

import zlib

import numpy
import pytest


@pytest.fixture(autouse=True)
def repeatable_randomness(request):
    """Seeds NumPy's global generator by the name of the test: what fails once, fails again."""
    numpy.random.seed(zlib.crc32(request.node.nodeid.encode()))
