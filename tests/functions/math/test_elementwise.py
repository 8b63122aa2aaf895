"""Elementwise functions where their formula is subtle."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable


@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_fmod_is_that_of_numpy(size, dtype):
    random = np.random.default_rng(0)
    x = (random.standard_normal(size) * 100).astype(dtype)
    divisor = (random.standard_normal(size) * 3).astype(dtype)
    x[:2] = divisor[:2] * 4
    y = F.fmod(x, divisor).array
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, np.fmod(x, divisor))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.fmod(x, divisor)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fmod_of_extremes():
    x = np.array([1e30, 1.0, np.inf, 5.0, np.nan], "f")
    divisor = np.array([3.0, 0.0, 2.0, np.inf, 1.0], "f")
    np.testing.assert_array_equal(F.fmod(x, divisor).array, np.fmod(x, divisor))


def test_clip_passes_gradients_inside_the_bounds():
    x = Variable(np.array([-2.0, -1.0, 0.0, 1.0, 2.0], "f"))
    y = F.clip(x, -1.0, 1.0)
    y.grad = np.arange(1, 6, dtype="f")
    y.backward()
    np.testing.assert_array_equal(x.grad[[0, 2, 4]], [0, 3, 0])


@pytest.mark.parametrize("name", ["floor", "ceil", "fix", "sign"])
def test_rounding_leaves_the_graph(name):
    y = getattr(F, name)(Variable(np.array([-1.5, 0.5, 2.0], "f")))
    assert y.creator is None
    assert not y.requires_grad
    assert getattr(F, name)(np.arange(3)).dtype == np.arange(3).dtype


def test_maximum_of_equal_elements():
    # One of the two gets the gradient, not both.
    x, y = Variable(np.ones(3, "f")), Variable(np.ones(3, "f"))
    F.sum(F.maximum(x, y)).backward()
    np.testing.assert_array_equal(x.grad + y.grad, np.ones(3))


def test_absolute_has_no_slope_at_zero():
    x = Variable(np.array([-2.0, 0.0, 3.0], "f"))
    F.sum(abs(x)).backward()
    np.testing.assert_array_equal(x.grad, [-1, 0, 1])


def test_erf_of_large_numbers():
    x = np.array([-30.0, -6.0, 0.0, 6.0, 30.0])
    np.testing.assert_array_equal(F.erf(x).array[[0, 2, 4]], [-1, 0, 1])
    # erfc(6), to the digits of double precision.
    np.testing.assert_allclose(F.erfc(x).array[3], 2.1519736712498913e-17, rtol=1e-12)
