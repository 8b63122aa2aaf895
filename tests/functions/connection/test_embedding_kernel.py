"""Gradients of embeddings: rows are written, those that come again added; or all, by columns."""

import numpy as np
import pytest

from chainer.backends.numpy.kernels._row_scatter import scatter_add_rows
from chainer.backends.operations.embeddings import embedding


def summed(x, gy, shape):
    gW = np.zeros(shape, gy.dtype)
    np.add.at(gW, x.ravel(), gy.reshape(x.size, shape[1]))
    return gW


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("width", [0, 1, 40, 300])
@pytest.mark.parametrize("labels", [1, 3, 50, 2000])
@pytest.mark.parametrize("count", [0, 1, 5, 3000])
def test_blocks(count, labels, width, dtype):
    state = np.random.RandomState(0)
    labels = min(labels, -np.iinfo(dtype).min)
    x = state.randint(-labels, labels, count).astype(dtype)
    gy = state.randint(-3, 4, (count, width)).astype(np.float32)
    gW = embedding.select(x, gy).backward(x, gy, (labels, width), None)
    np.testing.assert_array_equal(gW, summed(x, gy, (labels, width)))


def test_numbers_counted_from_both_ends_are_the_same():
    x, gy = np.array([1, -1, 0, -2, 1]), np.arange(10, dtype=np.float32).reshape(5, 2)
    gW = embedding.select(x, gy).backward(x, gy, (2, 2), None)
    assert gW.tolist() == [[4 + 6, 5 + 7], [0 + 2 + 8, 1 + 3 + 9]]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("count", "width"), [(0, 3), (5, 0), (1, 1), (5, 400), (3000, 1), (3000, 90)]
)
def test_add_rows(count, width, dtype, order):
    state = np.random.RandomState(0)
    matrix = state.randint(-3, 4, (20, width)).astype(dtype, order=order)
    numbers = state.randint(-20, 20, count).astype(np.int32)
    rows = state.randint(-1, 2, (count, width)).astype(dtype, order=order)
    expected = matrix + summed(numbers, rows, matrix.shape)
    scatter_add_rows(matrix, numbers, rows)
    assert matrix.dtype == dtype
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize("count", [3, 3000])
def test_add_rows_out_of_range(count):
    with pytest.raises(IndexError, match="out of bounds"):
        scatter_add_rows(np.zeros((2, 3)), np.full(count, 2), np.ones((count, 3)))


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
