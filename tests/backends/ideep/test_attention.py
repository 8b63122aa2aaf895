"""Attention and layer normalization on oneDNN against the reference."""

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

SHAPE = (2, 4, 100, 16)  # batch, heads, length, size


@pytest.fixture(autouse=True)
def ideep():
    with chainer.using_config("use_ideep", "auto"):
        yield


def heads(seed, shape=SHAPE, size=None):
    """Heads as axes in the middle of memory, as a layer of a Transformer has them."""
    batch, n_heads, length, width = shape
    draw = np.random.RandomState(seed).randn
    return draw(batch, length, n_heads, size or width).astype("f").transpose(0, 2, 1, 3)


def results(mode, qkv, mask=None, seed=9):
    """Returns the output and the gradients of queries, keys and values."""
    with chainer.using_config("use_ideep", mode), np.errstate(all="ignore"):
        q, k, v = (chainer.Variable(array) for array in qkv)
        y = F.scaled_dot_product_attention(q, k, v, mask)
        y.grad = np.random.RandomState(seed).randn(*y.shape).astype("f")
        y.backward()
        return y.array, q.grad, k.grad, v.grad


def check(qkv, mask=None, rtol=1e-5, atol=5e-5):
    """Compares; by default for sums of 100 products of numbers of order 1, in another order."""
    for got, want in zip(results("auto", qkv, mask), results("never", qkv, mask), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def provider(q, k, v, mask=None, keep=None, **options):
    from chainer.backends.operations.attentions import AttentionOptions

    found = AttentionOptions(**{"causal": False, "scale": 0.25, "ratio": 0.0, **options})
    operation = "scaled_dot_product_attention"
    return chainer.explain(operation, q, k, v, mask, keep, options=found).chosen.provider


@pytest.mark.parametrize("size", [16, 5])
@pytest.mark.parametrize("kind", ["heads", "contiguous", "three axes", "reversed"])
def test_attention(kind, size):
    q, k, v = heads(0), heads(1), heads(2, size=size)
    if kind == "contiguous":
        q, k, v = (np.ascontiguousarray(array) for array in (q, k, v))
    elif kind == "three axes":
        q, k, v = (np.concatenate(list(array)) for array in (q, k, v))
    elif kind == "reversed":
        q, k, v = (array[..., ::-1] for array in (q, k, v))
    assert provider(q, k, v) == "ideep"
    check((q, k, v))


def test_cross_attention():
    q, k, v = heads(0), heads(1, (2, 4, 130, 16)), heads(2, (2, 4, 130, 16))
    check((q, k, v))


def test_batch_in_parts(monkeypatch):
    from chainer.backends.ideep.kernels import attentions

    monkeypatch.setattr(attentions, "_SCORES", 50_000)  # one text, of two
    check((heads(0), heads(1), heads(2)))


@pytest.mark.parametrize("shape", [(2, 1, 1, 100), (100, 100), (2, 4, 100, 100), (4, 1, 1)])
def test_mask(shape):
    mask = np.random.RandomState(3).rand(*shape) < 0.6
    check((heads(0), heads(1), heads(2)), mask)


def test_a_query_without_keys_has_the_output_zero():
    mask = np.ones((2, 1, 100, 100), bool)
    mask[0, 0, 7] = False
    qkv = heads(0), heads(1), heads(2)
    check(qkv, mask)
    y = results("auto", qkv, mask)[0]
    assert not y[0, :, 7].any()
    assert y[1, :, 7].all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e20])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_special_values(value, which):
    """NaN and infinity reach the outputs and gradients that they reach with NumPy."""
    qkv = [heads(0), heads(1), heads(2)]
    qkv[which][1, 2, 5, 3] = value
    for got, want in zip(results("auto", qkv), results("never", qkv), strict=True):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        # Rounding of the large number itself.
        size = abs(value) if np.isfinite(value) else 1
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * size)


def test_large_scores_do_not_overflow():
    # Scores of 1000 are rounded by 1e-4, and gradients of keys are a hundred times as large.
    check((100 * heads(0), heads(1), heads(2)), rtol=1e-3, atol=1e-2)


