"""Reductions: ties, zeros, large numbers."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable, gradient_check
from chainer.functions.math.sum import SumTo
from chainer.utils.type_check import InvalidType


def test_maximum_shares_its_gradient_among_equals():
    # Each gets the whole gradient, as in release 4.3.1.
    x = Variable(np.array([[1.0, 1.0, 0.0]]))
    F.max(x).backward()
    np.testing.assert_array_equal(x.grad, [[1, 1, 0]])
    x = Variable(np.array([[1.0, 0.0, 0.0]]))
    F.sum(F.min(x, axis=1)).backward()
    np.testing.assert_array_equal(x.grad, [[0, 1, 1]])


def test_argmax_is_int32_without_gradient():
    x = Variable(np.array([[1.0, 3.0], [4.0, 2.0]], "f"))
    y = F.argmax(x, axis=1)
    assert y.dtype == np.int32
    np.testing.assert_array_equal(y.array, [1, 0])
    assert F.argmin(x).array == 0
    F.sum(F.cast(y, "f") * x[:, 0]).backward()
    np.testing.assert_array_equal(x.grad, [[1, 0], [0, 0]])  # none by way of the index


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_gradient_of_a_product_with_zeros(axis):
    values = np.array([[2.0, 0.0, 3.0], [4.0, 5.0, 6.0], [0.0, 7.0, 0.0]])
    x = Variable(values)
    y = F.prod(x, axis=axis)
    gradient = y.grad = np.ones_like(y.array)
    y.backward()
    expected = np.empty_like(values)
    for index in np.ndindex(values.shape):
        bumped = values.copy()
        bumped[index] = 1.0
        lowered = values.copy()
        lowered[index] = 0.0
        expected[index] = (np.prod(bumped, axis) - np.prod(lowered, axis)).sum()
    np.testing.assert_allclose(x.grad, expected)
    (again,) = chainer.grad([y], [x], [Variable(gradient)], enable_double_backprop=True)
    np.testing.assert_allclose(again.array, expected)


def test_gradient_of_a_product_that_underflows():
    x = Variable(np.array([1e-30, 1e-20, 2.0], "f"))
    F.prod(x).backward()
    np.testing.assert_allclose(x.grad, np.array([2e-20, 2e-30, 0.0], "f"), rtol=1e-5)


def test_logsumexp_stays_finite():
    x = Variable(np.array([[1e4, 1e4], [-1e4, -1e4]]))
    y = F.logsumexp(x, axis=1)
    np.testing.assert_allclose(y.array, [1e4 + np.log(2), -1e4 + np.log(2)])
    y.grad = np.ones(2)
    y.backward()
    np.testing.assert_allclose(x.grad, [[0.5, 0.5], [0.5, 0.5]])


def test_sum_of_large_arrays_hands_out_a_gradient_of_its_own():
    x = Variable(np.ones((100, 100), "f"))
    F.sum(x).backward()
    x.grad[0, 0] = 5
    assert x.grad[0, 1] == 1
    assert x.grad.sum() == 10004


def test_sum_to_is_the_opposite_of_broadcasting():
    x = Variable(np.arange(6, dtype="f").reshape(2, 3))
    assert F.sum_to(x, (2, 3)) is x
    np.testing.assert_array_equal(F.sum_to(x, (1, 3)).array, [[3, 5, 7]])
    np.testing.assert_array_equal(F.sum_to(x, (3,)).array, [3, 5, 7])
    np.testing.assert_array_equal(F.sum_to(x, (2, 1)).array, [[3], [12]])


@pytest.mark.parametrize("shape", [(1, 3), (3,), (2, 1), ()])
def test_gradient_of_a_subtrahend_is_a_negative_sum(shape):
    rng = np.random.RandomState(0)
    x, gy, ggx = rng.randn(2, 3), rng.randn(2, 3), rng.randn(*shape)
    ggx = np.asarray(ggx)
    (y,) = SumTo(shape, is_negative=True).apply((x,))
    np.testing.assert_array_equal(y.array, F.sum_to(-x, shape).array)

    def function(x):
        return SumTo(shape, is_negative=True).apply((x,))[0]

    gradient_check.check_backward(function, x, ggx, dtype="d")
    gradient_check.check_double_backward(function, x, ggx, gy, dtype="d")


def test_sums_over_other_axes_are_checked():
    # A passed check is remembered with the axes, and not for other ones.
    x = np.ones((2, 3), "f")
    for _ in range(3):
        assert F.sum(x, axis=1).shape == (2,)
        with pytest.raises(InvalidType):
            F.sum(x, axis=2)
        with chainer.no_backprop_mode(), pytest.raises(InvalidType):
            F.sum(x, axis=2)


@pytest.mark.parametrize("dtype", "efd")
def test_mean_is_an_array_without_axes(dtype):
    x = Variable(np.array([1, 2], dtype))
    y = F.mean(x)
    assert type(y.array) is np.ndarray
    assert y.dtype == dtype
    assert y.array == 1.5
    y.backward()
    np.testing.assert_array_equal(x.grad, np.array([0.5, 0.5], dtype))


def test_mean_of_half_precision_does_not_overflow():
    x = np.full((4096,), 100, "e")
    assert F.mean(x).array == 100
