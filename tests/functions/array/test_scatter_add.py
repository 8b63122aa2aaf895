"""Addition to selected elements: every way the reference goes, against NumPy's."""

import numpy as np
import pytest

from chainer.backends.operations.indexing import scatter_add as operation
from chainer.functions.array.scatter_add import scatter_add

NUMBERS = np.array([3, 0, 3, -1, 2, 0, 3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(
    ("shape", "slices"),
    [
        ((5,), NUMBERS),
        ((5, 3), NUMBERS),
        ((5, 3), (NUMBERS,)),
        ((5, 3), NUMBERS.tolist()),
        ((5, 3), (NUMBERS.reshape(7, 1),)),
        ((5, 300), NUMBERS),  # rows that are added one by one
        ((5, 2, 300), NUMBERS),
        ((0, 300), np.array([], int)),
        ((5, 0), NUMBERS),
        ((6, 5), (slice(None), NUMBERS)),
        ((6, 5, 4), (slice(None), NUMBERS)),
        ((6, 5, 4), (slice(None), slice(1, 3), [1, 1, 0])),
        ((6, 5, 4), (slice(None), NUMBERS, slice(None, None, -2))),
        ((0, 5), (slice(None), NUMBERS)),
        ((6, 5), (slice(1, 4), NUMBERS)),
        ((6, 5), (NUMBERS, slice(1, 3))),
        ((6, 5), (NUMBERS, NUMBERS)),
        ((6, 5, 4), (NUMBERS, slice(None), 1)),
        ((6, 5, 4), (slice(None), NUMBERS, 1)),
        ((6, 5, 4), (slice(None), None, NUMBERS)),
        ((6, 5, 4), (Ellipsis, np.array([1, 1, -1]))),
        ((3000, 5), (slice(None), NUMBERS)),  # several blocks
        ((900, 8), np.arange(9000) % 700),
    ],
)
def test_all_ways(shape, slices, dtype):
    state = np.random.RandomState(0)
    a = state.randint(-9, 9, shape).astype(dtype)
    b = state.randint(-9, 9, a[slices].shape).astype(dtype)
    expected = a.copy()
    np.add.at(expected, slices, b)
    operation.select(a, b).add_at(a, slices, b)
    np.testing.assert_array_equal(a, expected)


def test_values_of_any_layout():
    a = np.zeros((4, 300), np.float32)
    b = np.arange(1800, dtype=np.float32).reshape(300, 6).T
    y = scatter_add(a, [0, 1, 1, 3, 0, 0], b).array
    np.testing.assert_array_equal(y[0], b[0] + b[4] + b[5])
    np.testing.assert_array_equal(y[1], b[1] + b[2])
    assert not a.any()


@pytest.mark.parametrize("width", [3, 300])
def test_numbers_out_of_range(width):
    a = np.zeros((4, width), np.float32)
    with pytest.raises(IndexError, match="out of bounds"):
        scatter_add(a, np.array([0, 4]), np.ones((2, width), np.float32))
