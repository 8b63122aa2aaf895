"""Gradients of embeddings: rows are sorted and added up in blocks, into which runs are cut."""

import numpy as np
import pytest

from chainer.backends.operations.embeddings import embedding


def summed(x, gy, shape):
    gW = np.zeros(shape, gy.dtype)
    np.add.at(gW, x.ravel(), gy.reshape(-1, shape[1]))
    return gW


@pytest.mark.parametrize("labels", [1, 3, 50])
@pytest.mark.parametrize("count", [0, 1, 5, 3000])
def test_blocks(count, labels):
    state = np.random.RandomState(0)
    x = state.randint(-labels, labels, count)
    gy = state.randint(-3, 4, (count, 40)).astype(np.float32)
    gW = embedding.select(x, gy).backward(x, gy, (labels, 40), None)
    np.testing.assert_array_equal(gW, summed(x, gy, (labels, 40)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("labels", [2, 300])
@pytest.mark.parametrize("n", [0, 1, 200])
def test_outer(n, labels, dtype):
    state = np.random.RandomState(0)
    x = state.randint(0, labels, (n, 4))
    factors = state.randint(-3, 4, (n, 4)).astype(np.float32)
    vectors = state.randint(-3, 4, (n, 30)).astype(dtype)
    gW = embedding.select(x, vectors).backward_outer(x, factors, vectors, (labels, 30))
    assert gW.dtype == np.float32
    np.testing.assert_array_equal(
        gW, summed(x, factors[:, :, None] * vectors[:, None].astype(np.float32), (labels, 30))
    )
