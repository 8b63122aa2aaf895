"""Accuracy and extremes of the activation functions."""

import math

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.blocks import BLOCK_SIZE

NAMES = ["gelu", "silu", "mish", "hard_swish"]


def _exact_gelu(x):
    return np.array([v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x.astype(float)])


def test_gelu_is_exact_in_float32():
    x = np.linspace(-9, 9, 20001, dtype=np.float32)
    np.testing.assert_allclose(F.gelu(x).array, _exact_gelu(x), rtol=2e-7, atol=4e-7)


def test_gelu_is_accurate_where_it_vanishes():
    x = np.linspace(-4, -0.1, 1001, dtype=np.float32)
    np.testing.assert_allclose(F.gelu(x).array, _exact_gelu(x), rtol=5e-6)


def test_gelu_is_exact_in_float64():
    x = np.linspace(-9, 9, 201)
    np.testing.assert_allclose(F.gelu(x).array, _exact_gelu(x), rtol=1e-13)


def test_gelu_approximation_is_near():
    x = np.linspace(-5, 5, 1001, dtype=np.float32)
    difference = np.abs(F.gelu(x).array - F.gelu(x, approximate=True).array)
    assert 1e-4 < difference.max() < 1e-3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_far_away_it_is_relu(name, dtype):
    x = chainer.Variable(np.array([-6e4, -1e3, -100, 100, 1e3, 6e4], dtype))
    y = getattr(F, name)(x)
    np.testing.assert_allclose(y.array, np.maximum(x.array, 0), atol=1e-30)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(x.grad, [0, 0, 0, 1, 1, 1], atol=1e-30)


@pytest.mark.parametrize("name", NAMES)
def test_nan_stays(name):
    assert np.isnan(getattr(F, name)(np.array([np.nan], "f")).array).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_blocks_are_joined(name, dtype):
    function = getattr(F, name)
    array = np.random.default_rng(0).uniform(-4, 4, (3, BLOCK_SIZE // 2)).astype(dtype)
    x = chainer.Variable(array)
    y = function(x)
    y.grad = np.ones_like(array)
    y.backward()
    for row, values, slopes in zip(array, y.array, x.grad, strict=True):
        part = chainer.Variable(row)
        whole = function(part)
        whole.grad = np.ones_like(row)
        whole.backward()
        np.testing.assert_array_equal(values, whole.array)
        np.testing.assert_array_equal(slopes, part.grad)


@pytest.mark.parametrize("name", NAMES)
def test_same_without_graph(name):
    x = np.linspace(-4, 4, 33, dtype=np.float32)
    y = getattr(F, name)(chainer.Variable(x)).array
    with chainer.no_backprop_mode():
        np.testing.assert_allclose(getattr(F, name)(x).array, y, rtol=1e-6, atol=1e-7)


def test_gradient_of_third_order():
    x = chainer.Variable(np.array([-1.0, 0.5, 2.0]))
    y = F.silu(x)
    for _ in range(3):
        (y,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    step = 1e-3
    h = [F.silu(x.array + k * step).array for k in (-2, -1, 1, 2)]
    expected = (h[3] - 2 * h[2] + 2 * h[1] - h[0]) / (2 * step**3)
    np.testing.assert_allclose(y.array, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (7, 5), (64, 33)])
def test_the_gradient_of_tanh_has_the_bits_of_release_7(dtype, shape):
    """With and without a graph, and in a captured step."""
    random = np.random.RandomState(0)
    x, gy = [np.asarray(random.randn(*shape) * 3, dtype) for _ in range(2)]

    def gradient(x, gy, graph):
        x = chainer.Variable(x)
        y = F.tanh(x)
        return chainer.grad([y], [x], [gy], enable_double_backprop=graph)[0].array

    y = np.tanh(x)
    expected = gy * (1 - y * y)
    step = chainer.capture(gradient)
    for found in (gradient(x, gy, False), gradient(x, gy, True), *[step(x, gy, True)] * 5):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
