"""Affine transformations by the product of the transposes."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

#: Rows, terms of a sum, columns: less and more than a tile, and whole tiles.
SIZES = [(3, 40, 5), (7, 30, 37), (1, 20, 16), (4, 64, 48), (0, 8, 20), (5, 0, 20)]


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
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


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


@pytest.mark.usefixtures("any_size", "with_numba")
def test_threads_change_nothing(use_threads):
    x, W, b = arrays((9, 50, 75))
    expected = F.linear(x, W, b).array
    use_threads(3)
    np.testing.assert_array_equal(F.linear(x, W, b).array, expected)


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize(
    ("size", "dtype", "reason"),
    [
        ((4, 16, 16), np.float32, "small products"),
        ((2, 2000, 2000), np.float32, "small products"),
        ((400, 900, 900), np.float32, "many columns for each row"),
        ((200, 210, 900), np.float32, "rows are long"),
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
