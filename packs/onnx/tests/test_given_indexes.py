"""Indexes that are inputs of a model stay inputs."""

import numpy as np
import onnx_chainer
import pytest
from running import run

import chainer
import chainer.functions as F
import chainer.links as L

X = np.random.RandomState(0).randn(5, 3).astype(np.float32)


class Neighbors(chainer.Chain):
    """Vectors of the neighbors of nodes, as networks for graphs select them."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis
        with self.init_scope():
            self.l = L.Linear(3, 4)

    def forward(self, x, index):
        h = F.tanh(self.l(x))
        return h[index] if self.axis == 0 else h[:, index]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1])
def test_other_indexes_of_the_exported_model(axis, dtype):
    model = Neighbors(axis)
    first, other = (np.array(i, dtype) for i in ([[0, 2], [3, 1]], [[1, -1], [2, 2]]))
    with chainer.using_config("train", False):
        proto = onnx_chainer.export(model, (X, first))
        (found,), _ = run(proto, {"Input_0": X, "Input_1": other})
        # As a program calls it: with an array.
        np.testing.assert_allclose(found, model(X, other).array, rtol=1e-5, atol=1e-6)
    assert [node.op_type for node in proto.graph.node] == ["Gemm", "Tanh", "Gather"]


def test_old_operator_sets_have_no_negative_indexes():
    index = np.array([0, 2, 4], np.int64)
    with pytest.warns(UserWarning, match="its index depends on the values of the inputs"):
        onnx_chainer.export(Neighbors(0), (X, index), opset_version=9)
