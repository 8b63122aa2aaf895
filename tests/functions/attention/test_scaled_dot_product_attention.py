"""Attention: blocks, what is kept, masks, dropout."""

import tracemalloc

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import testing
from chainer.backends.numpy.kernels import attentions as kernel
from chainer.testing.specs.attention import attention as formula


class TestCausalAttention(testing.FunctionTestCase):
    dtypes = ("float32", "float64")
    layouts = ("contiguous", "strided")
    check_double_backward_options = {"atol": 1e-3, "rtol": 1e-2}

    def generate_inputs(self):
        return tuple(np.random.uniform(-1, 1, (2, 3, 4, 2)) for _ in range(3))

    def forward(self, inputs, device):
        return (F.scaled_dot_product_attention(*inputs, causal=True),)

    def forward_expected(self, inputs):
        return (formula(*inputs, causal=True).astype(inputs[0].dtype),)


def _arrays(*shapes, seed=0, dtype=np.float32):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def _gradients(arrays, gy, **kwargs):
    variables = [chainer.Variable(array) for array in arrays]
    y = F.scaled_dot_product_attention(*variables, **kwargs)
    y.grad = gy
    y.backward()
    return [y.array, *(v.grad for v in variables)]


def _numerical_gradients(arrays, gy, **kwargs):
    """By finite differences along one direction for each input."""
    slopes = []
    wide = [array.astype(float) for array in arrays]
    for i, array in enumerate(wide):
        direction = np.random.default_rng(i).standard_normal(array.shape)
        moved = []
        for sign in (-1, 1):
            inputs = list(wide)
            inputs[i] = array + sign * 1e-5 * direction
            moved.append((formula(*inputs, **kwargs) * gy).sum())
        slopes.append((direction, (moved[1] - moved[0]) / 2e-5))
    return slopes


@pytest.mark.parametrize("saved", [1 << 24, 0], ids=["saved", "computed again"])
@pytest.mark.parametrize("block", [1 << 17, 64], ids=["big blocks", "small blocks"])
@pytest.mark.parametrize(
    "case",
    [
        "plain",
        "causal",
        "mask",
        "bias",
        "dropout",
        "large",
        "large causal",
        "window",
        "causal window",
        "cap",
        "shared causal mask",
        "cached causal",
    ],
)
def test_blocks(case, block, saved, monkeypatch):
    monkeypatch.setattr(kernel, "_SAVED_ELEMENTS", saved)
    monkeypatch.setattr(kernel, "_BLOCK", block)
    monkeypatch.setattr(kernel, "_CAUSAL_QUERIES", 8)
    q, k, v, gy = _arrays((2, 3, 33, 4), (2, 3, 33, 4), (2, 3, 33, 5), (2, 3, 33, 5))
    random = np.random.default_rng(1)
    kwargs = {}
    arrays = [q, k, v]
    if "causal" in case:
        kwargs["causal"] = True
    if "large" in case:
        kwargs["scale"] = 30.0
    if "window" in case:
        kwargs["window"] = 5
    if case == "cap":
        kwargs["softcap"] = 0.7
    if "shared" in case:
        arrays[1:] = k, v = k[:, :1], v[:, :1]
    if "cached" in case:
        arrays[0], gy = q[:, :, 20:], gy[:, :, 20:]
    if "mask" in case:
        kwargs["mask"] = random.uniform(size=(2, 1, 33, 33)) < 0.7
    if case == "bias":
        arrays.append(_arrays((3, 33, 33))[0])
    if case == "dropout":
        kwargs.update(dropout=0.3, dropout_mask=random.uniform(size=(2, 3, 33, 33)) >= 0.3)
    y, *gradients = _gradients(arrays, gy, **kwargs)
    expected = formula(*[a.astype(float) for a in arrays], **kwargs)
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-5)
    numerical = _numerical_gradients(arrays, gy, **kwargs)
    for gradient, (direction, slope) in zip(gradients, numerical, strict=True):
        np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=2e-3, atol=2e-3)


