"""First and second gradients of losses while gradients are recorded."""

import numpy as np
import pytest

import chainer
from chainer import Variable
from chainer import functions as F

X = np.array([[0.5, -1, 2], [1, 0.25, -0.5]], np.float32)
T = np.array([2, 0], np.int32)


def sampler(shape):
    return np.ones(shape, np.int32)


class TestCrossEntropy:
    """The cross entropy is differentiated again although it keeps its softmax only."""

    @staticmethod
    def formula(x, reduce):
        losses = -F.select_item(F.log_softmax(x), T)
        return F.mean(losses) if reduce == "mean" else losses

    @pytest.mark.parametrize("cache_score", [False, True])
    @pytest.mark.parametrize("reduce", ["mean", "no"])
    @pytest.mark.parametrize("leaf", [False, True])
    def test_orders_one_to_three(self, cache_score, reduce, leaf):
        found = []
        for is_formula in (False, True):
            x = Variable(X.astype(np.float64))
            h = x if leaf else x * 2
            if is_formula:
                loss = self.formula(h, reduce)
            else:
                loss = F.softmax_cross_entropy(h, T, cache_score=cache_score, reduce=reduce)
            h = None
            y = F.sum(loss * loss)
            for _ in range(3):
                (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
                found.append(gx.array)
                y = F.sum(gx * gx * gx)
        for gx, expected in zip(found[:3], found[3:], strict=True):
            np.testing.assert_allclose(gx, expected, rtol=1e-10)

    def test_scores_are_not_kept(self):
        x = Variable(X.copy())
        h = x * 2
        node = h.node
        loss = F.softmax_cross_entropy(h, T)
        del h
        (gx,) = chainer.grad([loss], [x], enable_double_backprop=True)
        assert node.data is None
        assert gx.creator_node is not None
        assert node.get_variable_or_none() is None

    def test_second_gradient_by_backward(self):
        x = Variable(X.copy())
        (gx,) = chainer.grad([F.softmax_cross_entropy(x, T)], [x], enable_double_backprop=True)
        F.sum(gx * gx).backward()
        y = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
        s = 2 * (y - np.eye(3, dtype="f")[T]) / 4
        np.testing.assert_allclose(
            x.grad, y * s - y * (y * s).sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7
        )

    @pytest.mark.parametrize("option", [False, True])
    def test_option_of_earlier_releases_changes_nothing(self, option):
        x = Variable(X.copy())
        loss = F.softmax_cross_entropy(x, T, enable_double_backprop=option)
        (gx,) = chainer.grad([loss], [x], enable_double_backprop=True)
        assert chainer.grad([F.sum(gx * gx)], [x])[0].shape == X.shape

    def test_penalty_that_is_differentiated_twice(self):
        """A gradient penalty of one loss next to a cross entropy."""
        x = Variable(X.copy())
        (F.softmax_cross_entropy(x, T) + F.sum(x**3)).backward(enable_double_backprop=True)
        expected = Variable(X.copy())
        (F.softmax_cross_entropy(expected, T) + F.sum(expected**3)).backward()
        np.testing.assert_allclose(x.grad, expected.grad, rtol=1e-6)


W = np.ones((4, 3), np.float32)
OTHERS = np.ones((2, 2), np.int32)
LABELLED = {
    "softmax_cross_entropy": (T, lambda t: F.softmax_cross_entropy(X, t)),
    "softmax_cross_entropy, twice": (
        T,
        lambda t: F.softmax_cross_entropy(X, t, enable_double_backprop=True),
    ),
    "hinge": (T, lambda t: F.hinge(X, t)),
    "hinge, L2": (T, lambda t: F.hinge(X, t, norm="L2", reduce="no")),
    "sigmoid_cross_entropy": (
        np.eye(2, 3, dtype=np.int32),
        lambda t: F.sigmoid_cross_entropy(X, t),
    ),
    "select_item": (T, lambda t: F.select_item(X, t)),
    "permutate": (np.array([1, 0], np.int32), lambda t: F.permutate(X, t)),
    "accuracy": (T, lambda t: F.accuracy(X, t)),
    "ctc": (
        np.array([[0], [1]], np.int32),
        lambda t: F.connectionist_temporal_classification([X] * 4, t, 2),
    ),
    "crf1d": (T, lambda t: F.crf1d(np.ones((3, 3), np.float32), [X], [t])),
    "negative_sampling": (
        T,
        lambda t: F.negative_sampling(X, t, W, sampler, 2),
    ),
    "black_out": (T, lambda t: F.black_out(X, t, W, OTHERS)),
    "embed_id": (T, lambda t: F.embed_id(t, W)),
}


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("double", [False, True])
def test_labels_alone_are_a_variable(name, double):
    """It asks for a gradient, and there is none to get."""
    labels, function = LABELLED[name]
    t = Variable(labels.copy())
    y = function(t)
    y.grad = np.ones_like(y.array)
    y.backward(enable_double_backprop=double)
    assert t.grad is None


def test_tied_weights_of_sampled_losses():
    """The input depends on the weights: gradients are the same whether recorded or not."""
    ids = np.array([1, 2])
    gradients = []
    for double in (False, True):
        W = Variable(np.linspace(-1, 1, 18).reshape(6, 3))
        x = F.embed_id(ids, W)
        loss = F.negative_sampling(x, T, W, sampler, 2) + F.black_out(x, T, W, OTHERS)
        loss.backward(enable_double_backprop=double)
        gradients.append(W.grad)
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_one_variable_in_several_places_of_a_crf():
    gradients = []
    for double in (False, True):
        c = Variable(np.linspace(-1, 1, 9).reshape(3, 3))
        ys = np.array([0, 1, 2], np.int32)
        F.crf1d(c, [c, c], [ys, ys]).backward(enable_double_backprop=double)
        gradients.append(c.grad)
    np.testing.assert_allclose(*gradients, rtol=1e-12)
