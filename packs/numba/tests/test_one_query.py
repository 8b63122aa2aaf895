"""Attention with one query, as when text is decoded: compiled values against a formula."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("with_numba")


def arrays(texts=2, heads=4, key_heads=2, n_keys=9, size=24, width=20):
    draw = np.random.randn
    q, k = draw(texts, heads, 1, size), draw(texts, key_heads, n_keys, size)
    v = draw(texts, key_heads, n_keys, width)
    return [array.astype(np.float32) for array in (q, k, v)]


def provider(q, k, v, mask=None):
    options = chainer.backends.operations.attentions.AttentionOptions(False, 1.0, 0.0)
    found = chainer.explain("scaled_dot_product_attention", q, k, v, mask, None, options=options)
    return found.chosen.provider


def expected(q, k, v, visible=None, scale=None, softcap=None):
    """Computed in float64, head by head."""
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(a, group, 1).astype(np.float64) for a in (k, v))
    scores = (q @ k.swapaxes(2, 3)) * (q.shape[3] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1) @ v


@pytest.mark.parametrize(
    "options", [{}, {"scale": 3.0}, {"softcap": 1.5}, {"scale": 9.0, "softcap": 2.0}]
)
@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_values(key_heads, options):
    q, k, v = arrays(key_heads=key_heads)
    assert provider(q, k, v) == "numba"
    y = F.scaled_dot_product_attention(q, k, v, causal=True, **options).array
    np.testing.assert_allclose(y, expected(q, k, v, **options), atol=2e-6)


@pytest.mark.parametrize("n_keys", [1, 3, 4, 41])
@pytest.mark.parametrize("key_heads", [1, 4])
@pytest.mark.parametrize(("size", "width"), [(64, 64), (128, 64), (64, 20), (20, 128)])
def test_heads_of_whole_blocks(size, width, key_heads, n_keys):
    # Products of blocks of 64 numbers take the place of plain loops.
    q, k, v = arrays(key_heads=key_heads, n_keys=n_keys, size=size, width=width)
    visible = np.random.rand(2, 4, 1, n_keys) < 0.7
    memory_k, memory_v = np.full((2, 2, key_heads, 64, max(size, width)), np.nan, np.float32)
    memory_k, memory_v = memory_k[..., :size].copy(), memory_v[..., :width].copy()
    memory_k[:, :, :n_keys], memory_v[:, :, :n_keys] = k, v
    # As a cache has them, with memory for more keys.
    k, v = memory_k[:, :, :n_keys], memory_v[:, :, :n_keys]
    assert provider(q, k, v) == "numba"
    y = F.scaled_dot_product_attention(q, k, v, causal=True).array
    # Sums of so many products are rounded as often: 128 x 2 ** -24 of scores up to 4.
    np.testing.assert_allclose(y, expected(q, k, v), atol=3e-5)
    y = F.scaled_dot_product_attention(q, k, v, visible).array
    np.testing.assert_allclose(y, expected(q, k, v, visible), atol=3e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_in_whole_blocks(bad):
    q, k, v = arrays(size=64, width=64)
    v[0, 1, 2, 5] = bad
    k[1, 0, 3, 7] = bad
    y = F.scaled_dot_product_attention(q, k, v).array
    with chainer.using_config("kernels", ()), np.errstate(invalid="ignore"):
        reference = F.scaled_dot_product_attention(q, k, v).array
    np.testing.assert_array_equal(np.isnan(y), np.isnan(reference))
    np.testing.assert_allclose(y, reference, atol=3e-5)


@pytest.mark.parametrize(("offset", "window"), [(0, None), (8, 3), (4, 2), (20, 3), (-1, None)])
def test_keys_that_the_options_hide(offset, window):
    q, k, v = arrays()
    positions = np.arange(9)
    visible = positions <= offset
    if window is not None:
        visible &= positions > offset - window
    y = F.scaled_dot_product_attention(q, k, v, causal=True, offset=offset, window=window).array
    np.testing.assert_allclose(y, expected(q, k, v, visible), atol=2e-6)


@pytest.mark.parametrize("shape", [(2, 1, 1, 9), (1, 1, 1, 9), (2, 4, 1, 9), (9,), (2, 1, 1, 1)])
def test_masks(shape):
    q, k, v = arrays()
    mask = np.random.rand(*shape) < 0.5
    y = F.scaled_dot_product_attention(q, k, v, mask).array
    np.testing.assert_allclose(y, expected(q, k, v, mask), atol=2e-6)


def test_a_query_without_a_key_gives_zeros():
    q, k, v = arrays()
    mask = np.zeros((2, 1, 1, 9), bool)
    mask[1] = True
    y = F.scaled_dot_product_attention(q, k, v, mask).array
    assert not y[0].any()
    assert y[1].all()
    none = F.scaled_dot_product_attention(q, k[:, :, :0], v[:, :, :0]).array
    np.testing.assert_array_equal(none, np.zeros((2, 4, 1, 20)))


def test_memory_of_a_cache_is_read_in_place_and_other_arrays_are_copied():
    q, k, v = arrays()
    same = F.scaled_dot_product_attention(q, k, v).array
    memory = np.full((2, 2, 30, 24), np.nan, np.float32)
    memory[:, :, :9] = k
    memory.flags.writeable = False
    wide = np.zeros((2, 2, 9, 40), np.float32)
    wide[..., ::2] = v
    y = F.scaled_dot_product_attention(q, memory[:, :, :9], wide[..., ::2]).array
    np.testing.assert_array_equal(y, same)


def test_special_values():
    q, k, v = arrays(texts=1, heads=2, key_heads=2)
    k[0, 0, 3, 0] = np.nan
    with np.errstate(invalid="ignore"):
        y = F.scaled_dot_product_attention(q, k, v).array
    assert np.isnan(y[0, 0]).all()
    np.testing.assert_allclose(y[0, 1], expected(q, k, v)[0, 1], atol=2e-6)
    # Large scores overflow no exponential.
    q, k, v = arrays()
    y = F.scaled_dot_product_attention(q * 100, k * 100, v).array
    np.testing.assert_allclose(y, expected(q * 100, k * 100, v), atol=1e-4)


def test_several_queries_other_dtypes_and_numbers_as_a_mask_are_left_to_the_reference():
    q, k, v = arrays()
    assert provider(np.repeat(q, 2, axis=2), k, v) == "reference"
    assert provider(*(a.astype(np.float64) for a in (q, k, v))) == "reference"
    assert provider(q, k, v, np.zeros((1, 1, 1, 9), np.float32)) == "reference"
    assert provider(q, k, v, np.ones((1, 1, 1, 9), bool)) == "numba"


def test_gradients_of_one_query():
    q, k, v = arrays(n_keys=4, size=3, width=2)
    gy = np.random.randn(2, 4, 1, 2).astype(np.float32)
    chainer.gradient_check.check_backward(
        F.scaled_dot_product_attention, (q, k, v), gy, atol=1e-2, rtol=1e-2, eps=1e-2
    )


def test_threads(use_threads):
    q, k, v = arrays(texts=3)
    one = F.scaled_dot_product_attention(q, k, v).array
    use_threads(3)
    np.testing.assert_array_equal(F.scaled_dot_product_attention(q, k, v).array, one)


@pytest.mark.parametrize("shape", [(1, 5), (3, 2, 64), (7,), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rms_normalization(shape, dtype):
    x, gamma = np.random.randn(*shape).astype(dtype), np.random.randn(shape[-1]).astype(dtype)
    provider = chainer.explain("rms_normalization", x, gamma, eps=1e-3).chosen.provider
    assert provider == ("numba" if x.size else "reference")
    y = F.rms_normalization(x, gamma, 1e-3).array
    wide = x.astype(np.float64)
    exact = wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-3) * gamma
    np.testing.assert_allclose(y, exact, atol=1e-5 if dtype == np.float32 else 1e-2)
    assert y.dtype == dtype
    if x.size:
        gy = np.random.randn(*shape).astype(dtype)
        chainer.gradient_check.check_backward(
            lambda x, g: F.rms_normalization(x, g, 1e-3),
            (x, gamma),
            gy,
            dtype=np.float64,
            atol=1e-3,
            rtol=1e-3,
        )

        def gradients():
            inputs = [chainer.Variable(a) for a in (x, gamma)]
            y = F.rms_normalization(inputs[0], inputs[1], 1e-3)
            y.grad = gy
            y.backward()
            return [variable.grad for variable in inputs]

        ours = gradients()
        with chainer.using_config("kernels", ()):
            expected = gradients()
        tolerance = 1e-5 if dtype == np.float32 else 2e-2
        for gradient, other in zip(ours, expected, strict=True):
            np.testing.assert_allclose(gradient, other, atol=tolerance, rtol=tolerance)
