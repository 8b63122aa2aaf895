"""Operators that packages and programs add to the importer."""

from __future__ import annotations

import importlib

import numpy as np
import onnx_chainer
import pytest
from onnx import parser
from onnx_chainer import pack
from onnx_chainer.importing.errors import UnsupportedOperatorError
from onnx_chainer.importing.operators import registry

import chainer
import chainer.functions as F
from chainer.plugins import NameConflictError

SWISH2 = """<ir_version: 10, opset_import: ["" : 21, "com.example" : 1]>
g (float[n] x) => (float[n] y) { y = com.example.Swish2 <beta: float = 2.0> (x) }
"""


def swish2(attributes, x):
    return x * F.sigmoid(attributes["beta"] * x)


def test_registered_operator_is_computed_and_has_gradients():
    with onnx_chainer.register_operator("com.example.Swish2", swish2):
        model = onnx_chainer.load(parser.parse_model(SWISH2))
    x = chainer.Variable(np.array([0.5, -1.0]))
    y = model(x)
    np.testing.assert_allclose(y.array, x.array / (1 + np.exp(-2 * x.array)))
    (gx,) = chainer.grad([y], [x])
    s = 1 / (1 + np.exp(-2 * x.array))
    np.testing.assert_allclose(gx.array, s + 2 * x.array * s * (1 - s))
    with pytest.raises(UnsupportedOperatorError, match="hook chainer_onnx_operators"):
        onnx_chainer.load(parser.parse_model(SWISH2))


def test_registered_by_the_hook_of_a_package():
    class Pack:
        chainer_api = 1

        @staticmethod
        def chainer_onnx_operators(registry):
            registry.register("com.example.Swish2", swish2)

    plugin = Pack()
    chainer.plugins.register(plugin, name="swish2-pack")
    try:
        model = onnx_chainer.load(parser.parse_model(SWISH2))
        assert model(np.zeros(2, np.float32)).array.tolist() == [0, 0]
    finally:
        chainer.plugins.unregister(plugin)


def test_operators_of_the_call_are_preferred():
    with onnx_chainer.register_operator("com.example.Swish2", swish2):
        model = onnx_chainer.load(
            parser.parse_model(SWISH2), operators={"com.example.Swish2": lambda attributes, x: -x}
        )
    np.testing.assert_array_equal(model(np.ones(2, np.float32)).array, [-1, -1])


def test_own_operators_are_replaced_on_purpose_only():
    with pytest.raises(NameConflictError, match="Relu"):
        onnx_chainer.register_operator("Relu", lambda attributes, x: x)
    text = SWISH2.replace("com.example.Swish2 <beta: float = 2.0>", "Relu")
    with onnx_chainer.register_operator("Relu", lambda attributes, x: -x, override=True):
        model = onnx_chainer.load(parser.parse_model(text))
    np.testing.assert_array_equal(model(np.ones(2, np.float32)).array, [-1, -1])
    model = onnx_chainer.load(parser.parse_model(text))
    np.testing.assert_array_equal(model(np.ones(2, np.float32)).array, [1, 1])


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="function must be callable, got <class 'int'>"):
        onnx_chainer.register_operator("com.example.Swish2", 3)


def test_the_pack_names_the_operators_of_all_modules():
    found = {
        module: importlib.import_module(f"onnx_chainer.importing.{module}").OPERATORS
        for module in pack.OPERATORS
    }
    assert {m: set(names) for m, names in found.items()} == {
        m: set(names.split()) for m, names in pack.OPERATORS.items()
    }
    for operators in found.values():
        for name, function in operators.items():
            assert registry.get(name) is function
