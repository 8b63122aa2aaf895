"""Soft targets of softmax_cross_entropy; numbers of release 7.8.1."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.functions.loss.softmax_cross_entropy import SoftmaxCrossEntropy

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(3, 4, 2).astype("f")
T = RANDOM.uniform(size=(3, 4, 2)).astype("f")
T /= T.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, 1.9165),
        ({"soft_target_loss": "kl-divergence"}, 0.697),
        ({"normalize": False}, 1.9165),
        ({"class_weight": np.arange(1, 5, dtype="f")}, 1.9165),
        ({"ignore_label": 0}, 1.9165),
        ({"cache_score": False}, 1.9165),
    ],
)
def test_numbers(arguments, expected):
    loss = F.softmax_cross_entropy(X, T, **arguments)
    assert (loss.dtype, loss.shape) == (np.float32, ())
    np.testing.assert_allclose(loss.array, expected, atol=1e-4)


def test_losses_of_single_samples():
    losses = F.softmax_cross_entropy(X, T, reduce="no").array
    expected = [1.4557, 2.1313, 1.4069, 1.816, 2.926, 1.7629]
    np.testing.assert_allclose(losses.ravel(), expected, atol=1e-4)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("double", [True, False])
def test_gradients(cache, double):
    x, t = Variable(X), Variable(T)
    loss = F.softmax_cross_entropy(x, t, cache_score=cache, enable_double_backprop=double)
    loss.grad = np.array(2, np.float32)
    loss.backward(enable_double_backprop=double)
    expected = [0.03593833, -0.03525104, 0.04744301, 0.17551301, 0.02242557]
    np.testing.assert_allclose(x.grad.ravel()[:5], expected, rtol=1e-5)
    assert t.grad is None


@pytest.mark.parametrize("dtypes", ["ef", "ed", "fe", "fd", "ee", "ff"])
def test_dtypes(dtypes):
    x = Variable(X.astype(dtypes[0]))
    loss = F.softmax_cross_entropy(x, T.astype(dtypes[1]))
    assert loss.dtype == np.result_type(x.dtype, np.dtype(dtypes[1]))
    loss.backward()
    assert x.grad.dtype == dtypes[0]


def test_without_targets():
    """Rows of zeros have no loss and no gradient; release 7 pulls them away from all classes."""
    x, t = Variable(X[:, :, 0]), T[:, :, 0].copy()
    t[1] = 0
    F.softmax_cross_entropy(x, t).backward()
    assert not x.grad[1].any()
    assert x.grad[0].any()


def test_gradient_of_the_gradient_does_not_need_the_flag():
    found = []
    for flag in (False, True):
        x = Variable(X)
        loss = F.softmax_cross_entropy(x, T, enable_double_backprop=flag)
        (gx,) = chainer.grad([loss], [x], enable_double_backprop=True)
        found.append(chainer.grad([F.sum(gx * gx)], [x])[0].array)
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-7)


def test_order_of_arguments():
    arguments = (True, True, None, -1, "mean", False, "kl-divergence")
    expected = F.softmax_cross_entropy(X, T, soft_target_loss="kl-divergence").array
    assert F.softmax_cross_entropy(X, T, *arguments).array == expected
    function = SoftmaxCrossEntropy(True, True, None, -1, "mean", "kl-divergence")
    assert function.apply((X, T))[0].array == expected


def test_attributes():
    node = F.softmax_cross_entropy(Variable(X), T).creator
    assert (node.soft_target, node.soft_target_loss, node.eps) == (True, "cross-entropy", 1e-7)
    np.testing.assert_allclose(node.y.sum(axis=1), 1, rtol=1e-6)
    labels = F.softmax_cross_entropy(Variable(X[:, :, 0]), np.zeros(3, "i")).creator
    assert not labels.soft_target
