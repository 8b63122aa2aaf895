"""Losses: relations to other losses, extremes, debug mode."""

import numpy as np
import pytest

import chainer
import chainer.functions as F


@pytest.fixture
def scores():
    return np.random.default_rng(0).standard_normal((5, 3)).astype("f")


T = np.array([0, 2, -1, 1, 1], np.int32)


def test_no_smoothing_is_cross_entropy(scores):
    x, y = chainer.Variable(scores), chainer.Variable(scores)
    loss, expected = F.label_smoothed_cross_entropy(x, T, 0.0), F.softmax_cross_entropy(y, T)
    np.testing.assert_allclose(loss.array, expected.array, rtol=1e-6)
    loss.backward()
    expected.backward()
    np.testing.assert_allclose(x.grad, y.grad, atol=1e-7)


def test_no_focus_is_cross_entropy(scores):
    loss = F.focal_loss(scores, T, gamma=0)
    np.testing.assert_allclose(loss.array, F.softmax_cross_entropy(scores, T).array, rtol=1e-6)
    t = np.array([[0, 1, -1]] * 5, np.int32)
    loss = F.sigmoid_focal_loss(scores, t, gamma=0, alpha=None)
    np.testing.assert_allclose(loss.array, F.sigmoid_cross_entropy(scores, t).array, rtol=1e-6)


def test_all_smoothing_ignores_labels(scores):
    losses = [
        F.label_smoothed_cross_entropy(scores, np.full(5, t, np.int32), 1.0).array for t in (0, 1)
    ]
    np.testing.assert_allclose(*losses, rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 3.5])
def test_extreme_scores(gamma):
    x = chainer.Variable(np.array([[200, -200, 0], [-200, 200, 0]], "f"))
    for loss in (
        F.focal_loss(x, np.array([0, 0], np.int32), gamma),
        F.sigmoid_focal_loss(x, np.array([[1, 1, 0]] * 2, np.int32), gamma),
        F.label_smoothed_cross_entropy(x, np.array([0, 0], np.int32)),
    ):
        assert np.isfinite(loss.array)
        assert loss.array > 1
        x.cleargrad()
        loss.backward()
        assert np.isfinite(x.grad).all()


def test_focus_lowers_the_loss_of_the_well_classified():
    x, t = np.array([[4, 0], [-4, 0]], "f"), np.zeros(2, np.int32)
    plain, focused = (F.focal_loss(x, t, gamma, reduce="no").array for gamma in (0, 2))
    assert focused[0] < plain[0] / 100
    assert focused[1] > plain[1] * 0.9


@pytest.mark.parametrize(
    "function", [F.label_smoothed_cross_entropy, F.focal_loss], ids=["smoothed", "focal"]
)
def test_all_ignored(function, scores):
    x = chainer.Variable(scores)
    loss = function(x, np.full(5, -1, np.int32))
    assert loss.array == 0
    loss.backward()
    assert not x.grad.any()


@pytest.mark.parametrize(
    "function", [F.label_smoothed_cross_entropy, F.focal_loss], ids=["smoothed", "focal"]
)
def test_debug_mode_refuses_labels(function, scores):
    with (
        chainer.using_config("debug", True),
        pytest.raises(ValueError, match="from 0 to 2 or -1, got 3"),
    ):
        function(scores, np.array([0, 1, 3, 2, 1], np.int32))


def test_half_precision_means_do_not_overflow():
    x = np.zeros((70000, 2), np.float16)
    t = np.zeros(70000, np.int32)
    assert F.label_smoothed_cross_entropy(x, t).array == pytest.approx(np.log(2), rel=1e-3)
    assert F.focal_loss(x, t).array == pytest.approx(np.log(2) / 4, rel=2e-3)


def test_class_weights(scores):
    t = np.array([0, 1, 2, 0, 1], np.int32)
    weights = np.array([1, 0, 2], "f")
    plain = F.focal_loss(scores, t, reduce="no").array
    weighted = F.focal_loss(scores, t, class_weight=weights, reduce="no").array
    np.testing.assert_allclose(weighted, plain * weights[t], rtol=1e-6)


def test_dice_loss_of_a_match_is_zero():
    t = np.random.default_rng(0).integers(0, 2, (2, 3, 4, 4))
    assert F.dice_loss(t.astype("f"), t, eps=0.5).array == pytest.approx(0, abs=1e-6)
    assert F.dice_loss(1 - t.astype("f"), t).array > 0.8


def test_dice_loss_has_gradients_of_both():
    p, t = (chainer.Variable(np.full((1, 1, 4), v, "f")) for v in (0.5, 1.0))
    F.dice_loss(p, t).backward()
    assert (p.grad < 0).all()
    assert t.grad is not None


def test_drop_path_keeps_the_mean():
    np.random.seed(0)
    x = chainer.Variable(np.ones((4000, 3), "f"))
    y = F.drop_path(x, 0.25)
    assert set(np.unique(y.array)) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.array.mean() - 1) < 0.03
    y.grad = np.ones_like(x.array)
    y.backward()
    np.testing.assert_array_equal(x.grad, y.array)
    with chainer.using_config("train", False):
        assert F.drop_path(x, 0.25) is x
    assert F.drop_path(x, 0.0) is x
