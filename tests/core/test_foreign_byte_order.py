"""NumPy arrays in the byte order of other machines are copied where they enter a computation."""

import sys

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

FOREIGN = ">" if sys.byteorder == "little" else "<"
X = np.arange(6, dtype="f").reshape(2, 3)


@pytest.fixture
def x():
    return X.astype(FOREIGN + "f4")


def test_variables_hold_native_copies(x):
    for variable in (chainer.Variable(x), chainer.Parameter(x)):
        assert variable.dtype == np.float32
        assert variable.array.dtype.isnative
        np.testing.assert_array_equal(variable.array, X)
    variable = chainer.Variable(X)
    variable.array = x
    assert variable.array.dtype.isnative


@pytest.mark.parametrize(
    "function",
    [F.exp, lambda x: F.mean_squared_error(x, X), lambda x: L.Linear(3, 2, initialW=1)(x)],
)
def test_functions(function, x):
    variable = chainer.Variable(x)
    y = function(variable)
    np.testing.assert_array_equal(y.array, function(x).array)
    np.testing.assert_array_equal(y.array, function(X).array)
    F.sum(y * y).backward()
    assert variable.grad.dtype == np.float32
    assert variable.grad.dtype.isnative


def test_labels():
    t = np.array([1, 0], FOREIGN + "i4")
    np.testing.assert_allclose(
        F.softmax_cross_entropy(X, t).array, F.softmax_cross_entropy(X, t.astype("i")).array
    )
    assert L.EmbedID(2, 3)(t).shape == (2, 3)


def test_native_arrays_are_not_copied():
    assert chainer.Variable(X).array is X
