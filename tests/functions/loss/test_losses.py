"""Losses of single predictions: numbers of earlier releases, edges, messages."""

import numpy as np
import pytest

import chainer
from chainer import functions as F
from tests.functions.loss.loss_numbers import close, numbers

X0, X1 = numbers(2, 3, 4), numbers(3, 3, 4)
LABELS = np.array([1, 3, 0], np.int32)
BITS = np.array([[1, 0, -1, 1], [0, 0, 1, 1], [1, 1, -1, -1]], np.int32)

# Made with Chainer 7.8.1; 4.3.1 gives the same.
EARLIER = [
    ("sigmoid_cross_entropy", (X0, BITS), {}, 0.6371659),
    ("sigmoid_cross_entropy", (X0, BITS), {"normalize": False}, 1.9114977),
    ("hinge", (X0, LABELS, "L2"), {}, 5.9166665),
    ("huber_loss", (X0, X1, 1.0), {}, [1.5625, 2.25, 1.5625]),
    ("contrastive", (X0, X1, np.array([1, 0, 1], np.int32), 4), {}, 1.7477427),
    ("triplet", (X0, X1, X0[::-1]), {}, 1.7333332),
    ("cross_covariance", (X0, X1), {}, 0.9842545),
    ("decov", (X0,), {}, 0.1106771),
    ("gaussian_kl_divergence", (X0, X1), {}, 6.3722296),
    ("bernoulli_nll", (X0, X1), {}, 6.449233),
    ("gaussian_nll", (X0, X1, X0), {}, 17.844822),
    ("mean_squared_error", (X0, X1), {}, 1.03125),
    ("mean_absolute_error", (X0, X1), {}, 0.7916667),
]


@pytest.mark.parametrize(("name", "arguments", "keywords", "expected"), EARLIER, ids=str)
def test_numbers_of_earlier_releases(name, arguments, keywords, expected):
    close(getattr(F, name)(*arguments, **keywords), expected)


@pytest.mark.parametrize("name", ["mean_squared_error", "mean_absolute_error"])
def test_mean_of_nothing(name):
    x = chainer.Variable(np.zeros((0, 3), np.float32))
    loss = getattr(F, name)(x, np.zeros((0, 3), np.float32))
    assert np.isnan(loss.array)
    loss.backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("label", [0, 1])
def test_sigmoid_cross_entropy_of_half_precision_is_rounded_once(label):
    """As in 7.8.1: small losses are not differences of large numbers."""
    x = np.linspace(-3, 8, 23).astype(np.float16)
    loss = F.sigmoid_cross_entropy(x, np.full(23, label, np.int32), reduce="no").array
    d = x.astype(np.float64)
    expected = np.log1p(np.exp(-d if label else d))
    np.testing.assert_allclose(loss, expected, rtol=np.finfo(np.float16).eps)


def test_sigmoid_cross_entropy_of_large_scores():
    x = chainer.Variable(np.array([[1e4, -1e4, 1e4, -1e4]], np.float32))
    loss = F.sigmoid_cross_entropy(x, np.array([[1, 0, 0, 1]], np.int32), reduce="no")
    close(loss, [[0, 0, 1e4, 1e4]])
    loss.grad = np.ones((1, 4), np.float32)
    loss.backward()
    close(x.grad, [[0, 0, 1, -1]])


def test_softmax_cross_entropy_of_large_scores():
    x = chainer.Variable(np.array([[1e4, -1e4], [1e4, -1e4]], np.float32))
    loss = F.softmax_cross_entropy(x, np.array([0, 1], np.int32), reduce="no")
    close(loss, [0, 2e4])


@pytest.mark.parametrize("name", ["gaussian_kl_divergence", "bernoulli_nll", "gaussian_nll"])
def test_autoencoder_modes(name):
    arrays = (X0, X1, X0)[: 3 if name == "gaussian_nll" else 2]
    function = getattr(F, name)
    each = function(*arrays, reduce="no")
    assert each.shape == X0.shape
    close(function(*arrays), each.array.sum(), rtol=1e-5)
    close(function(*arrays, reduce="mean"), each.array.mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="only 'sum', 'mean' and 'no' are valid for 'reduce'"):
        function(*arrays, reduce="bad")


def test_bernoulli_nll_of_large_parameters():
    close(
        F.bernoulli_nll(np.array([1.0, 0.0, 0.5]), np.array([1e4, 1e4, -1e4]), "no"), [0, 1e4, 5e3]
    )


@pytest.mark.parametrize("margin", [0, -1])
def test_margins(margin):
    with pytest.raises(ValueError, match="margin should be positive value"):
        F.contrastive(X0, X1, np.zeros(3, "i"), margin=margin)
    with pytest.raises(ValueError, match="margin should be positive value"):
        F.triplet(X0, X1, X1, margin=margin)


@pytest.mark.parametrize("double", [False, True])
def test_contrastive_of_equal_samples(double):
    # The direction of their distance is undefined: no gradient, and no NaN.
    x0, x1 = chainer.Variable(X0), chainer.Variable(X0.copy())
    loss = F.contrastive(x0, x1, np.array([1, 0, 0], np.int32))
    close(loss, 1 / 3)
    for gradient in chainer.grad([loss], [x0, x1], enable_double_backprop=double):
        close(gradient, np.zeros_like(X0))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("absolute_error", "AbsoluteError"),
        ("squared_error", "SquaredError"),
        ("mean_squared_error", "MeanSquaredError"),
        ("mean_absolute_error", "MeanAbsoluteError"),
        ("cross_covariance", "CrossCovariance"),
    ],
)
def test_labels(name, label):
    function = getattr(F, name)(chainer.Variable(X0), X1).creator
    assert function.label == type(function).__name__ == label