def test_gradients_of_gradients():
    def second(mode):
        with chainer.using_config("use_ideep", mode):
            q, k, v = (chainer.Variable(heads(i)) for i in range(3))
            y = F.scaled_dot_product_attention(q, k, v)
            (gq,) = chainer.grad([F.sum(y * y)], [q], enable_double_backprop=True)
            return [g.array for g in chainer.grad([F.sum(gq * gq)], [q, k, v])]

    for got, want in zip(second("auto"), second("never"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_transposing_back_copies_nothing():
    y = F.scaled_dot_product_attention(heads(0), heads(1), heads(2))
    assert F.transpose(y, (0, 2, 1, 3)).array.flags.c_contiguous


def test_what_is_left_to_numpy():
    q, k, v = heads(0), heads(1), heads(2)
    assert provider(q, k, v, np.ones((2, 1, 1, 100), bool)) == "ideep"
    assert provider(q, k, v, np.zeros((2, 1, 1, 100), "f")) == "reference"
    assert provider(q, k, v, None, np.ones((2, 4, 100, 100), bool), ratio=0.5) == "reference"
    assert provider(q, k, v, causal=True) == "reference"
    assert provider(q, k, v, window=3) == "reference"
    assert provider(q, k, v, softcap=3.0) == "reference"
    assert provider(q[:, :, :8], k, v) == "reference"
    assert provider(q, k[:, :2], v[:, :2]) == "reference"
    assert provider(q[0, 0], k[0, 0], v[0, 0]) == "reference"
    assert provider(*(a.astype(np.float64) for a in (q, k, v))) == "reference"
    assert provider(q[:0], k[:0], v[:0]) == "reference"
    long = heads(0, (1, 1, 1100, 4))
    assert provider(long, long, long) == "reference"


def normalized(mode, x, gamma, beta, eps):
    xs = [chainer.Variable(array.copy()) for array in (x, gamma, beta)]
    if mode == "mdarray":
        xs[0].to_intel64()
    with chainer.using_config("use_ideep", "never" if mode == "never" else "auto"):
        y = F.layer_normalization(*xs, eps)
        y.grad = np.random.RandomState(5).randn(*y.shape).astype("f")
        y.backward()
    return [np.asarray(y.array)] + [np.asarray(v.grad) for v in xs]


@pytest.mark.parametrize("shape", [(40, 1000), (4000, 9), (1, 40000)])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_layer_normalization(shape, eps):
    state = np.random.RandomState(1)
    x = (state.randn(*shape) + 2).astype("f")
    gamma, beta = (state.randn(shape[1]).astype("f") for _ in range(2))
    assert chainer.explain("layer_normalization", x, gamma, beta, eps=eps).chosen.provider == (
        "ideep"
    )
    expected = normalized("never", x, gamma, beta, eps)
    for mode in ("auto", "mdarray"):
        for got, want in zip(normalized(mode, x, gamma, beta, eps), expected, strict=True):
            assert got.dtype == want.dtype
            # Sums of up to 40,000 numbers of order 1.
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("which", [(), (0,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(40, 1000), (3, 5)])
def test_layer_normalization_without_a_graph(shape, which):
    """No statistics are computed, and any of the arrays may be of oneDNN."""
    state = np.random.RandomState(1)
    arrays = [state.randn(*shape).astype("f"), *state.randn(2, shape[1]).astype("f")]
    expected = F.layer_normalization(*arrays).array
    xs = [chainer.Variable(array) for array in arrays]
    for i in which:
        xs[i].to_intel64()
    with chainer.no_backprop_mode():
        y = F.layer_normalization(*xs)
    # The training kind of oneDNN has other roundings at most.
    np.testing.assert_allclose(np.asarray(y.array), np.asarray(expected), rtol=1e-5, atol=1e-5)
    y = F.layer_normalization(*xs)
    np.testing.assert_allclose(np.asarray(y.array), np.asarray(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(6, 4), (-1, 2), (2, -1, 3), (24,), (5, 5), (-1, 5), (-1, -1)])
def test_reshape_without_a_graph(shape):
    """As in a graph, with the same errors."""
    x = chainer.Variable(np.arange(24, dtype="f").reshape(4, 6))
    x.to_intel64()

    def result():
        try:
            y = F.reshape(x, shape).array
        except (ValueError, chainer.utils.type_check.InvalidType) as error:
            return str(error)
        assert type(y) is np.ndarray
        return y.tolist()

    expected = result()
    with chainer.no_backprop_mode():
        assert result() == expected


def test_small_rows_stay_with_numpy():
    x, row = np.ones((10, 20), "f"), np.ones(20, "f")
    found = chainer.explain("layer_normalization", x, row, row, eps=1e-5)
    assert found.chosen.provider == "reference"


def test_normalization_keeps_nan_and_infinity():
    x = np.ones((400, 100), "f")
    x[3, 4], x[5, 6] = np.nan, np.inf
    with np.errstate(all="ignore"):
        y = np.asarray(F.layer_normalization(x, np.ones(100, "f"), np.ones(100, "f")).array)
    assert np.isnan(y[[3, 5]]).all()
    assert np.isfinite(np.delete(y, [3, 5], 0)).all()


def test_infinite_values_cause_no_warning():
    """As with the reference: the kernel adds NaN up for itself only."""
    q, k, v = heads(0), heads(1), heads(2)
    v[0, 1, 2, 3], v[1, 0, 1, 3] = np.inf, -np.inf
    assert provider(q, k, v) == "ideep"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.scaled_dot_product_attention(q, k, v)


class Layer(chainer.Chain):
    """Attention of four heads with a normalization, and a sum of input and output."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.norm = L.LayerNormalization(64)
            self.qkv = L.Linear(64, 192)
            self.out = L.Linear(64, 64)

    def forward(self, x):
        h = F.reshape(self.qkv(self.norm(x)), (4, 128, 3, 4, 16))
        q, k, v = F.separate(F.transpose(h, (2, 0, 3, 1, 4)))
        y = F.transpose(F.scaled_dot_product_attention(q, k, v), (0, 2, 1, 3))
        return x + self.out(F.reshape(y, x.shape))


def losses(captured):
    chainer.utils.seed(0)
    model = Layer()
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(x):
        loss = F.mean(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    run = chainer.capture(step, model, optimizer, on_failure="error") if captured else step
    draw = np.random.RandomState(1).randn
    found = [float(run(draw(512, 64).astype("f")).array) for _ in range(5)]
    if captured:
        assert "in use" in chainer.explain(run)
    return found


def test_captured_step():
    """A captured step has the bits of the step as written."""
    assert losses(captured=True) == losses(captured=False)
