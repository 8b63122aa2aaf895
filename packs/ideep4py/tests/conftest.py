"""Fixtures: arrays of random numbers, also in blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ideep4py
from ideep4py import ops
from ideep4py._core import layout as L


@pytest.fixture
def normal() -> Callable[..., np.ndarray]:
    """Standard normal float32 arrays of a given shape, the same in every run."""
    random = np.random.default_rng(7)

    def make(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, dtype=np.float32)

    return make


@pytest.fixture
def blocked(normal: Callable[..., np.ndarray]) -> Callable[..., ideep4py.mdarray]:
    """Arrays in the layout that a convolution chooses."""

    def make(*shape: int) -> ideep4py.mdarray:
        channels = shape[1]
        kernel = (1,) * (len(shape) - 2)
        weights = normal(channels, channels, *kernel)
        return ops.convolution(normal(*shape), weights)

    return make


def channels_last(array: ideep4py.mdarray) -> ideep4py.mdarray:
    """The array with axis 1 innermost, without blocks, as oneDNN chooses it on some CPUs."""
    n, c, *size = array.shape
    steps = L.row_major_strides((n, *size, c))
    return ops.reorder(array, L.strided(array.shape, (steps[0], 1, *steps[1:-1])))


def elements(array: ideep4py.mdarray) -> np.ndarray:
    """The elements, without changing the layout of the array."""
    return np.array(array.copy())
