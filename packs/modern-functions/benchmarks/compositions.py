"""The same functions written with Chainer's own: what to do without this distribution."""

from __future__ import annotations

import math

import numpy as np

import chainer.functions as F


def gelu(x):
    return x * 0.5 * (1.0 + F.erf(x * math.sqrt(0.5)))


def gelu_tanh(x):
    return x * 0.5 * (1.0 + F.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x * F.sigmoid(x)


def mish(x):
    return x * F.tanh(F.softplus(x))


def hard_swish(x):
    return x * F.clip(x + 3.0, 0.0, 6.0) * (1 / 6)


def attention(q, k, v, causal=False):
    scores = F.matmul(q, k, transb=True) * q.shape[-1] ** -0.5
    if causal:
        low = np.full(scores.shape, -1e9, scores.dtype)
        past = np.broadcast_to(np.tri(q.shape[-2], dtype=bool), scores.shape)
        scores = F.where(past, scores, low)
    return F.matmul(F.softmax(scores, axis=-1), v)


def group_normalization(x, groups, gamma, beta, eps=1e-5):
    n, c = x.shape[:2]
    y = F.reshape(x, (1, n * groups, -1, 1))
    ones, zeros = np.ones(n * groups, x.dtype), np.zeros(n * groups, x.dtype)
    y = F.reshape(F.batch_normalization(y, ones, zeros, eps=eps), x.shape)
    shape = (c,) + (1,) * (x.ndim - 2)
    gamma = F.broadcast_to(F.reshape(gamma, shape), x.shape)
    return y * gamma + F.broadcast_to(F.reshape(beta, shape), x.shape)


def rms_normalization(x, gamma, eps=1e-6):
    scale = F.sqrt(F.mean(x * x, axis=-1, keepdims=True) + eps)
    return x / F.broadcast_to(scale, x.shape) * F.broadcast_to(gamma, x.shape)


def label_smoothed_cross_entropy(x, t, smoothing=0.1):
    spread = -F.mean(F.log_softmax(x, axis=1))
    return (1 - smoothing) * F.softmax_cross_entropy(x, t) + smoothing * spread


def rotary_embedding(x, cos, sin):
    a, b = F.split_axis(x, 2, axis=-1)
    return F.concat([a * cos - b * sin, b * cos + a * sin], axis=-1)
