"""The cases on ideep4py.

Inputs of convolutions and the like are in the layout that a network's other layers give them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ideep4py
from benchmarks import cnn_ideep4py, shapes
from ideep4py import ops

CASES: dict[str, Callable[[], Callable[[], Any]]] = {}
set_threads = ideep4py.set_num_threads
_random = np.random.default_rng(0)


def _array(*shape: int) -> Any:
    return ideep4py.array(_random.standard_normal(shape, dtype=np.float32))


def _blocked(*shape: int) -> Any:
    """An array as a convolution returns it."""
    weights = np.zeros((shape[1], shape[1], 1, 1), np.float32)
    array = ops.convolution(_array(*shape), weights)
    array += _array(*shape)
    return array


def _case(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES[name] = make
        return make

    return add


def _convolution(name: str, x: Any, w: Any, stride: int, pad: int) -> None:
    geometry = {"stride": stride, "pad": pad}

    def source() -> Any:
        return _blocked(*x) if x[1] > 3 else _array(*x)

    @_case(f"{name}_forward")
    def _() -> Any:
        a, b, c = source(), _array(*w), _array(w[0])
        return lambda: ops.convolution(a, b, c, **geometry)

    @_case(f"{name}_data_gradient")
    def _() -> Any:
        b = _array(*w)
        gy = ops.convolution(source(), b, **geometry)
        return lambda: ops.convolution_backward_data(gy, b, x, **geometry)

    @_case(f"{name}_weight_gradient")
    def _() -> Any:
        a, b = source(), _array(*w)
        gy = ops.convolution(a, b, **geometry)
        return lambda: ops.convolution_backward_weights(a, gy, w, bias=True, **geometry)


for _name, _sizes in shapes.CONVOLUTIONS.items():
    _convolution(_name, *_sizes)


@_case("max_pool2_forward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    return lambda: ops.pooling(x, "max", 2)


@_case("max_pool2_backward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    y, workspace = ops.pooling(x, "max", 2)
    return lambda: ops.pooling_backward(y, x, "max", 2, workspace=workspace)


@_case("avg_pool3_forward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    return lambda: ops.pooling(x, "average", 3, stride=2, pad=1)


def _batch_norm(relu: bool) -> tuple[Callable[[], Any], Callable[[], Any]]:
    x, gamma, beta = _blocked(*shapes.IMAGE), _array(64), _array(64)
    y, mean, var, workspace = ops.batch_normalization(x, gamma, beta, relu=relu)
    return (
        lambda: ops.batch_normalization(x, gamma, beta, relu=relu),
        lambda: ops.batch_normalization_backward(x, y, gamma, mean, var, workspace=workspace),
    )


CASES["batch_norm_forward"] = lambda: _batch_norm(False)[0]
CASES["batch_norm_backward"] = lambda: _batch_norm(False)[1]
CASES["batch_norm_relu_forward"] = lambda: _batch_norm(True)[0]
CASES["batch_norm_relu_backward"] = lambda: _batch_norm(True)[1]


@_case("lrn_forward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    return lambda: ops.local_response_normalization(x)


@_case("relu_forward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    return lambda: ops.relu(x)


@_case("relu_backward")
def _() -> Any:
    x = _blocked(*shapes.IMAGE)
    y = ops.relu(x)
    return lambda: ops.relu_backward(y, x)


@_case("tanh_forward")
def _() -> Any:
    x = _array(700, 800)
    return lambda: ops.tanh(x)


@_case("sigmoid_forward")
def _() -> Any:
    x = _array(700, 800)
    return lambda: ops.sigmoid(x)


@_case("sigmoid_backward")
def _() -> Any:
    x, y = _array(700, 800), _array(700, 800)
    return lambda: ops.sigmoid_backward(x, y)


@_case("add")
def _() -> Any:
    x, y = _blocked(*shapes.IMAGE), _blocked(*shapes.IMAGE)
    return lambda: x + y


@_case("concat")
def _() -> Any:
    x, y = _blocked(*shapes.IMAGE), _blocked(*shapes.IMAGE)
    return lambda: ops.concat([x, y])


@_case("log_softmax_forward")
def _() -> Any:
    x = _array(*shapes.SOFTMAX)
    return lambda: ops.log_softmax(x)


@_case("log_softmax_backward")
def _() -> Any:
    y, gy = ops.log_softmax(_array(*shapes.SOFTMAX)), _array(*shapes.SOFTMAX)
    return lambda: ops.log_softmax_backward(y, gy)


def _linear(name: str, m: int, k: int, n: int) -> None:
    @_case(f"{name}_forward")
    def _() -> Any:
        x, w, b = _array(m, k), _array(n, k), _array(n)
        return lambda: ops.linear(x, w, b)

    @_case(f"{name}_data_gradient")
    def _() -> Any:
        gy, w = _array(m, n), _array(n, k)
        return lambda: ops.linear_backward_data(w, gy)

    @_case(f"{name}_weight_gradient")
    def _() -> Any:
        gy, x = _array(m, n), _array(m, k)
        return lambda: ops.linear_backward_weights(x, gy, bias=True)


for _name, _sizes in shapes.MATRICES.items():
    _linear(_name, *_sizes)


def _lstm(backward: bool) -> Callable[[], Any]:
    t, n, h = shapes.LSTM
    x, state = _array(t, n, h), _array(n, h)
    W, U, b = _array(4, h, h), _array(4, h, h), _array(4, h)

    def step() -> Any:
        found = ops.lstm(x, state, state, W, U, b)
        return ops.recurrent_backward(found.saved, found.y) if backward else found

    return step


CASES["lstm_forward"] = lambda: _lstm(False)
CASES["lstm_forward_backward"] = lambda: _lstm(True)


@_case("sgd")
def _() -> Any:
    p, g = _array(shapes.ADAM), _array(shapes.ADAM)
    return lambda: ops.sgd_update(p, g, 1e-6)


@_case("adam")
def _() -> Any:
    p, g = _array(shapes.ADAM), _array(shapes.ADAM)
    m, v = ops.zeros_like(p), ops.zeros_like(p)
    return lambda: ops.adam_update(p, g, m, v, 1e-6)


CASES["cnn_step"] = cnn_ideep4py.make