def test_scores_never_exist_all_at_once(monkeypatch):
    monkeypatch.setattr(kernel, "_SAVED_ELEMENTS", 0)
    arrays = _arrays((2048, 4), (2048, 4), (2048, 4))
    tracemalloc.start()
    _gradients(arrays, np.ones((2048, 4), "f"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048 * 2048 * 4 / 3


def _kept_bytes(node):
    return sum(0 if block.weights is None else block.weights.nbytes for block in node._residual)


def test_memory_is_bounded(monkeypatch):
    arrays = _arrays((64, 4), (64, 4), (64, 4))
    node = F.scaled_dot_product_attention(*arrays).creator
    assert _kept_bytes(node) == 64 * 64 * 4
    monkeypatch.setattr(kernel, "_SAVED_ELEMENTS", 64 * 64 - 1)
    node = F.scaled_dot_product_attention(*arrays).creator
    assert _kept_bytes(node) == 0


def test_nothing_is_kept_without_graph():
    seen = []
    original = kernel.AttentionKernel.forward

    def forward(self, *args):
        y, residual = original(self, *args)
        seen.append(residual)
        return y, residual

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel.AttentionKernel, "forward", forward)
        with chainer.no_backprop_mode():
            F.scaled_dot_product_attention(*_arrays((3, 4), (3, 4), (3, 4)))
    assert seen == [None]


def test_causal_blocks_skip_the_future():
    q, k, v = _arrays((256, 4), (256, 4), (256, 4))
    node = F.scaled_dot_product_attention(q, k, v, causal=True).creator
    assert _kept_bytes(node) < 0.7 * 256 * 256 * 4


def test_one_query_of_a_cache_reads_only_its_window():
    q, k, v = _arrays((2, 4, 1, 4), (2, 2, 9, 4), (2, 2, 9, 4))
    k[:, :, :6] = v[:, :, :6] = np.nan  # a NaN that is read spreads
    with chainer.no_backprop_mode():
        y = F.scaled_dot_product_attention(q, k, v, causal=True, window=3)
    expected = formula(q, k[:, :, 6:], v[:, :, 6:], causal=True)
    np.testing.assert_allclose(y.array, expected, rtol=1e-5, atol=1e-6)


def test_queries_of_a_cache_give_what_all_queries_gave():
    q, k, v = _arrays((2, 4, 20, 4), (2, 2, 20, 4), (2, 2, 20, 4))
    for options in ({}, {"window": 4}, {"softcap": 0.5}):
        whole = F.scaled_dot_product_attention(q, k, v, causal=True, **options).array
        for start, stop in ((0, 7), (7, 8), (8, 20)):
            part = F.scaled_dot_product_attention(
                q[:, :, start:stop], k[:, :, :stop], v[:, :, :stop], causal=True, **options
            )
            np.testing.assert_allclose(part.array, whole[:, :, start:stop], rtol=1e-5, atol=1e-6)


def test_huge_scores():
    q = np.array([[100.0], [-100.0]], "f")
    y, *gradients = _gradients([q, q, q], np.ones_like(q), scale=1.0)
    np.testing.assert_array_equal(y, q)
    assert all(np.isfinite(g).all() for g in gradients)


def test_half_precision_does_not_overflow():
    q = np.full((2, 64), 30.0, np.float16)  # dot products are 57600, and 65504 is the largest
    y = F.scaled_dot_product_attention(q, q, q, scale=2.0)
    np.testing.assert_array_equal(y.array, q)


def test_output_lies_in_memory_like_the_queries():
    q, k, v = (a.transpose(0, 2, 1, 3) for a in _arrays(*[(2, 5, 3, 4)] * 3))
    y, gq, gk, gv = _gradients([q, k, v], np.ones((2, 3, 5, 4), "f"))
    for array in (y, gq, gk, gv):
        assert array.transpose(0, 2, 1, 3).flags.c_contiguous


def test_query_that_sees_nothing():
    q, k, v = _arrays((3, 4), (3, 4), (3, 2))
    mask = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1]], bool)
    for given in (mask, np.where(mask, 0, -np.inf).astype("f")):
        y, gq, gk, gv = _gradients([q, k, v], np.ones((3, 2), "f"), mask=given)
        np.testing.assert_array_equal(y[0], [0, 0])
        np.testing.assert_allclose(y[1], v[0], rtol=1e-6)
        np.testing.assert_array_equal(gq[:2], np.zeros((2, 4)))
        assert np.isfinite(gk).all() and np.isfinite(gv).all()


