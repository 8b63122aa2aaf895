"""Transforms of functions as calls of NumPy, written by hand: the bound of every NumPy framework

Derivatives are calls without any checks. In the rows ``captured``, intermediate results have memory
of their own, as in a captured step. The rows of convolutions have what Chainer computes for them:
patches, products, pooling, and their gradients.
"""

from __future__ import annotations

import numpy as np
import transforms_data as data
from bench_case import Case
from numpy.lib.stride_tricks import sliding_window_view

UNIT = "us"
COMPARES_FRAMEWORKS = True


def outputs(params, x):
    """Returns the outputs of the three layers."""
    W1, b1, W2, b2, W3, b3 = params
    y1 = np.tanh(x @ W1.T + b1)
    y2 = np.tanh(y1 @ W2.T + b2)
    return y1, y2, y2 @ W3.T + b3


def through(t, first, second, third, y, z):
    """Returns a direction or a gradient behind the layers, whose order is the one of the walk."""
    t = t @ first
    t = (t - t * (y * y)) @ second
    return (t - t * (z * z)) @ third


def jvp(params, x, v):
    W1, _, W2, _, W3, _ = params
    y1, y2, _ = outputs(params, x)  # jvp returns the value, too
    return through(v, W1.T, W2.T, W3.T, y1, y2)


def vjp(params, x, v):
    W1, _, W2, _, W3, _ = params
    y1, y2, _ = outputs(params, x)
    return through(v, W3, W2, W1, y2, y1)


def hvp(params, x, v):
    W1, _, W2, _, W3, _ = params
    y1, y2, y3 = outputs(params, x)
    _ = (y3 * y3).sum()
    # The gradient, and its tangent beside it.
    t1 = v @ W1.T
    d1, d2 = 1 - y1 * y1, 1 - y2 * y2
    s1 = d1 * t1
    t2 = s1 @ W2.T
    s2 = d2 * t2
    t3 = s2 @ W3.T
    g2, h2 = (y3 + y3) @ W3, (t3 + t3) @ W3
    h2 = h2 * d2 + g2 * y2 * s2 * -2
    g1, h1 = (g2 * d2) @ W2, h2 @ W2
    return (h1 * d1 + g1 * y1 * s1 * -2) @ W1


def captured_jvp(params, x, v):
    """Returns a function that writes to memory of its own."""
    W1, b1, W2, b2, W3, _ = params
    W1, W2, W3 = W1.T, W2.T, W3.T
    y1, y2, t1, t2, s = [np.empty((64, 32), np.float32) for _ in range(5)]
    matmul, multiply, subtract, add, tanh = np.matmul, np.multiply, np.subtract, np.add, np.tanh

    def run(x, v):
        out = np.empty((64, 6), np.float32)
        matmul(x, W1, y1)
        add(y1, b1, y1)
        tanh(y1, y1)
        matmul(y1, W2, y2)
        add(y2, b2, y2)
        tanh(y2, y2)
        matmul(v, W1, t1)
        multiply(y1, y1, s)
        multiply(s, t1, s)
        subtract(t1, s, t1)
        matmul(t1, W2, t2)
        multiply(y2, y2, s)
        multiply(s, t2, s)
        subtract(t2, s, t2)
        matmul(t2, W3, out)
        return out

    return run


def captured_hvp(params, x, v):
    """Returns a function that writes to memory of its own: 34 calls of NumPy."""
    W1, b1, W2, b2, W3, b3 = params
    U1, U2, U3 = W1.T, W2.T, W3.T
    y1, y2, d1, d2, s1, s2, g, h, r = [np.empty((64, 32), np.float32) for _ in range(9)]
    y3, t3 = np.empty((64, 6), np.float32), np.empty((64, 6), np.float32)
    one, minus_two = np.float32(1).reshape(()), np.array(-2, np.float32)
    matmul, multiply, subtract, add, tanh = np.matmul, np.multiply, np.subtract, np.add, np.tanh

    def run(x, v):
        out = np.empty((64, 10), np.float32)
        matmul(x, U1, y1)
        add(y1, b1, y1)
        tanh(y1, y1)
        matmul(y1, U2, y2)
        add(y2, b2, y2)
        tanh(y2, y2)
        matmul(y2, U3, y3)
        add(y3, b3, y3)
        multiply(y1, y1, d1)
        subtract(one, d1, d1)
        multiply(y2, y2, d2)
        subtract(one, d2, d2)
        matmul(v, U1, s1)
        multiply(d1, s1, s1)
        matmul(s1, U2, s2)
        multiply(d2, s2, s2)
        matmul(s2, U3, t3)
        add(y3, y3, y3)
        add(t3, t3, t3)
        matmul(y3, W3, g)
        matmul(t3, W3, h)
        multiply(h, d2, h)
        multiply(g, y2, r)
        multiply(r, s2, r)
        multiply(r, minus_two, r)
        add(h, r, h)
        multiply(g, d2, g)
        matmul(g, W2, r)
        matmul(h, W2, g)
        multiply(g, d1, g)
        multiply(r, y1, r)
        multiply(r, s1, r)
        multiply(r, minus_two, r)
        add(g, r, g)
        matmul(g, W1, out)
        return out

    return run


