"""space2depth and depth2space on short and long rows, against loops over the pixels."""

import numpy as np
import pytest

import chainer
from chainer import functions as F


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("w", [2, 11])
def test_blocks(r, w):
    batch, channels, h = 2, 3, 4
    x = np.random.RandomState(0).randn(batch, channels, h * r, w * r).astype(np.float32)
    expected = np.empty((batch, r, r, channels, h, w), np.float32)
    for i in range(r):
        for j in range(r):
            expected[:, i, j] = x[:, :, i::r, j::r]
    expected = expected.reshape(batch, r * r * channels, h, w)
    variable = chainer.Variable(x)
    y = F.space2depth(variable, r)
    np.testing.assert_array_equal(y.array, expected)
    y.grad = 2 * expected
    y.backward()
    np.testing.assert_array_equal(variable.grad, 2 * x)

    variable = chainer.Variable(expected)
    y = F.depth2space(variable, r)
    np.testing.assert_array_equal(y.array, x)
    y.grad = 3 * x
    y.backward()
    np.testing.assert_array_equal(variable.grad, 3 * expected)


@pytest.mark.parametrize("function", [F.space2depth, F.depth2space])
def test_blocks_without_samples(function):
    assert function(np.zeros((0, 4, 4, 4), np.float32), 2).array.size == 0
