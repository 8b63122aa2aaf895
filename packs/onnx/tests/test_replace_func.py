"""Functions that are made one node of the graph."""

from __future__ import annotations

import numpy as np
import onnx_chainer
import pytest
from models import images
from onnx_chainer import onnx_helper
from onnx_chainer.replace_func import as_funcnode, fake_as_funcnode
from running import Apply, operators

import chainer
import chainer.functions as F

X = images(2, 3)


def convert_to(operator, seen):
    def convert(params):
        seen.append(params)
        return (onnx_helper.make_node(operator, params.input_names, params.output_names),)

    return convert


def test_function():
    seen = []

    @as_funcnode("AddAll", rename_attributes=[(1, "scale")])
    def add_all(xs, factor, offset=2):
        return (xs[0] + xs[1]) * factor + offset

    def model(a, b):
        return add_all([a, b], 3)

    with onnx_chainer.register_converter("AddAll", convert_to("Add", seen)):
        proto = onnx_chainer.export(Apply(model), (X, X))
    assert operators(proto) == ["Add"]
    assert list(proto.graph.node[0].input) == ["Input_0", "Input_1"]
    (params,) = seen
    assert (params.func.scale, params.func.offset) == (3, 2)
    assert params.func.custom_function_node_name == "AddAll"
    assert len(params.func.arg_vars) == 2


def test_gradient():
    f = as_funcnode("F")(lambda x, y: F.exp(x) * y)
    x, y = (chainer.Variable(X.astype("d")) for _ in range(2))
    z = f(x, y)
    z.grad = np.ones_like(z.array)
    z.backward()
    np.testing.assert_allclose(x.grad, np.exp(X.astype("d")) * X)
    np.testing.assert_allclose(y.grad, np.exp(X.astype("d")))


def test_method_and_structure():
    class Model(chainer.Chain):
        @as_funcnode("Pair")
        def pair(self, x):
            return {"a": x + 1, "b": [x.array * 2]}

        def forward(self, x):
            y = self.pair(x)
            return y["a"], y["b"][0]

    seen = []

    def convert(params):
        assert isinstance(params.func.arg0, Model)
        seen.append(params)
        return [
            onnx_helper.make_node("Identity", params.input_names, [name])
            for name in params.output_names
        ]

    with onnx_chainer.register_converter("Pair", convert):
        proto = onnx_chainer.export(Model(), X)
    assert operators(proto) == ["Identity", "Identity"]
    assert len(seen) == 1
    a, _ = Model()(chainer.Variable(X + 1))
    assert isinstance(a, chainer.Variable)
    names = Model.pair.reconstruct_return_value(["p", "q"])
    assert names == {"a": "p", "b": ["q"]}


def test_arrays_are_not_differentiable():
    f = as_funcnode("F")(lambda x: x.array * 2)
    y = f(chainer.Variable(X))
    y.grad = X
    with pytest.raises(ValueError, match="cannot be differentiated"):
        y.backward()


def test_errors():
    f = as_funcnode("F")(lambda x, y=None: x)
    with pytest.raises(ValueError, match="at least one Variable"):
        f(3)
    with pytest.raises(ValueError, match="must consist of Variables"):
        f([chainer.Variable(X), 3])
    with pytest.raises(ValueError, match="must return arrays"):
        as_funcnode("F")(lambda x: "a")(chainer.Variable(X))
    with pytest.warns(FutureWarning, match="fake_as_funcnode"):
        fake_as_funcnode(F.relu, "ReLU2")