def test_dropout():
    q, k = _arrays((400, 4), (100, 4))
    v = np.ones((100, 1), "f")
    np.random.seed(0)
    y = F.scaled_dot_product_attention(q, k, v, dropout=0.4).array
    assert abs(y.mean() - 1) < 0.02 and y.std() > 0.01
    np.random.seed(0)
    again = F.scaled_dot_product_attention(q, k, v, dropout=0.4).array
    np.testing.assert_array_equal(y, again)
    with chainer.using_config("train", False):
        np.testing.assert_allclose(
            F.scaled_dot_product_attention(q, k, v, dropout=0.4).array, 1, rtol=1e-5
        )


def test_gradient_uses_the_same_dropout():
    (q,) = _arrays((3, 4))
    v = chainer.Variable(np.eye(3, dtype="f"))
    y = F.scaled_dot_product_attention(q, q, v, dropout=0.5)
    weights = y.array  # the values are the unit vectors
    y.grad = np.ones_like(weights)
    y.backward()
    np.testing.assert_allclose(v.grad, np.repeat(weights.sum(axis=0)[:, None], 3, 1), rtol=1e-5)


def test_same_variable_for_all():
    (x,) = _arrays((2, 5, 4), dtype=float)
    total = chainer.Variable(x)
    y = F.scaled_dot_product_attention(total, total, total)
    y.grad = np.ones_like(x)
    y.backward(enable_double_backprop=True)
    _, *parts = _gradients([x, x, x], np.ones_like(x))
    np.testing.assert_allclose(total.grad, sum(parts), rtol=1e-10)
    (gg,) = chainer.grad([F.sum(total.grad_var**2)], [total])
    assert np.isfinite(gg.array).all() and np.abs(gg.array).max() > 0


def test_backward_twice():
    arrays = _arrays((3, 4), (3, 4), (3, 4))
    variables = [chainer.Variable(a) for a in arrays]
    y = F.scaled_dot_product_attention(*variables, dropout=0.2)
    gradients = []
    for _ in range(2):
        for v in variables:
            v.cleargrad()
        y.grad = np.ones_like(y.array)
        y.backward()
        gradients.append([v.grad for v in variables])
    for first, second in zip(*gradients, strict=True):
        np.testing.assert_array_equal(first, second)


def test_rotary_embedding_depends_on_distances():
    q, k = _arrays((1, 8), (1, 8), dtype=float)

    def score(i, j):
        rotated = (
            F.rotary_embedding(a, positions=np.array([p])).array for a, p in ((q, i), (k, j))
        )
        return (next(rotated) * next(rotated)).sum()

    assert score(3, 1) == pytest.approx(score(1003, 1001), rel=1e-9)
    assert score(3, 1) != pytest.approx(score(3, 2), rel=1e-3)


def test_rotary_embedding_keeps_lengths():
    (x,) = _arrays((2, 7, 6), dtype=float)
    for interleaved in (False, True):
        y = F.rotary_embedding(x, interleaved=interleaved).array
        np.testing.assert_allclose((y**2).sum(-1), (x**2).sum(-1), rtol=1e-12)


def test_rotary_embedding_far_away():
    x = np.ones((1, 4), np.float32)
    y = F.rotary_embedding(x, positions=np.array([1_000_000])).array
    expected = F.rotary_embedding(x.astype(float), positions=np.array([1_000_000])).array
    np.testing.assert_allclose(y, expected, atol=1e-6)


