"""Values that NumPy computes from the inputs become constants: a warning names them."""

from __future__ import annotations

import warnings

import numpy as np
import onnx_chainer
import pytest
from onnx_chainer.frozen_values import differ, other_values
from running import Apply

import chainer
import chainer.functions as F
import chainer.links as L

X = np.random.RandomState(0).randn(3, 4).astype("f")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: F.where(x.array > 0, x, -x), "Where: its condition depends"),
        (lambda x: x[x.array[:, 0] > 0], "GetItem: its index depends"),
        (lambda x: x[:, : 1 + int(abs(x.array[0, 0] * 1000)) % 5], "GetItem: its index depends"),
        (lambda x: x * float(x.array.max()), "MulConstant: its constant depends"),
        (lambda x: x + np.abs(x.array), "AddConstant: its constant depends"),
        (lambda x: F.matmul(x, np.abs(x.array), transb=True), "MatMul: input 1 depends"),
        (lambda x: F.forget(lambda y: F.where(y.array > 0, y, -y), x), "Where: its condition"),
    ],
)
@pytest.mark.parametrize("sample", [X, np.zeros_like(X)], ids=["random", "zeros"])
def test_frozen(function, message, sample):
    with pytest.warns(UserWarning, match=message):
        onnx_chainer.export(Apply(function), sample)


def test_other_branch():
    def model(x):
        return F.relu(x) if x.array.sum() > X.sum() else F.tanh(x)

    with pytest.warns(UserWarning, match="applies other functions to other values"):
        onnx_chainer.export(Apply(model), X)


class Stateful(chainer.Chain):
    def __init__(self):
        super().__init__()
        self.calls = []
        with self.init_scope():
            self.lstm = L.LSTM(4, 3)

    def forward(self, x):
        chainer.report({"mean": F.mean(x)}, self)
        return self.lstm(x)


def test_no_warning():
    mask = np.tril(np.ones((3, 4), bool))
    stateful = Stateful()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        onnx_chainer.export(Apply(lambda x: F.where(mask, x, x * 2)[[0, 2]]), X)
        # An array of an input has a name in the graph.
        onnx_chainer.export(Apply(lambda x, c: F.where(c.array, x, -x)), (X, X > 0))
        onnx_chainer.export(stateful, X)
        # Labels stay valid.
        onnx_chainer.export(L.EmbedID(3, 2), np.array([0, 1, 2], "i"))
        # Other values may be refused.
        onnx_chainer.export(Apply(_only_x), X)
    assert stateful.lstm.h.shape == (3, 3)


def _only_x(x):
    if not np.array_equal(x.array, X):
        raise ValueError("other values")
    return F.relu(x)


def test_other_values():
    assert other_values(np.array([[1, 2], [3, 4]], "i")).tolist() == [[4, 3], [2, 1]]
    np.testing.assert_allclose(other_values(np.array([1, -2], "f")), [-2.5, 1.25])
    assert other_values(np.zeros((2, 0), "f")).shape == (2, 0)
    assert np.unique(other_values(np.zeros((2, 3), "f"))).size == 6


@pytest.mark.parametrize(
    ("value", "other", "expected"),
    [
        (1, 1, False),
        (1, 2.0, True),
        (np.array([np.nan, 1]), np.array([np.nan, 1]), False),
        (np.array([1, 2]), np.array([1, 2, 3]), True),
        ((slice(1, 2), None, Ellipsis), (slice(1, 2), None, Ellipsis), False),
        ((slice(1, 2), None), (slice(1, 3), None), True),
        ([1], [1, 2], True),
        (None, 1, True),
    ],
)
def test_differ(value, other, expected):
    assert differ(value, other) is expected