def convnet_gradients(params, x, t):
    """Returns the gradients of each sample of the classifier with two convolutions."""
    filters = params[0:4:2]
    biases = params[1:4:2]
    n = len(x)
    saved = []
    h = x
    for W, b in zip(filters, biases):
        n_out, n_in = W.shape[:2]
        padded = np.pad(h, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
        size = h.shape[2]
        # (samples, channels and window, places)
        patches = windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, n_in * 9, size * size)
        y = (W.reshape(n_out, -1) @ patches).reshape(n, n_out, size, size)
        y += b[:, None, None]
        np.maximum(y, 0, out=y)
        top = np.maximum(y[:, :, 0::2], y[:, :, 1::2])
        pooled = np.maximum(top[..., 0::2], top[..., 1::2])
        saved.append((patches, y, pooled, h.shape))
        h = pooled
    flat = h.reshape(n, -1)
    W, b = params[-2:]
    y = flat @ W.T + b
    y -= y.max(axis=1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=1, keepdims=True)
    y[np.arange(n), t] -= 1
    found = [y[:, :, None] * flat[:, None, :], y]
    g = (y @ W).reshape(h.shape)
    for k in (1, 0):
        patches, y, pooled, shape = saved[k]
        gy = np.zeros_like(y)
        # The first largest element of each window gets the gradient.
        left = g.copy()
        for i in (0, 1):
            for j in (0, 1):
                part = np.where(y[:, :, i::2, j::2] == pooled, left, np.float32(0))
                np.subtract(left, part, out=left)
                gy[:, :, i::2, j::2] = part
        gy *= y > 0
        n_out = gy.shape[1]
        flat_gy = gy.reshape(n, n_out, -1)
        gW = flat_gy @ patches.transpose(0, 2, 1)
        found[:0] = [gW.reshape(n, *filters[k].shape), flat_gy.sum(axis=2)]
        if k:
            gp = filters[k].reshape(n_out, -1).T @ flat_gy
            gp = gp.reshape(n, shape[1], 3, 3, shape[2], shape[3])
            padded = np.zeros((n, shape[1], shape[2] + 2, shape[3] + 2), np.float32)
            for i in range(3):
                for j in range(3):
                    padded[:, :, i : i + shape[2], j : j + shape[3]] += gp[:, :, i, j]
            g = padded[:, :, 1:-1, 1:-1]
    return found


def _case(function, arguments):
    def prepare():
        def result():
            found = function(*arguments)
            parts = found if isinstance(found, list) else [found]
            return [float(np.square(part, dtype="d").sum()) for part in parts]

        return Case([("", lambda: function(*arguments))], result)

    return prepare


_params = data.weights(data.SIZES)
_x, _v = data.points()
_eager = {
    "jvp": (jvp, _v),
    "vjp": (vjp, _v[:, :6].copy()),
    "hvp": (hvp, _v),
    "hvp, torch.autograd": (hvp, _v),
}
CASES = {
    name: _case(lambda x, v, f=function: f(_params, x, v), (_x, vector))
    for name, (function, vector) in _eager.items()
}
CASES["gradients of samples, CNN"] = _case(
    lambda x, t: convnet_gradients(data.filters(), x, t), data.samples("CNN")
)
CASES["captured: jvp"] = _case(captured_jvp(_params, _x, _v), (_x, _v))
CASES["captured: hvp"] = _case(captured_hvp(_params, _x, _v), (_x, _v))
