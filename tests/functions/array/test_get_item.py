"""Indexing and scattering."""

from __future__ import annotations

import re

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable


@pytest.fixture
def x() -> Variable:
    return Variable(np.arange(24, dtype="f").reshape(2, 3, 4))


@pytest.mark.parametrize(
    "index",
    [
        [0, 0, 1, 0],
        np.array([[0, 1], [1, 1]]),
        np.array([-1, 0], np.int8),
        (np.array([1, 1, 1]),),
        ([0, 0], [1, 1], [-1, -1]),
        (slice(None), [2, 0, 2]),
        ([1, 1], slice(None), [0, 0]),
        (Ellipsis, [3, 3], None),
        np.zeros((2, 3), bool),
        (np.array([True, False]), [1, 1, 1]),
        [],
    ],
    ids=repr,
)
def test_gradient_adds_up_repeated_elements(x, index):
    y = x[index]
    gy = np.random.default_rng(0).standard_normal(y.shape).astype("f")
    y.grad = gy
    y.backward()
    expected = np.zeros(x.shape, "f")
    np.add.at(expected, index if not isinstance(index, list) else np.array(index, int), gy)
    np.testing.assert_allclose(x.grad, expected, rtol=1e-5)


def test_lists_are_indexes_or_tuples(x):
    # A list of integers selects, any other list is taken for a tuple, as in release 4.3.1.
    np.testing.assert_array_equal(x[[1, 0]].array, x.array[np.array([1, 0])])
    np.testing.assert_array_equal(x[[[0, 1], [1, 0]]].array, x.array[[0, 1], [1, 0]])
    np.testing.assert_array_equal(x[[0, slice(None), 1]].array, x.array[0, :, 1])
    np.testing.assert_array_equal(x[[np.int64(1), np.int64(0)]].array, x.array[[1, 0]])


def test_a_single_element_is_an_array(x):
    y = x[1, 2, 3]
    assert type(y.array) is np.ndarray
    assert y.shape == ()
    y.backward()
    assert x.grad.sum() == x.grad[1, 2, 3] == 1


def test_basic_indexes_make_views(x):
    assert np.shares_memory(x[:, 1].array, x.array)
    assert not np.shares_memory(x[[1]].array, x.array)


def test_variables_as_indexes(x):
    rows, mask = np.array([[1, 0], [1, 1]]), np.array([True, False, True])
    for index in (rows, (slice(None), rows), (0, ..., rows), mask[:2]):
        parts = index if isinstance(index, tuple) else (index,)
        same = [Variable(i) if isinstance(i, np.ndarray) else i for i in parts]
        y = x[tuple(same) if isinstance(index, tuple) else same[0]]
        np.testing.assert_array_equal(y.array, x.array[index])
        x.cleargrad()
        F.sum(y).backward()
        expected = np.zeros_like(x.array)
        np.add.at(expected, index, 1)
        np.testing.assert_array_equal(x.grad, expected)


def test_refuses_variables_of_floats_as_indexes(x):
    for index in (Variable(np.float32([0])), (0, Variable(np.array(0, "f")))):
        with pytest.raises(IndexError, match="must be of integers or booleans, got float32"):
            x[index]


def test_iteration(x):
    assert [y.shape for y in x] == [(3, 4), (3, 4)]


def test_scatter_add_leaves_its_input_alone():
    a = Variable(np.zeros((3, 2), "f"))
    b = Variable(np.ones((4, 2), "f"))
    y = F.scatter_add(a, [0, 0, -1, 0], b)
    np.testing.assert_array_equal(y.array, [[3, 3], [0, 0], [1, 1]])
    assert not a.array.any()
    gy = y.grad = np.arange(6, dtype="f").reshape(3, 2)
    y.backward()
    np.testing.assert_array_equal(b.grad, gy[[0, 0, 2, 0]])
    np.testing.assert_array_equal(a.grad, gy)


def test_scatter_add_checks_rows():
    with pytest.raises(IndexError, match="out of bounds"):
        F.scatter_add(np.zeros((3, 2), "f"), [0, 3], np.ones((2, 2), "f"))


def test_scatter_add_into_a_transposed_array():
    a = np.zeros((2, 3), "f").T
    y = F.scatter_add(a, [1, 1], np.ones((2, 2), "f"))
    np.testing.assert_array_equal(y.array, [[0, 0], [2, 2], [0, 0]])


@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 0), (5, 2, 4)])
@pytest.mark.parametrize(
    "index", [np.array([0, -1, 4, 4]), np.array([[1, 2], [-5, 0]], np.int16), np.array(3)], ids=repr
)
def test_rows_are_those_of_numpy(shape, index):
    x = np.random.RandomState(0).randn(*shape).astype("f")
    for array in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        y = F.get_item(array, index).array
        np.testing.assert_array_equal(y, x[index])
        assert y.flags.owndata
        assert y.strides == np.asarray(array[index]).strides
        expected = np.zeros_like(array)
        np.add.at(expected, index, y)
        found = F.scatter_add(np.zeros_like(array), index, y).array
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        F.get_item(x, np.array([5]))
    with pytest.raises(ValueError, match="does not support automatic broadcasting"):
        F.scatter_add(x, np.array([0, 1]), x[:1])


def _error_of(x, index):
    try:
        x[index]
    except IndexError as error:
        return str(error)
    return None


def _as_index_gives(x, index):
    """Checks value, layout or error of ``F.get_item`` against NumPy's index."""
    message = _error_of(x, index)
    if message is not None:
        with pytest.raises(IndexError, match=re.escape(message)):
            F.get_item(x, index)
        return
    expected = x[index]
    for y in F.get_item(x, index), F.get_item(Variable(x), index):
        np.testing.assert_array_equal(y.array, np.asarray(expected), strict=True)
        assert y.array.strides == np.asarray(expected).strides
    with chainer.no_backprop_mode():
        np.testing.assert_array_equal(F.get_item(Variable(x), index).array, expected)


@pytest.mark.parametrize("shape", [(5, 3, 2), (5,), (5, 0), (0, 3)], ids=str)
@pytest.mark.parametrize(
    "index",
    [
        np.array([4, 0, -1, 0]),
        np.array([[0, 1], [2, 3]], np.int8),
        np.array(2),
        np.array([], int),
        np.array([0, 5]),
        np.array([-6], np.int32),
        np.array([1, 2], np.uint64),
        (np.array([1, 0, 1]),),
    ],
    ids=repr,
)
def test_rows_are_those_of_an_index_of_numpy(shape, index):
    x = np.arange(np.prod(shape), dtype="f").reshape(shape)
    _as_index_gives(x, index)
    _as_index_gives(np.asfortranarray(x), index)
    _as_index_gives(x[::-1], index)
