"""Activation functions far from zero, and in half precision."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable

special = pytest.importorskip("scipy.special")

POINTS = [-1000.0, -90.0, -20.0, -3.5, -1e-4, 0.0, 1e-4, 3.5, 20.0, 90.0, 1000.0]

FORMULAS = {
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(0, x),
    "elu": lambda x: np.where(x >= 0, x, np.expm1(np.minimum(x, 0))),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_relative_accuracy(name):
    x = np.array(POINTS)
    expected = FORMULAS[name](x)
    for dtype, rtol in (("f", 1e-5), ("d", 1e-12)):
        y = getattr(F, name)(x.astype(dtype)).array
        representable = abs(expected) > np.finfo(dtype).tiny
        np.testing.assert_allclose(y[representable], expected[representable], rtol=rtol)
        assert np.isfinite(y).all()


@pytest.mark.parametrize("gradient", [np.inf, np.nan])
def test_clipped_relu_lets_no_gradient_through_where_it_is_clipped(gradient):
    x = Variable(np.array([-1, 0, 2, 3, np.nan], "f"))
    y = F.clipped_relu(x, 2.0)
    np.testing.assert_array_equal(y.array, np.array([0, 0, 2, 2, np.nan], "f"))
    for recorded in (False, True):
        x.cleargrad()
        y.grad = np.full(5, gradient, "f")
        y.backward(enable_double_backprop=recorded)
        assert x.grad.tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", [*FORMULAS, "selu", "hard_sigmoid", "relu", "leaky_relu"])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_gradients_are_finite_everywhere(name, dtype):
    x = Variable(np.array(POINTS, dtype))
    y = getattr(F, name)(x)
    assert y.dtype == dtype
    y.grad = np.ones_like(y.array)
    y.backward()
    assert x.grad.dtype == dtype
    assert np.isfinite(x.grad).all()


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_softmax_of_large_scores(dtype):
    x = np.array([[1000.0, 0.0, -1000.0], [60000.0, 60000.0, 0.0]], dtype)
    np.testing.assert_array_equal(F.softmax(x).array, [[1, 0, 0], [0.5, 0.5, 0]])
    y = F.log_softmax(x).array
    assert np.isfinite(y[0]).all()
    np.testing.assert_allclose(y[0], [0, -1000, -2000])


def test_log_softmax_where_softmax_underflows():
    x = Variable(np.array([[0.0, 200.0]], "f"))
    assert F.softmax(x).array[0, 0] == 0
    assert F.log_softmax(x).array[0, 0] == -200


@pytest.mark.parametrize("slope", [-0.5, 0.0, 0.3, 1.0, 2.0])
def test_leaky_relu_of_any_slope(slope):
    x = Variable(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
    y = F.leaky_relu(x, slope)
    np.testing.assert_allclose(y.array, [-2 * slope, -slope, 0, 1, 2])
    y.grad = np.ones(5)
    y.backward()
    np.testing.assert_allclose(x.grad, [slope, slope, slope, 1, 1])


@pytest.mark.parametrize("alpha", [-1.5, 0.0, 0.5, 1.0, 3.0])
def test_elu_of_any_alpha(alpha):
    x = Variable(np.array([-2.0, -1.0, 0.0, 1.0]))
    y = F.elu(x, alpha)
    np.testing.assert_allclose(y.array, [alpha * np.expm1(-2), alpha * np.expm1(-1), 0, 1])
    y.grad = np.ones(4)
    y.backward()
    np.testing.assert_allclose(x.grad, [alpha * np.exp(-2), alpha * np.exp(-1), alpha, 1])


def test_half_precision_agrees_with_release_4():
    # Outputs of release 4.3.1; one unit in the last place is left to rounding.
    x = np.array([-3.5, -1.0, -0.5, 0.5, 1.0, 3.5], "e")
    expected = {
        "sigmoid": [0.029296875, 0.26904297, 0.37744141, 0.62255859, 0.73095703, 0.97070312],
        "softplus": [0.02975464, 0.31323242, 0.47412109, 0.97412109, 1.31347656, 3.52929688],
        "elu": [-0.96972656, -0.63232422, -0.39355469, 0.5, 1.0, 3.5],
        "selu": [-1.70410156, -1.11132812, -0.69140625, 0.52539062, 1.05078125, 3.67773438],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(F, name)(x).array, values, rtol=2e-3)
