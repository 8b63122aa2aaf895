"""Affine transformations of few rows, and sums of the gradients of their weights."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

from chainer_numba import linears
from chainer_numba.linears import LinearKernel

#: Rows, terms of a sum, columns: less and more than a tile, whole tiles, and more rows than scalar
#: products are used for.
SIZES = [
    (3, 40, 5),
    (7, 30, 37),
    (1, 20, 16),
    (1, 70, 9),
    (2, 200, 37),
    (2, 64, 3),
    (4, 64, 48),
    (0, 8, 20),
    (5, 0, 20),
    (45, 33, 70),
    (48, 64, 96),
    (150, 17, 49),
    # More terms than are added up at once, in the product and in the gradients.
    (41, 520, 36),
    (44, 18, 530),
    (140, 20, 17),
    (260, 24, 33),
    # Few terms, where a copy of the weight is faster than scalar products with AVX2; more terms of
    # a gradient than are added up at once where the weight is read in place; rows of the weight
    # that share few sets of the cache.
    (13, 256, 20),
    (20, 40, 300),
    (16, 512, 40),
]


def arrays(size, bias=True):
    rows, inner, columns = size
    x, W = np.random.randn(rows, inner), np.random.randn(columns, inner)
    b = np.random.randn(columns).astype(np.float32) if bias else None
    return x.astype(np.float32), W.astype(np.float32), b


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_values_are_those_of_the_formula(size, bias):
    x, W, b = arrays(size, bias)
    assert chainer.explain("linear", x, W, b).chosen.provider == "numba"
    expected = x.astype(np.float64) @ W.T.astype(np.float64) + (0 if b is None else b)
    y = F.linear(x, W, b).array
    assert y.dtype == np.float32
    assert y.flags.c_contiguous
    # The bound for any order of additions, so for vectors of any width: each term is rounded once
    # for its product and at most once for each term beside it. A bias is one of them.
    terms = abs(x) @ abs(W).T + (0 if b is None else abs(b))
    assert (abs(y - expected) <= (x.shape[1] + 1) * 2.0**-24 * terms).all()


@pytest.mark.parametrize("columns", [30, 512])
def test_the_way_in_which_a_weight_is_read_does_not_change_the_bits(columns):
    # 48 rows read a copy of the weight; fewer read it in place, 128 terms after the other.
    gy, W, _ = arrays((48, 300, columns), bias=False)
    W = np.ascontiguousarray(W.T)
    kernel = LinearKernel(chainer.get_device("@numpy").backend)
    many = kernel.backward_data(gy, W)
    for rows in (8, 15, 16, 40):
        np.testing.assert_array_equal(kernel.backward_data(gy[:rows], W), many[:rows])


@pytest.mark.usefixtures("with_numba")
def test_one_row_is_multiplied_with_a_large_weight():
    def provider(columns):
        x, W, _ = arrays((1, 768, columns), bias=False)
        return chainer.explain("linear", x, W, None).chosen.provider

    assert provider(768) == "numba"
    assert provider(120) == "reference"


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize(
    ("size", "provider"),
    [
        ((64, 32, 32), "reference"),
        ((64, 128, 64), "reference"),
        ((256, 64, 64), "numba"),
        ((8, 128, 128), "numba"),
    ],
)
def test_small_products_of_many_rows_are_left_to_numpy(size, provider):
    assert chainer.explain("linear", *arrays(size)).chosen.provider == provider


@pytest.mark.usefixtures("any_size", "with_numba")
def test_strided_and_read_only_arrays():
    x, W, b = arrays((6, 30, 34))
    expected = F.linear(x[::2, ::3].copy(), W[:, ::3].copy(), b).array
    x, W = x[::2, ::3], np.asfortranarray(W)[:, ::3]
    for array in (x, W, b):
        array.flags.writeable = False
    np.testing.assert_allclose(F.linear(x, W, b).array, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("any_size", "with_numba")
def test_special_values_and_signs_of_zeros():
    x, W, b = arrays((3, 2, 18))
    x[0], b[1], b[2] = 0, np.nan, -np.inf
    W[...] = abs(W)
    y = F.linear(x, W, b).array
    assert np.isnan(y[:, 1]).all()
    assert (y[:, 2] == -np.inf).all()
    x[0] = -0.0
    with chainer.using_config("kernels", ()):
        expected = F.linear(x, W).array
    np.testing.assert_array_equal(np.signbit(F.linear(x, W).array), np.signbit(expected))


@pytest.mark.usefixtures("any_size", "with_numba")
def test_gradients_and_double_backward():
    x, W, b = arrays((3, 6, 20))
    shapes = (3, 20), x.shape, W.shape, b.shape
    gy, *ggs = [np.random.randn(*shape).astype(np.float32) for shape in shapes]
    # The function is linear in each array, so that large steps are exact.
    options = {"eps": 1e-1, "rtol": 1e-3, "atol": 1e-3}
    chainer.gradient_check.check_backward(F.linear, (x, W, b), gy, **options)
    chainer.gradient_check.check_double_backward(F.linear, (x, W, b), gy, tuple(ggs), **options)


def values_and_gradients(size):
    x, W, b = map(chainer.Variable, arrays(size))
    y = F.linear(x, W, b)
    F.sum(y * y).backward()
    return y.array, x.grad, W.grad


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("threads", [2, 3])
# Few rows, of which threads share the columns; many rows; few columns; a gradient of many rows,
# where the last group of rows is not complete.
@pytest.mark.parametrize("size", [(9, 50, 75), (130, 33, 70), (255, 70, 5), (251, 301, 201)])
def test_threads_change_nothing(use_threads, size, threads):
    chainer.utils.seed(0)
    expected = values_and_gradients(size)
    use_threads(threads)
    chainer.utils.seed(0)
    for found, array in zip(values_and_gradients(size), expected, strict=True):
        np.testing.assert_array_equal(found, array)


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("size", [(300, 33, 70), (1001, 64, 3)])
def test_threads_compute_the_gradient_of_a_weight_of_many_rows(use_threads, size, monkeypatch):
    use_threads(2)
    x, W, b = arrays(size)
    gy = np.random.randn(size[0], size[2]).astype(np.float32)
    kernel = chainer.kernel.get_operation("linear").select(x, W, b)
    monkeypatch.setattr(np, "matmul", lambda *args, **kwargs: pytest.fail("BLAS is not asked"))
    found = kernel.backward_weight(x, gy, np.dtype(np.float32))
    expected = np.einsum("no,ni->oi", gy.astype(np.float64), x.astype(np.float64))
    # Sums of n products of two numbers of standard deviation 1, rounded in float32.
    np.testing.assert_allclose(found, expected, rtol=0, atol=6 * 2.0**-23 * size[0])


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("size", [size for size in SIZES if size[0] and size[1]])
def test_gradients_are_those_of_the_formula(size):
    x, W, b = arrays(size)
    gy = np.random.randn(size[0], size[2]).astype(np.float32)
    variables = [chainer.Variable(array) for array in (x, W, b)]
    y = F.linear(*variables)
    y.grad = gy
    y.backward()
    x, W, gy = (array.astype(np.float64) for array in (x, W, gy))
    for variable, expected in zip(variables, (gy @ W, gy.T @ x, gy.sum(axis=0)), strict=True):
        np.testing.assert_allclose(variable.grad, expected, rtol=1e-4, atol=1e-4)


def uses(model, batches):
    model.cleargrads()
    loss = sum(F.sum(F.tanh(model(x))) for x in batches)
    loss.backward()
    return model.W.grad, model.b.grad


@pytest.mark.usefixtures("any_size")
# Two uses, some, more rows than one product takes, a use that has too many rows, and single rows.
@pytest.mark.parametrize("rows", [(2, 3), (5, 5, 5, 5), (200,) * 90, (3, 300, 3, 3), (1, 2, 3, 4)])
def test_the_gradients_of_a_weight_that_is_used_many_times_are_added_up(rows):
    model = chainer.links.Linear(7, 19)
    batches = [np.random.randn(n, 7).astype(np.float32) for n in rows]
    expected = uses(model, batches)
    with chainer.using_config("kernels", ("numba",)):
        for got, gradient in zip(uses(model, batches), expected, strict=True):
            np.testing.assert_allclose(got, gradient, rtol=1e-4, atol=1e-4)
        # A second pass adds to what is there, and makes new sums.
        first = uses(model, batches)[0].copy()
        sum(F.sum(F.tanh(model(x))) for x in batches).backward()
        np.testing.assert_allclose(model.W.grad, 2 * first, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("blas_rows", [1, 10**9])
@pytest.mark.parametrize("rows", [(3, 5), (200, 256, 200), (1,)])
def test_collected_gradients_are_one_product(rows, blas_rows, monkeypatch):
    monkeypatch.setattr(linears, "_BLAS_ROWS", blas_rows)
    xs = [np.random.randn(n, 7).astype(np.float32) for n in rows]
    gys = [np.random.randn(2 * n, 19).astype(np.float32)[::2] for n in rows]
    start = np.random.randn(19, 7).astype(np.float32)
    total = start.copy()
    found = linears.WeightGradientSum(total)
    for x, gy in zip(xs, gys, strict=True):
        assert found.add(x, gy)
    np.testing.assert_array_equal(total, start)
    found.finish()
    found.finish()
    x, gy = np.concatenate(xs).astype("d"), np.concatenate(gys).astype("d")
    np.testing.assert_allclose(total, start + gy.T @ x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 20])
def test_gradients_of_a_bias_are_added(rows):
    gy = np.random.randn(rows, 38).astype(np.float32)[:, ::2]
    start = np.random.randn(19).astype(np.float32)
    total = start.copy()
    found = linears.BiasGradientSum(total)
    assert found.add(gy)
    found.finish()
    # Rounded once for each of up to 20 sums of numbers of a few units.
    np.testing.assert_allclose(total, start + gy.astype("d").sum(axis=0), atol=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinities_in_gradients_of_a_bias(value):
    gy, total = np.ones((9, 3), np.float32), np.zeros(3, np.float32)
    gy[4, 1] = value
    assert linears.BiasGradientSum(total).add(gy)
    np.testing.assert_array_equal(total, gy.sum(axis=0))


def test_other_gradients_of_a_bias_are_not_taken():
    total = np.zeros(3, np.float32)
    found = linears.BiasGradientSum(total)
    assert not found.add(np.ones((2, 3), np.float16))
    assert not found.add(np.ones((300, 3), np.float32))
    assert not found.add([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(total, np.zeros(3))


@pytest.mark.usefixtures("any_size")
def test_a_table_may_be_the_weight_of_a_layer():
    table = chainer.Parameter(np.random.randn(9, 16).astype(np.float32))
    words = np.random.randint(0, 9, (5, 4)).astype("i")

    def gradient():
        table.cleargrad()
        h = 0
        loss = 0
        for x in words:
            h = F.tanh(F.embed_id(x, table) + h)
            loss += F.softmax_cross_entropy(F.linear(h, table), x)
        loss.backward()
        return table.grad

    expected = gradient()
    with chainer.using_config("kernels", ("numba",)):
        np.testing.assert_allclose(gradient(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("ignored", [None, 2])
def test_the_gradients_of_a_table_are_added_up(ignored):
    table = chainer.Parameter(np.random.randn(5, 3).astype(np.float32))
    words = [np.array([1, 4, 4], "i"), np.array([[2, -1]]), np.array([0, 2, 3, 1]), np.array([4])]

    def gradient():
        table.cleargrad()
        sum(F.sum(F.sin(F.embed_id(w, table, ignored))) for w in words).backward()
        return table.grad.copy()

    expected = gradient()
    with chainer.using_config("kernels", ("numba",)):
        np.testing.assert_allclose(gradient(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("any_size", "with_numba")
def test_sums_of_weights_that_are_results_and_of_gradients_that_are_observed():
    source = chainer.Parameter(np.random.randn(6, 4).astype(np.float32))
    batches = [np.random.randn(3, 4).astype(np.float32) for _ in range(5)]

    def gradient(**options):
        source.cleargrad()
        weight = F.tanh(source)  # no leaf: its function needs the sum before the pass ends
        loss = sum(F.sum(F.sin(F.linear(x, weight))) for x in batches)
        loss.backward(**options)
        return source.grad.copy()

    expected = gradient(retain_grad=True)
    np.testing.assert_allclose(gradient(), expected, rtol=1e-5, atol=1e-5)
    with chainer.function_hooks.TimerHook():
        np.testing.assert_allclose(gradient(), expected, rtol=1e-5, atol=1e-5)

    loss = sum(F.sum(F.sin(F.linear(x, source))) for x in batches)
    (by_grad,) = chainer.grad([loss], [source])
    source.cleargrad()
    loss = sum(F.sum(F.sin(F.linear(x, source))) for x in batches)
    loss.backward()
    np.testing.assert_allclose(source.grad, by_grad.array, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize(
    ("size", "dtype", "reason"),
    [
        ((4, 16, 16), np.float32, "small products"),
        ((2, 2000, 2000), np.float32, "small products"),
        ((1100, 90, 90), np.float32, "more than 1024 rows"),
        ((20, 300, 900), np.float64, "only products of float32"),
    ],
)
def test_the_reference_serves_where_it_is_as_fast(size, dtype, reason):
    x, W = np.ones(size[:2], dtype), np.ones((size[2], size[1]), dtype)
    explanation = chainer.explain("linear", x, W, None)
    assert explanation.chosen.provider == "reference"
    assert reason in str(explanation)
    x, W = np.ones((20, 300), np.float32), np.ones((900, 300), np.float32)
    assert chainer.explain("linear", x, W, None).chosen.provider == "numba"
    explanation = chainer.explain("linear", x, np.ones((900, 600), np.float32)[:, ::2], None)
    assert explanation.chosen.provider == "reference"
    assert "only weights that are contiguous, or whose transpose is" in str(explanation)
