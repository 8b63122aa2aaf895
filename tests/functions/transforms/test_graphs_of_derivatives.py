"""Derivatives have a graph where they can be differentiated in turn, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import testing

X = np.array([0.5, -1.0, 2.0])
ONES = np.ones(3)


# Each transform of the function x -> F.sum(w * x ** 3), with its expected result at w = 1.
TRANSFORMS = {
    "jvp": (lambda f, x: chainer.jvp(f, (x,), (ONES,))[1], (3 * X**2).sum()),
    "vjp": (lambda f, x: chainer.vjp(f, x)[1](np.ones(()))[0], 3 * X**2),
    "hvp": (lambda f, x: chainer.hvp(f, x, ONES)[1], 6 * X),
    "per_sample_grad": (
        lambda f, x: chainer.per_sample_grad(lambda p, _: f(p), x)(np.zeros((1, 1)))[0],
        3 * X**2,
    ),
}


def cubic(w):
    return lambda x: F.sum(w * x**3)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_no_graph_without_a_variable_outside(name):
    transform, expected = TRANSFORMS[name]
    found = transform(cubic(np.ones(3)), X)
    testing.assert_allclose(found, expected)
    # vmap takes one sample out of the batch, by a function of its own.
    assert name == "per_sample_grad" or found.creator is None


@pytest.mark.parametrize("name", TRANSFORMS)
def test_by_a_parameter_that_the_function_reads(name):
    transform, expected = TRANSFORMS[name]
    w = chainer.Parameter(np.ones(3))
    found = transform(cubic(w), X)
    testing.assert_allclose(found, expected)
    (gw,) = chainer.grad([F.sum(found)], [w])
    # The results are linear in w, and w is 1.
    testing.assert_allclose(gw, 6 * X if name == "hvp" else 3 * X**2)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_by_an_argument(name):
    transform, expected = TRANSFORMS[name]
    x = chainer.Variable(X)
    found = transform(cubic(np.ones(3)), x)
    testing.assert_allclose(found, expected)
    (gx,) = chainer.grad([F.sum(found)], [x])
    testing.assert_allclose(gx, 6 * X if name != "hvp" else 6 * ONES)


def test_by_vectors():
    v = chainer.Variable(ONES.copy())
    for found, slope in (
        (chainer.jvp(cubic(np.ones(3)), (X,), (v,))[1], 3 * X**2),
        (chainer.hvp(cubic(np.ones(3)), X, v)[1], 6 * X),
    ):
        (gv,) = chainer.grad([F.sum(found)], [v])
        testing.assert_allclose(gv, slope)


def test_by_an_intermediate_variable_of_the_function():
    # A Variable that the function makes counts as one that the code outside knows.
    made = []

    def function(x):
        made.append(chainer.Variable(np.full(3, 2.0)))
        return F.sum(made[-1] * x**2)

    product = chainer.hvp(function, X, ONES)[1]
    (g,) = chainer.grad([F.sum(product)], [made[0]])
    testing.assert_allclose(g, 2 * ONES)


def test_configuration_is_kept():
    with chainer.no_backprop_mode():
        chainer.hvp(cubic(np.ones(3)), X, ONES)
        chainer.jvp(cubic(np.ones(3)), (X,), (ONES,))
        assert not chainer.config.enable_backprop

    class Failing(F.math.exponential.Exp):
        def tangents(self, moving, tangents):
            raise KeyError("rule")

    with pytest.raises(KeyError, match="rule"):
        chainer.jvp(lambda x: Failing().apply((x,))[0], (X,), (ONES,))
    assert chainer.config.enable_backprop


@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_elementwise_tangents_have_the_bits_of_gradients(shape, dtype):
    random = np.random.RandomState(0)
    x, t = (np.asarray(random.uniform(0.1, 2, shape)).astype(dtype) for _ in range(2))
    for f in (F.tanh, F.exp, F.sqrt, F.sigmoid, F.softplus, lambda x: F.elu(x - 1)):
        y, tangent = chainer.jvp(f, (x,), (t,))
        assert tangent.dtype == dtype and tangent.shape == y.shape
        assert isinstance(tangent.array, np.ndarray)
        (gradient,) = chainer.vjp(f, x)[1](t)
        np.testing.assert_array_equal(tangent.array, gradient.array)


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_means_over_the_labels_of_each_sample(shape, dtype):
    random = np.random.RandomState(0)
    x = random.randn(2, 4, shape[0], 6, *shape[1:]).astype(dtype)
    t = random.randint(-1, 6, (2, 4, *shape)).astype(np.int32)
    t[0, 0] = -1  # a sample without a label
    one = F.softmax_cross_entropy
    found = chainer.vmap(chainer.vmap(one))(x, t)
    expected = [[one(x[i, j], t[i, j]).array for j in range(4)] for i in range(2)]
    assert found.dtype == dtype
    testing.assert_allclose(found, expected, rtol=2e-3)
