"""Products of many matrices, softmax in given memory, and layer normalization."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import ideep4py
from ideep4py import ops
from ideep4py._core import runtime


def heads(normal, *shape: int) -> np.ndarray:
    """Matrices (batch, heads, length, size) in the order of a layer of a Transformer."""
    batch, n_heads, length, size = shape
    return normal(batch, length, n_heads, size).transpose(0, 2, 1, 3)


def close(y, expected) -> None:
    # Sums of up to 200 products of numbers of order 1, in another order.
    np.testing.assert_allclose(np.asarray(y), expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("size", [1, 5, 64])
@pytest.mark.parametrize("length", [1, 7, 40])
def test_products_of_heads(normal, batch, size, length) -> None:
    q, k, v = (heads(normal, batch, 4, length, size) for _ in range(3))
    scores = ops.products(q, k.swapaxes(-1, -2))
    assert isinstance(scores, ideep4py.mdarray)
    close(scores, q @ k.swapaxes(-1, -2))
    out = np.full_like(q, np.nan)
    assert ops.products(scores, v, out=out) is out
    close(out, np.asarray(scores) @ v)
    out = np.full_like(v, np.nan)
    ops.products(np.asarray(scores).swapaxes(-1, -2), v, out=out)
    close(out, np.asarray(scores).swapaxes(-1, -2) @ v)


def test_products_of_any_arrays(normal) -> None:
    a, b = normal(6, 4, 3), normal(6, 3, 5)
    close(ops.products(a, b), a @ b)
    close(ops.products(ideep4py.mdarray(a), b), a @ b)
    # Backwards, with gaps, and repeated.
    close(ops.products(a[::-1], b), a[::-1] @ b)
    close(ops.products(a[:, :, ::2], b[:, ::2, ::2]), a[:, :, ::2] @ b[:, ::2, ::2])
    once = np.broadcast_to(b[:1], b.shape)
    close(ops.products(a, once), a @ once)


def test_products_use_generated_code(normal) -> None:
    """oneDNN's reference loop takes a thousand times as long, and says so in its name only."""
    module = importlib.import_module("ideep4py.ops.products")
    q = heads(normal, 2, 4, 33, 16)
    names = []
    for a, b in ((q, q.swapaxes(-1, -2)), (normal(2, 4, 33, 33).swapaxes(-1, -2), q)):
        (a, a_steps), (b, b_steps) = module._read(a, "a"), module._read(b, "b")
        out = np.empty_like(q) if b is q else np.empty((2, 4, 33, 33), np.float32)
        steps = tuple(s // 4 for s in out.strides)
        plan = runtime.plan(module._Products, a.shape, a_steps, b.shape, b_steps, out.shape, steps)
        names.append(plan.run.__self__.implementation)
    assert not any("ref" in name for name in names), names


def test_strides_of_axes_of_length_one(normal) -> None:
    """NumPy sets them to anything, here to a negative number."""
    a, b = normal(1, 6, 3)[::-1], normal(1, 3, 5)[::-1]
    assert a.strides[0] < 0
    close(ops.products(a, b), a @ b)
    a, b = normal(2, 1, 3)[:, ::-1], normal(2, 3, 1)[..., ::-1]
    close(ops.products(a, b), a @ b)


def naive_attention(q, k, v, scale, added=0):
    """Softmax and output, in float64."""
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    scores = scale * (q @ k.swapaxes(-1, -2)) + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights, weights @ v


@pytest.mark.parametrize("kind", ["heads", "contiguous", "three axes", "reversed", "gaps"])
@pytest.mark.parametrize("length", [1, 7, 40])
@pytest.mark.parametrize("keys", [1, 9])
@pytest.mark.parametrize("size", [1, 16])
def test_attention(normal, kind, length, keys, size) -> None:
    q, k, v = heads(normal, 2, 3, length, size), heads(normal, 2, 3, keys, size), None
    v = heads(normal, 2, 3, keys, 5)
    if kind == "contiguous":
        q, k, v = (np.ascontiguousarray(array) for array in (q, k, v))
    elif kind == "three axes":
        q, k, v = (np.concatenate(list(array)) for array in (q, k, v))
    elif kind == "reversed":
        q, k, v = (array[::-1, :, :, ::-1] for array in (q, k, v))
    elif kind == "gaps":
        q, k, v = (np.repeat(array, 2, axis=-1)[..., ::2] for array in (q, k, v))
    shape = (*q.shape[:-1], keys)
    expected_weights, expected = naive_attention(q, k, v, 0.3)
    # The output lies as the queries do in a layer of a Transformer.
    out = np.full((*shape[:-3], shape[-2], shape[-3], 5), np.nan, np.float32).swapaxes(-2, -3)
    weights = np.full(shape, np.nan, np.float32)
    assert ops.attention(q, k, v, 0.3, out=out) is out
    close(out, expected)
    out[...] = np.nan
    ops.attention(q, k, v, 0.3, out=out, weights=weights)
    close(out, expected)
    close(weights, expected_weights)
    added = normal(keys)
    ops.attention(q, k, v, 0.3, out=out, added=added)
    close(out, naive_attention(q, k, v, 0.3, added)[1])


def test_attention_of_special_values(normal) -> None:
    """NaN and infinite scores make NaN, and a hidden key has no weight."""
    q, k, v = (normal(2, 3, 6, 4) for _ in range(3))
    q[0, 1, 2, 3], k[1, 0, 5, 0], v[1, 1, 0, 2] = np.nan, np.inf, np.inf
    out = ops.attention(q, k, v, 0.5, out=np.empty_like(v))
    assert np.isnan(out[0, 1, 2]).all()
    assert np.isfinite(np.delete(out[0, 1], 2, 0)).all()
    assert np.isnan(out[1, 0, q[1, 0, :, 0] > 0]).all()
    assert np.isinf(out[1, 1, :, 2]).all()
    added = np.where(np.arange(6) < 4, 0, -np.inf).astype(np.float32)
    few = ops.attention(q[:1, :1], k[:1, :1], v[:1, :1], 0.5, out=out[:1, :1], added=added)
    close(few, naive_attention(q[:1, :1], k[:1, :1, :4], v[:1, :1, :4], 0.5)[1])


def test_attention_uses_generated_code(normal) -> None:
    module = importlib.import_module("ideep4py.ops.attention")
    q = heads(normal, 2, 4, 33, 16)
    steps = tuple(s // 4 for s in q.strides)
    plan = module._Attention(*(q.shape, steps) * 3, q.shape, q.strides)
    names = [f.__self__.implementation for f in (plan.multiply, plan.normalize, plan.weigh)]
    assert not any("ref" in name for name in names), names


def test_attention_errors(normal) -> None:
    q, k, v = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6)
    out = np.empty((2, 3, 6), np.float32)
    with pytest.raises(TypeError, match="k must be of dtype float32, got float64"):
        ops.attention(q, k.astype(np.float64), v, 1.0, out=out)
    with pytest.raises(ValueError, match="v must not be empty"):
        ops.attention(q, k, v[:, :0], 1.0, out=out)
    for bad in ((q[0], k[0], v[0]), (q, k[:1], v), (q, k, v[:, 1:]), (q[..., 1:], k, v)):
        with pytest.raises(ValueError, match="q, k and v do not fit"):
            ops.attention(*bad, 1.0, out=out)
    with pytest.raises(ValueError, match=r"out must have the shape \(2, 3, 6\)"):
        ops.attention(q, k, v, 1.0, out=out[:1])
    for bad in (np.empty((2, 3, 6)), np.empty((2, 6, 3), np.float32).swapaxes(1, 2)):
        with pytest.raises(ValueError, match="out must be a writable float32 array"):
            ops.attention(q, k, v, 1.0, out=bad)
    for bad in (np.empty((2, 3, 4), np.float32), np.empty((2, 5, 3), np.float32).swapaxes(1, 2)):
        with pytest.raises(ValueError, match="weights must be"):
            ops.attention(q, k, v, 1.0, out=out, weights=bad)


def test_products_errors(normal) -> None:
    a, b = normal(2, 3, 4), normal(2, 4, 5)
    with pytest.raises(TypeError, match="a must be of dtype float32, got float64"):
        ops.products(a.astype(np.float64), b)
    with pytest.raises(ValueError, match="b must have at least 3 axes"):
        ops.products(a, b[0])
    with pytest.raises(ValueError, match="a must not be empty"):
        ops.products(a[:0], b)
    with pytest.raises(ValueError, match="do not fit"):
        ops.products(a, a)
    with pytest.raises(ValueError, match="do not fit"):
        ops.products(a[:1], b)
    for out in (
        np.empty((2, 3, 4), np.float32),
        np.empty((2, 3, 5)),
        np.empty((2, 5, 3), np.float32).swapaxes(1, 2),
    ):
        with pytest.raises(ValueError, match=r"out must be .* of shape \(2, 3, 5\)"):
            ops.products(a, b, out=out)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_into_memory(normal, axis) -> None:
    """Results in given memory have the bits of new arrays."""
    x = normal(4, 5, 24)
    expected = np.asarray(ops.softmax(x, axis))
    for make in (np.array, ideep4py.array):
        out = make(np.full_like(x, np.nan))
        assert ops.softmax(x, axis, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), expected)
        same = make(x)
        assert ops.softmax(same, axis, out=same) is same
        np.testing.assert_array_equal(np.asarray(same), expected)
    for bad in (np.empty((4, 5), np.float32), np.empty((24, 5, 4), np.float32).T):
        with pytest.raises(ValueError, match="out must be writable and have the layout of x"):
            ops.softmax(x, axis, out=bad)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (20, 64), (5, 1000)])
