"""Sums over short axes have the bits of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer.backends.numpy import short_sums


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((300, 2), 1),
        ((300, 7), -1),
        ((24, 24, 3), 2),
        ((24, 24, 16), 1),
        ((24, 24, 3), 1),
        ((9, 40, 3, 4), 1),
        ((9, 15, 2, 4), 2),
    ],
)
def test_bits_are_those_of_numpy(shape, axis, dtype):
    random = np.random.RandomState(0)
    x = (random.standard_normal(shape) * 10.0 ** random.randint(-5, 5, shape)).astype(dtype)
    x[random.rand(*shape) < 0.3] = -0.0
    x[:5] = -0.0
    x.flat[[-1, -50]] = np.inf, np.nan
    expected = x.sum(axis=axis)
    y = short_sums.short_sum(x, axis % x.ndim)
    assert y is not None
    assert y.dtype == dtype
    np.testing.assert_array_equal(np.signbit(y), np.signbit(expected))
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(F.sum(x, axis).array, expected)
    kept = F.sum(x, axis, keepdims=True)
    np.testing.assert_array_equal(kept.array, x.sum(axis=axis, keepdims=True))


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((3, 300), 0), ((300, 8), 1), ((30, 3), 1), ((30, 30, 17), 1), ((600, 1), 1)],
)
def test_other_sums_are_left_to_numpy(shape, axis):
    assert short_sums.short_sum(np.ones(shape, "f"), axis) is None


def test_other_dtypes_and_layouts_are_left_to_numpy():
    assert short_sums.short_sum(np.ones((300, 3), "e"), 1) is None
    assert short_sums.short_sum(np.ones((300, 3), "i"), 1) is None
    assert short_sums.short_sum(np.ones((3, 300), "f").T, 1) is None
    assert F.sum(np.ones((300, 3), "e"), 1).dtype == np.float16