def _masks(heads, n_keys):
    rng = np.random.default_rng(1)
    numbers = np.where(rng.random((heads, 1, n_keys)) > 0.3, rng.normal(size=n_keys), -np.inf)
    return {
        "none": None,
        "keys": rng.random(n_keys) > 0.4,
        "rows": rng.random((2, 1, 1, n_keys)) > 0.4,
        "heads": rng.random((2, heads, 1, n_keys)) > 0.4,
        "number": np.ones((heads, 1, 1), bool),
        "bias": numbers,
    }


@pytest.mark.parametrize("mask", list(_masks(1, 1)))
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_one_query_attends_as_the_last_of_several(dtype, key_heads, mask):
    # The last of several queries is computed in blocks; a single one, as when text is decoded, is
    # not.
    rng = np.random.default_rng(0)
    q = rng.normal(size=(2, 4, 3, 6)).astype(dtype)
    k = rng.normal(size=(2, key_heads, 5, 6)).astype(dtype)
    v = rng.normal(size=(2, key_heads, 5, 7)).astype(dtype)
    shown = _masks(4, 5)[mask]
    if mask == "bias":
        shown = shown.astype(dtype)
    tolerance = {"e": 2e-3, "f": 1e-6, "d": 1e-14}[dtype]
    for options in ({}, {"causal": True, "window": 2}, {"softcap": 2.0, "scale": 3.0}):
        with chainer.no_backprop_mode():
            one = F.scaled_dot_product_attention(q[:, :, 2:], k, v, shown, **options).array
        several = F.scaled_dot_product_attention(q, k, v, shown, **options).array
        assert one.dtype == dtype and one.shape == (2, 4, 1, 7)
        np.testing.assert_allclose(one, several[:, :, 2:], rtol=tolerance, atol=tolerance)


def test_one_query_without_keys_is_zero():
    q, k = np.ones((1, 2, 1, 4), "f"), np.ones((1, 2, 3, 4), "f")
    for keys, options in ((k[:, :, :0], {}), (k, {"causal": True, "offset": -1})):
        with chainer.no_backprop_mode():
            y = F.scaled_dot_product_attention(q, keys, keys, **options)
        np.testing.assert_array_equal(y.array, np.zeros((1, 2, 1, 4)))


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("causal", [True, False])
def test_one_query_at_any_place(causal, window):
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(1, 2, n, 4)) for n in (1, 5, 5))
    for offset in range(-2, 8):
        options = {"causal": causal, "window": window, "offset": offset}
        with chainer.no_backprop_mode():
            one = F.scaled_dot_product_attention(q, k, v, **options).array
        # Copies of the query before it, so that all are computed in blocks.
        copies = {**options, "offset": offset - 2}
        several = F.scaled_dot_product_attention(q.repeat(3, axis=2), k, v, **copies).array
        np.testing.assert_allclose(one, several[:, :, 2:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("device", ["@numpy", "@strict"])
def test_a_cache_may_be_arrays(device):
    device = chainer.get_device(device)
    rng = np.random.default_rng(4)
    arrays = [device.send(rng.normal(size=(1, 2, n, 4)).astype("f")) for n in (1, 5, 5)]
    variables = [chainer.Variable(x) for x in arrays]
    host = chainer.get_device("@numpy")
    expected = host.send(F.scaled_dot_product_attention(*variables, causal=True).array)
    for backprop in (True, False):
        with chainer.using_config("enable_backprop", backprop):
            y = F.scaled_dot_product_attention(variables[0], *arrays[1:], causal=True)
        assert y.requires_grad
        # Sums of five numbers near 1, each with a few roundings.
        np.testing.assert_allclose(host.send(y.array), expected, rtol=0, atol=1e-6)
    with pytest.raises(TypeError):
        F.scaled_dot_product_attention(variables[0], [1.0], variables[2])
