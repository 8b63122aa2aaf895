from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from conftest import elements

import ideep4py
from ideep4py import ops

FUNCTIONS = {
    # name: (alpha, beta, definition)
    "relu": (0.0, 0.0, lambda x: np.maximum(x, 0)),
    "tanh": (0.0, 0.0, np.tanh),
    "elu": (0.7, 0.0, lambda x: np.where(x > 0, x, 0.7 * (np.exp(x) - 1))),
    "square": (0.0, 0.0, np.square),
    "abs": (0.0, 0.0, np.abs),
    "linear": (2.0, 3.0, lambda x: 2 * x + 3),
    "soft_relu": (1.0, 0.0, lambda x: np.log1p(np.exp(x))),
    "hardsigmoid": (0.2, 0.5, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    "logistic": (0.0, 0.0, naive.sigmoid),
    "exp": (0.0, 0.0, np.exp),
    "gelu_tanh": (
        0.0,
        0.0,
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "gelu_erf": (0.0, 0.0, lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    "swish": (1.5, 0.0, lambda x: x * naive.sigmoid(1.5 * x)),
    "clip": (-0.5, 0.6, lambda x: np.clip(x, -0.5, 0.6)),
    "mish": (0.0, 0.0, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("channels", [8, 5])
def test_eltwise(normal, blocked, name, channels) -> None:
    alpha, beta, define = FUNCTIONS[name]
    x = blocked(2, channels, 3, 4)
    plain = elements(x).astype("d")
    y = ops.eltwise(x, name, alpha, beta)
    assert y.layout is x.layout
    np.testing.assert_allclose(elements(y), define(plain), rtol=1e-4, atol=1e-5)
    gy = normal(*x.shape)
    expected = naive.central_difference(define, plain, gy)
    gx = ops.eltwise_backward(x, gy, name, alpha, beta)
    np.testing.assert_allclose(elements(gx), expected, rtol=1e-3, atol=1e-3)
    if name in ops.activation.FROM_OUTPUT:
        gx = ops.eltwise_backward(y, gy, name, alpha, beta, from_output=True)
        np.testing.assert_allclose(elements(gx), expected, rtol=1e-3, atol=1e-3)


def test_named_functions(normal) -> None:
    x, gy = normal(4, 5), normal(4, 5)
    y = ops.relu(x, 0.25)
    np.testing.assert_allclose(y, np.where(x > 0, x, 0.25 * x), rtol=1e-6)
    np.testing.assert_allclose(ops.relu_backward(y, gy, 0.25), np.where(x > 0, gy, 0.25 * gy))
    np.testing.assert_allclose(ops.relu_backward(x, gy), gy * (x > 0))
    y = ops.tanh(x)
    np.testing.assert_allclose(ops.tanh_backward(y, gy), gy * (1 - np.tanh(x) ** 2), atol=1e-5)
    y = ops.sigmoid(x)
    expected = gy * naive.sigmoid(x) * (1 - naive.sigmoid(x))
    np.testing.assert_allclose(ops.sigmoid_backward(y, gy), expected, atol=1e-5)


def test_in_place(normal) -> None:
    x = ideep4py.array(normal(3, 4))
    expected = np.tanh(elements(x))
    assert ops.eltwise_inplace(x, "tanh") is x
    np.testing.assert_allclose(x, expected, rtol=1e-5)
    with pytest.raises(TypeError, match="x must be an mdarray to be overwritten"):
        ops.eltwise_inplace(normal(2, 2), "tanh")


def test_relu_keeps_not_a_number() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 2, -2, 0], "f")
    np.testing.assert_array_equal(ops.relu(x), [np.nan, np.inf, 0, 2, 0, 0])
    y = ideep4py.mdarray(x)
    ops.eltwise_inplace(y, "relu")
    np.testing.assert_array_equal(y, [np.nan, np.inf, 0, 2, 0, 0])


@pytest.mark.parametrize("slope", [0.3, 0.0, -2.0])
def test_gradient_of_leaky_relu(normal, blocked, slope) -> None:
    x = blocked(2, 20, 4, 4)
    gy = normal(2, 20, 4, 4)
    expected = np.where(elements(x) > 0, gy, slope * gy)
    got = ops.leaky_relu_backward(x, gy, slope)
    assert got.layout is x.layout
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    zeros = np.zeros((3, 4), "f")
    gradient = ops.leaky_relu_backward(zeros, zeros + 2, slope)
    np.testing.assert_allclose(gradient, slope * (zeros + 2))
    with pytest.raises(ValueError, match="gy must have the shape of signed"):
        ops.leaky_relu_backward(zeros, zeros[:2], slope)


def test_errors(normal) -> None:
    x = normal(2, 3)
    with pytest.raises(ValueError, match="name must be one of"):
        ops.eltwise(x, "sine")
    with pytest.raises(ValueError, match="gy must have the shape of saved"):
        ops.eltwise_backward(x, normal(3, 2), "tanh")
    with pytest.raises(ValueError, match="needs the input"):
        ops.eltwise_backward(x, x, "square", from_output=True)
    with pytest.raises(ValueError, match="alpha >= 0"):
        ops.eltwise_backward(x, x, "relu", -1.0, from_output=True)
    with pytest.raises(ValueError, match="slope must be at least 0"):
        ops.relu_backward(x, x, -1.0)
    with pytest.raises(TypeError, match="float32"):
        ops.tanh(x.astype("d"))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "min"])
def test_binary(normal, blocked, name) -> None:
    define = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "max": np.maximum,
        "min": np.minimum,
    }[name]
    for channels in (8, 5):
        x, y = blocked(2, channels, 3, 3), normal(2, channels, 3, 3)
        expected = define(elements(x), y)
        np.testing.assert_allclose(elements(ops.binary(x, y, name)), expected, rtol=1e-6)
        np.testing.assert_allclose(elements(ops.binary(y, x, name)), define(y, elements(x)))


def test_add(normal, blocked) -> None:
    x, y = blocked(2, 8, 3, 3), normal(2, 8, 3, 3)
    np.testing.assert_allclose(elements(ops.add(y, x, y)), elements(x) + 2 * y, rtol=1e-5)
    copy = ops.add(x)
    copy += 1
    assert not np.array_equal(elements(copy), elements(x))
    with pytest.raises(ValueError, match="at least one"):
        ops.add()
    with pytest.raises(ValueError, match="xs\\[1\\] must have the shape"):
        ops.add(x, normal(2, 3))


def test_copy_to(normal, blocked) -> None:
    target, source = blocked(2, 8, 3, 3), normal(2, 8, 3, 3)
    layout = target.layout
    ops.copy_to(target, source)
    assert target.layout is layout
    np.testing.assert_array_equal(elements(target), source)
    with pytest.raises(TypeError, match="target must be an mdarray"):
        ops.copy_to(source, source)


@pytest.mark.parametrize("name", ["relu", "tanh", "logistic"])
def test_gradients_of_large_arrays(normal, blocked, name) -> None:
    for x in (normal(200, 100), blocked(4, 5, 40, 40)):
        plain = elements(ideep4py.mdarray(x))
        y = ops.eltwise(x, name)
        gy = normal(*plain.shape)
        slope = {
            "relu": plain > 0,
            "tanh": 1 - np.tanh(plain) ** 2,
            "logistic": naive.sigmoid(plain) * (1 - naive.sigmoid(plain)),
        }[name]
        gx = ops.eltwise_backward(y, gy, name, from_output=True)
        np.testing.assert_allclose(elements(gx), gy * slope, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(float(gx.sum()), (gy * slope).sum(), rtol=1e-2, atol=1e-1)
