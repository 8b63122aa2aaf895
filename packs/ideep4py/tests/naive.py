"""Plain float64 definitions of the operations, to compare with."""

from __future__ import annotations

import itertools

import numpy as np


def pad_spatial(x: np.ndarray, pad: tuple[int, ...], after: tuple[int, ...], value: float = 0.0):
    widths = [(0, 0), (0, 0), *zip(pad, after, strict=True)]
    return np.pad(np.asarray(x, np.float64), widths, constant_values=value)


def windows(x: np.ndarray, kernel, stride, dilate) -> np.ndarray:
    """All windows of a padded array: (N, C, out..., kernel...)."""
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilate, strict=True)]
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, extent, axes)
    steps = tuple(slice(None, None, s) for s in stride)
    holes = tuple(slice(None, None, d) for d in dilate)
    return view[(slice(None), slice(None), *steps, *holes)]


def convolution(x, w, b, stride, pad, dilate, groups):
    n = x.ndim - 2
    view = windows(pad_spatial(x, pad, pad), w.shape[2:], stride, dilate)
    outs = []
    for part, filters in zip(
        np.split(view, groups, 1), np.split(w.astype(np.float64), groups), strict=True
    ):
        kernel_axes = list(range(2 + n, 2 + 2 * n))
        outs.append(np.tensordot(part, filters, ([1, *kernel_axes], [1, *range(2, 2 + n)])))
    y = np.moveaxis(np.concatenate(outs, -1), -1, 1)
    return y if b is None else y + b.reshape(1, -1, *[1] * n)


def numerical_gradient(function, array: np.ndarray, gy: np.ndarray) -> np.ndarray:
    """Gradient of ``sum(gy * function(array))`` for a *linear* function, by unit vectors: exact."""
    gradient = np.empty(array.shape)
    for index in itertools.product(*map(range, array.shape)):
        unit = np.zeros(array.shape)
        unit[index] = 1
        gradient[index] = np.sum(gy * function(unit))
    return gradient


def central_difference(function, x: np.ndarray, gy: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Gradient of ``sum(gy * function(x))`` in float64."""
    x = np.array(x, np.float64)
    gradient = np.empty(x.shape)
    for index in itertools.product(*map(range, x.shape)):
        kept = x[index]
        x[index] = kept + eps
        upper = np.sum(gy * function(x))
        x[index] = kept - eps
        lower = np.sum(gy * function(x))
        x[index] = kept
        gradient[index] = (upper - lower) / (2 * eps)
    return gradient


def pooling(x, kind, kernel, stride, pad, after):
    n = x.ndim - 2
    ones = (1,) * n
    axes = tuple(range(2 + n, 2 + 2 * n))
    if kind == "max":
        return windows(pad_spatial(x, pad, after, -np.inf), kernel, stride, ones).max(axes)
    total = windows(pad_spatial(x, pad, after), kernel, stride, ones).sum(axes)
    if kind == "average":
        return total / np.prod(kernel)
    inside = windows(pad_spatial(np.ones_like(x), pad, after), kernel, stride, ones).sum(axes)
    return total / inside


def batch_normalization(x, gamma, beta, eps, mean=None, var=None):
    x = np.asarray(x, np.float64)
    axes = (0, *range(2, x.ndim))
    shape = (1, -1, *[1] * (x.ndim - 2))
    mean = x.mean(axes) if mean is None else mean
    var = x.var(axes) if var is None else var
    normal = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps)
    return gamma.reshape(shape) * normal + beta.reshape(shape)


def local_response_normalization(x, n, k, alpha, beta):
    x = np.asarray(x, np.float64)
    before = (n - 1) // 2
    total = np.zeros_like(x)
    for c in range(x.shape[1]):
        total[:, c] = np.square(x[:, max(c - before, 0) : c + before + 1]).sum(1)
    return x / (k + alpha / n * total) ** beta


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, W, U, b):
    ys = []
    for step in np.asarray(x, np.float64):
        i, f, g, o = (step @ W[k].T + h @ U[k].T + b[k] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        ys.append(h)
    return np.stack(ys), h, c


def gru(x, h, W, U, b):
    ys = []
    for step in np.asarray(x, np.float64):
        z, r = (sigmoid(step @ W[k].T + h @ U[k].T + b[k]) for k in range(2))
        new = np.tanh(step @ W[2].T + b[2] + r * (h @ U[2].T + b[3]))
        h = z * h + (1 - z) * new
        ys.append(h)
    return np.stack(ys), h
