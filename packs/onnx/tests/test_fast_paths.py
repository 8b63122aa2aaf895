"""Operators that are computed in another way where that is faster."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx import parser
from running import run

import chainer
import chainer.functions as F
from chainer import gradient_check

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'

TIED = """
g (int64[n, t] x) => (float[n, t, w] y)
{
    h = Gather (embedding, x)
    t = Transpose <perm = [1, 0]> (embedding)
    y = MatMul (h, t)
}
"""


def tied():
    proto = parser.parse_model(HEAD + TIED)
    array = np.random.RandomState(0).randn(7, 3).astype(np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(array, "embedding"))
    return proto, array


def test_products_by_a_transposed_embedding():
    proto, array = tied()
    model = onnx_chainer.load(proto)
    x = np.array([[1, 2, 3, 0], [6, 5, 1, 1]])
    y = model(x)
    np.testing.assert_allclose(y.array, array[x] @ array.T, rtol=1e-6)
    F.sum(y * y).backward()
    # As the sum of the gradients of both uses.
    e = chainer.Variable(array)
    plain = F.matmul(F.embed_id(x, e), F.transpose(e))
    F.sum(plain * plain).backward()
    np.testing.assert_allclose(model.embedding.grad, e.grad, rtol=1e-5)
    (found,), _ = run(onnx_chainer.export(model, x, input_names="x"), {"x": x})
    np.testing.assert_allclose(found, y.array, rtol=1e-5)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, -1.0])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_by_numbers(exponent, dtype):
    kind = {"float16": "float16", "float32": "float", "float64": "double"}[dtype]
    model = onnx_chainer.load(
        parser.parse_model(
            f"{HEAD} g ({kind}[n] x) => ({kind}[n] y) <float c = {{{exponent}}}> "
            "{ y = Pow (x, c) }"
        )
    )
    # The exponent is a number of the graph, and not trained.
    assert not list(model.params())
    x = np.array([0.5, 1.5, 2.0], dtype)
    y = model(x)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array, x**exponent, rtol=2e-3 if dtype == "float16" else 1e-6)
    if dtype == "float64":
        gradient_check.check_backward(model, x, np.ones(3), dtype="d")
        gradient_check.check_double_backward(model, x, np.ones(3), np.ones(3), dtype="d")


def test_a_power_that_broadcasts_its_base():
    model = onnx_chainer.load(
        parser.parse_model(
            f"{HEAD} g (float x) => (float[n] y) <float[1] c = {{2.0}}> {{ y = Pow (x, c) }}"
        )
    )
    assert model(np.array(3.0, np.float32)).array.tolist() == [9.0]
