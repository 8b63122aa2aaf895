"""The same cases on PyTorch, eager, contiguous (NCHW) tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks import cnn_torch, shapes

CASES: dict[str, Callable[[], Callable[[], Any]]] = {}
set_threads = torch.set_num_threads
torch.manual_seed(0)
torch.set_grad_enabled(False)
_aten: Any = torch.ops.aten


def _convolution(name: str, x: Any, w: Any, stride: int, pad: int) -> None:
    n = [stride, stride], [pad, pad], [1, 1], False, [0, 0], 1

    def backward(mask: list[bool]) -> Callable[[], Any]:
        a, b = torch.randn(x), torch.randn(w)
        gy = F.conv2d(a, b, None, stride, pad)
        return lambda: _aten.convolution_backward(gy, a, b, [w[0]], *n, mask)

    def forward() -> Callable[[], Any]:
        a, b, c = torch.randn(x), torch.randn(w), torch.randn(w[0])
        return lambda: F.conv2d(a, b, c, stride, pad)

    CASES[f"{name}_forward"] = forward
    CASES[f"{name}_data_gradient"] = lambda: backward([True, False, False])
    CASES[f"{name}_weight_gradient"] = lambda: backward([False, True, True])


for _name, _sizes in shapes.CONVOLUTIONS.items():
    _convolution(_name, *_sizes)


def _max_pool(forward: bool) -> Callable[[], Any]:
    x = torch.randn(shapes.IMAGE)
    y, indices = F.max_pool2d(x, 2, return_indices=True)
    if forward:
        return lambda: F.max_pool2d(x, 2, return_indices=True)
    return lambda: _aten.max_pool2d_with_indices_backward(
        y, x, [2, 2], [2, 2], [0, 0], [1, 1], False, indices
    )


CASES["max_pool2_forward"] = lambda: _max_pool(True)
CASES["max_pool2_backward"] = lambda: _max_pool(False)


def _unary(shape: Any, function: Callable[..., Any]) -> Callable[[], Callable[[], Any]]:
    def make() -> Callable[[], Any]:
        x = torch.randn(shape)
        return lambda: function(x)

    return make


def _pair(shape: Any, function: Callable[..., Any]) -> Callable[[], Callable[[], Any]]:
    def make() -> Callable[[], Any]:
        x, y = torch.randn(shape), torch.randn(shape)
        return lambda: function(x, y)

    return make


CASES["avg_pool3_forward"] = _unary(shapes.IMAGE, lambda x: F.avg_pool2d(x, 3, 2, 1))


def _batch_norm(forward: bool, relu: bool) -> Callable[[], Any]:
    x, gamma, beta = torch.randn(shapes.IMAGE), torch.randn(64), torch.randn(64)
    y, mean, inverse = torch.native_batch_norm(x, gamma, beta, None, None, True, 0.1, 2e-5)

    def go() -> Any:
        out = torch.native_batch_norm(x, gamma, beta, None, None, True, 0.1, 2e-5)
        return torch.relu(out[0]) if relu else out

    def back() -> Any:
        gy = _aten.threshold_backward(y, y, 0) if relu else y
        return _aten.native_batch_norm_backward(
            gy, x, gamma, None, None, mean, inverse, True, 2e-5, [True, True, True]
        )

    return go if forward else back


CASES["batch_norm_forward"] = lambda: _batch_norm(True, False)
CASES["batch_norm_backward"] = lambda: _batch_norm(False, False)
CASES["batch_norm_relu_forward"] = lambda: _batch_norm(True, True)
CASES["batch_norm_relu_backward"] = lambda: _batch_norm(False, True)
CASES["lrn_forward"] = _unary(shapes.IMAGE, lambda x: F.local_response_norm(x, 5))
CASES["relu_forward"] = _unary(shapes.IMAGE, torch.relu)
CASES["relu_backward"] = _pair(shapes.IMAGE, lambda x, y: _aten.threshold_backward(x, y, 0))
CASES["tanh_forward"] = _unary((700, 800), torch.tanh)
CASES["sigmoid_forward"] = _unary((700, 800), torch.sigmoid)
CASES["sigmoid_backward"] = _pair((700, 800), _aten.sigmoid_backward)
CASES["add"] = _pair(shapes.IMAGE, torch.add)
CASES["concat"] = _pair(shapes.IMAGE, lambda x, y: torch.cat([x, y], 1))
CASES["log_softmax_forward"] = _unary(shapes.SOFTMAX, lambda x: F.log_softmax(x, 1))
CASES["log_softmax_backward"] = _pair(
    shapes.SOFTMAX, lambda x, y: _aten._log_softmax_backward_data(x, y, 1, torch.float32)
)


def _linear(name: str, m: int, k: int, n: int) -> None:
    def forward() -> Callable[[], Any]:
        x, w, b = torch.randn(m, k), torch.randn(n, k), torch.randn(n)
        return lambda: F.linear(x, w, b)

    def data() -> Callable[[], Any]:
        gy, w = torch.randn(m, n), torch.randn(n, k)
        return lambda: gy @ w

    def weights() -> Callable[[], Any]:
        gy, x = torch.randn(m, n), torch.randn(m, k)
        return lambda: (gy.t() @ x, gy.sum(0))

    CASES[f"{name}_forward"] = forward
    CASES[f"{name}_data_gradient"] = data
    CASES[f"{name}_weight_gradient"] = weights


for _name, _sizes in shapes.MATRICES.items():
    _linear(_name, *_sizes)


def _lstm(backward: bool) -> Callable[[], Any]:
    t, n, h = shapes.LSTM
    module, x = torch.nn.LSTM(h, h), torch.randn(t, n, h, requires_grad=True)

    def step() -> Any:
        with torch.enable_grad():
            y = module(x)[0]
            if backward:
                y.backward(y.detach())
        return y

    return step


def _optimizer(kind: Any) -> Callable[[], Any]:
    parameter = torch.nn.Parameter(torch.randn(shapes.ADAM))
    parameter.grad = torch.randn(shapes.ADAM)
    return kind([parameter], lr=1e-6, foreach=True).step


CASES["lstm_forward"] = lambda: _lstm(False)
CASES["lstm_forward_backward"] = lambda: _lstm(True)
CASES["sgd"] = lambda: _optimizer(torch.optim.SGD)
CASES["adam"] = lambda: _optimizer(torch.optim.Adam)
CASES["cnn_step"] = cnn_torch.make