def test_layer_normalization(normal, shape) -> None:
    x, gy, gamma, beta = normal(*shape) + 3, normal(*shape), normal(shape[1]), normal(shape[1])
    eps = 1e-3
    y, mean, var = ops.layer_normalization(x, gamma, beta, eps)
    wide = x.astype(np.float64)
    expected_mean, expected_var = wide.mean(1), wide.var(1)
    inverse = 1 / np.sqrt(expected_var + eps)[:, None]
    normalized = (wide - expected_mean[:, None]) * inverse
    np.testing.assert_allclose(np.asarray(mean), expected_mean, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(var), expected_var, rtol=1e-4, atol=1e-10)
    np.testing.assert_allclose(np.asarray(y), normalized * gamma + beta, rtol=1e-4, atol=1e-4)
    alone = ops.layer_normalization(ideep4py.mdarray(x), gamma, beta, eps, statistics=False)
    np.testing.assert_array_equal(np.asarray(alone.y), np.asarray(y))
    assert alone.mean is None
    assert alone.var is None

    gx, ggamma, gbeta = ops.layer_normalization_backward(x, gy, gamma, mean, var, eps)
    g = gy * gamma.astype(np.float64)
    projected = normalized * (g * normalized).mean(1, keepdims=True)
    expected_gx = (g - g.mean(1, keepdims=True) - projected) * inverse
    np.testing.assert_allclose(np.asarray(gx), expected_gx, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.asarray(ggamma), (gy * normalized).sum(0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.asarray(gbeta), gy.sum(0), rtol=1e-4, atol=1e-4)


def test_layer_normalization_keeps_nan_and_infinity() -> None:
    x = np.ones((4, 40), np.float32)
    x[0, 3], x[1, 2] = np.nan, np.inf
    one = np.ones(40, np.float32)
    y = np.asarray(ops.layer_normalization(x, one, one).y)
    assert np.isnan(y[0]).all()
    assert np.isnan(y[1]).all()
    np.testing.assert_array_equal(y[2:], 1)


def test_layer_normalization_errors(normal) -> None:
    x, row = normal(3, 4), normal(4)
    with pytest.raises(ValueError, match="x must have 2 axes"):
        ops.layer_normalization(normal(2, 3, 4), row, row)
    with pytest.raises(ValueError, match="gamma must have 4"):
        ops.layer_normalization(x, normal(3), row)
    _, mean, var = ops.layer_normalization(x, row, row)
    with pytest.raises(ValueError, match="gy must have the shape of x"):
        ops.layer_normalization_backward(x, normal(3, 5), row, mean, var)
    with pytest.raises(ValueError, match="var must have 3"):
        ops.layer_normalization_backward(x, x, row, mean, row)
