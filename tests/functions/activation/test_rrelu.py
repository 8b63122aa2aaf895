"""Randomized leaky ReLU: where its slopes come from."""

from __future__ import annotations

import numpy as np

import chainer
import chainer.functions as F


def test_slopes_come_from_the_random_state():
    x = np.full((200,), -1.0, "f")
    np.random.seed(0)
    y, r = F.rrelu(x, return_r=True)
    np.random.seed(0)
    expected = np.random.uniform(1 / 8, 1 / 3, 200).astype("f")
    np.testing.assert_array_equal(r, expected)
    np.testing.assert_array_equal(y.array, -expected)
    assert r.dtype == "f"


def test_slope_is_the_mean_when_not_training():
    x = np.array([-1.0, 1.0], "f")
    with chainer.using_config("train", False):
        y, r = F.rrelu(x, 0.2, 0.4, r=np.ones(2, "f"), return_r=True)
    np.testing.assert_allclose(r, [0.3, 0.3], rtol=1e-6)
    np.testing.assert_allclose(y.array, [-0.3, 1.0], rtol=1e-6)
