"""Discriminative loss; numbers of release 7.8.1."""

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable
from chainer.functions.loss.discriminative_loss import DiscriminativeMarginBasedClusteringLoss

E = (np.arange(36) / 10).reshape(3, 3, 2, 2).astype("f")
LABELS = np.array([[[0, 1], [1, 2]], [[3, 3], [2, 1]], [[1, 1], [1, 1]]], "i")
loss = F.discriminative_margin_based_clustering_loss


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((0.5, 1.5, 3), (0, 4.11, 0.0031833)),
        ((0.5, 1.5, 3, 2, 2.0, 3.0, 0.1), (0, 14.98, 0.139802)),
        ((-0.5, 1.5, 3), (1.29536, 4.11, 0.0031833)),
    ],
)
def test_numbers(arguments, expected):
    losses = loss(E, LABELS, *arguments)
    assert isinstance(losses, tuple)
    np.testing.assert_allclose([float(v.array) for v in losses], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_dtypes(dtype):
    e = Variable(E.astype(dtype))
    losses = loss(e, LABELS, 0.01, 1.5, 3)
    assert {v.dtype for v in losses} == {np.dtype(dtype)}
    sum(losses).backward()
    assert e.grad.dtype == dtype


def test_halves_are_summed_in_single_precision():
    e = np.full((1, 1, 300, 300), 10, np.float16)
    variance, _, regularization = loss(e, np.ones((1, 300, 300), "i"), 0.5, 1.5, 1, gamma=1.0)
    assert (float(variance.array), float(regularization.array)) == (0, 10)


@pytest.mark.parametrize("norm", [1, 2])
def test_gradient_of_distance_zero(norm):
    """Clusters that are not there all have the mean 0; release 7 gives NaN."""
    e = Variable(E.astype("d"))
    sum(loss(e, LABELS * 0 + 1, 0.5, 1.5, 3, norm)).backward()
    assert np.isfinite(e.grad).all()


@pytest.mark.parametrize("batch", [1, 2, 3, 5])
def test_any_batch(batch):
    """Release 7 takes batches of 1 and of as many as there are channels."""
    e, labels = np.tile(E[:1], (batch, 1, 1, 1)), np.tile(LABELS[:1], (batch, 1, 1))
    one, many = loss(E[:1], LABELS[:1], 0.01, 1.5, 3), loss(e, labels, 0.01, 1.5, 3)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_allclose(a.array, b.array, rtol=1e-5)


def test_labels_that_are_a_variable():
    with pytest.raises(TypeError, match="labels must be an array, got Variable"):
        loss(E, Variable(LABELS), 0.5, 1.5, 3)


def test_class():
    function = DiscriminativeMarginBasedClusteringLoss()
    assert (function.delta_v, function.delta_d, function.max_embedding_dim) == (0.5, 1.5, 10)
    assert (function.alpha, function.beta, function.gamma) == (1, 1, 0.001)
    function = DiscriminativeMarginBasedClusteringLoss(0.5, 1.5, 3)
    expected = loss(E, LABELS, 0.5, 1.5, 3)
    for a, b in zip(function(E, LABELS), expected, strict=True):
        assert a.array == b.array
