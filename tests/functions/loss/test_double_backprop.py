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


class TestOnce:
    """The cross entropy is differentiated once unless it is told otherwise."""

    REFUSAL = "softmax_cross_entropy was called with 'enable_double_backprop=False'"

    @pytest.mark.parametrize("cache_score", [False, True])
    @pytest.mark.parametrize("reduce", ["mean", "no"])
    @pytest.mark.parametrize("leaf", [False, True])
    def test_first_gradient_is_recorded(self, cache_score, reduce, leaf):
        x = Variable(X.copy())
        h = x if leaf else x * 2
        loss = F.softmax_cross_entropy(h, T, cache_score=cache_score, reduce=reduce)
        h = None
        (gx,) = chainer.grad([F.sum(loss)], [x], enable_double_backprop=True)
        F.sum(loss).backward()
        np.testing.assert_allclose(gx.array, x.grad, rtol=1e-6)
        with pytest.raises(RuntimeError, match=self.REFUSAL):
            chainer.grad([F.sum(gx * gx)], [x])
        with pytest.raises(RuntimeError, match=self.REFUSAL):
            F.sum(gx * gx).backward()

    def test_penalty_that_is_differentiated_twice(self):
        """A gradient penalty of one loss next to a cross entropy."""
        x = Variable(X.copy())
        (F.softmax_cross_entropy(x, T) + F.sum(x**3)).backward(enable_double_backprop=True)
        expected = Variable(X.copy())
        (F.softmax_cross_entropy(expected, T) + F.sum(expected**3)).backward()
        np.testing.assert_allclose(x.grad, expected.grad, rtol=1e-6)

    def test_second_gradient_by_the_loss_alone(self):
        x = Variable(X.copy())
        loss = F.softmax_cross_entropy(x, T)
        (gx,) = chainer.grad([loss * loss], [x], enable_double_backprop=True)
        with pytest.raises(RuntimeError, match=self.REFUSAL):
            chainer.grad([gx], [x], [Variable(X)])


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
