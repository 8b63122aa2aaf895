"""Affine transformations with a weight whose transpose is contiguous, as files of GPT-2 have it."""

from __future__ import annotations

import tracemalloc

import chainer
import chainer.functions as F
import numpy as np
import pytest

#: Terms of a sum and columns: whole blocks and parts of one, fewer rows than are read in turns,
#: more columns than several vectors are multiplied with at once, and none.
SIZES = [
    (64, 128),
    (70, 130),
    (3, 65),
    (1, 9),
    (9, 1),
    (33, 1100),
    (0, 70),
    (5, 0),
]


def arrays(rows, terms, columns, bias=True):
    """Returns vectors, a weight that is the transpose of a contiguous array, and a bias."""
    x, W = np.random.randn(rows, terms), np.random.randn(terms, columns)
    b = np.random.randn(columns).astype(np.float32) if bias else None
    return x.astype(np.float32), W.astype(np.float32).T, b


def provider(x, W, b=None):
    return chainer.explain("linear", x, W, b).chosen.provider


def reference(*inputs):
    with chainer.using_config("kernels", ()):
        return F.linear(*inputs).array


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("size", SIZES)
def test_values_are_those_of_the_formula(size, rows, bias):
    x, W, b = arrays(rows, *size, bias)
    assert provider(x, W, b) == "numba"
    y = F.linear(x, W, b).array
    assert y.dtype == np.float32
    assert y.flags.c_contiguous
    expected = x @ W.T.astype(np.float64) + (0 if b is None else b)
    # The bound of the module for any order of additions; a bias is one of the terms.
    terms = abs(x).astype(np.float64) @ abs(W.T) + (0 if b is None else abs(b))
    assert (abs(y - expected) <= (size[0] + 1) * 2.0**-24 * terms).all()


@pytest.mark.usefixtures("any_size", "with_numba")
def test_bits_do_not_depend_on_other_vectors_nor_on_the_block_of_a_column():
    x, W, b = arrays(5, 39, 1207)
    y = F.linear(x, W, b).array
    for i in range(5):
        np.testing.assert_array_equal(F.linear(x[i : i + 1], W, b).array, y[i : i + 1])
    part = np.asfortranarray(W[13:])
    np.testing.assert_array_equal(F.linear(x, part, b[13:]).array, y[:, 13:])


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("rows", [1, 4])
# Parts of whole blocks, and a last one that is not complete.
@pytest.mark.parametrize("size", [(50, 256), (47, 331), (6, 1300)])
def test_threads_change_nothing(use_threads, size, rows, threads):
    x, W, b = arrays(rows, *size)
    expected = F.linear(x, W, b).array
    use_threads(threads)
    np.testing.assert_array_equal(F.linear(x, W, b).array, expected)


@pytest.mark.usefixtures("any_size", "with_numba")
def test_strided_inputs_and_read_only_arrays():
    x, W, b = arrays(4, 30, 70)
    expected = F.linear(x[::2, ::3].copy(), np.asfortranarray(W[:, ::3]), b).array
    x, W = x[::2, ::3], np.asfortranarray(W[:, ::3])
    for array in (x, W, b):
        array.flags.writeable = False
    np.testing.assert_array_equal(F.linear(x, W, b).array, expected)


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize("order", ["C", "F"])
def test_weights_of_files_that_are_mapped_for_reading_are_not_copied(order):
    x, W, b = arrays(1, 600, 512)
    W = np.asarray(W, order=order)
    expected = F.linear(x, W, b).array
    W.flags.writeable = False
    assert provider(x, W, b) == "numba"
    tracemalloc.start()
    try:
        y = F.linear(x, W, b).array
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(y, expected)
    assert peak < W.nbytes / 10
    assert not W.flags.writeable


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("columns", [64, 70])
@pytest.mark.parametrize("rows", [1, 3])
def test_nan_and_infinities_are_those_of_the_reference(rows, columns):
    x, W, b = arrays(rows, 20, columns)
    x[0, :4] = 0
    # Zero times infinity is NaN, and so is the difference of infinities.
    W[1, 0], W[2, 1], W[columns - 1, 2] = np.inf, np.nan, -np.inf
    W[3, 8], W[4, 9] = np.inf, -np.inf
    b[5], b[6] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        y, expected = F.linear(x, W, b).array, reference(x, W, b)
    assert np.isnan(expected[0]).sum() == 4
    np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))
    for sign in (np.inf, -np.inf):
        np.testing.assert_array_equal(y == sign, expected == sign)
    x[...] = np.inf
    with np.errstate(invalid="ignore"):
        y, expected = F.linear(x, W, b).array, reference(x, W, b)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.usefixtures("any_size", "with_numba")
def test_signs_of_zeros():
    x, W, _ = arrays(2, 8, 70)
    x[...], W[...] = -0.0, abs(W)
    for b in (None, np.full(70, -0.0, np.float32)):
        y, expected = F.linear(x, W, b).array, reference(x, W, b)
        np.testing.assert_array_equal(np.signbit(y), np.signbit(expected))


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("rows", [1, 3])
def test_gradients_and_double_backward(rows):
    x, W, b = arrays(rows, 6, 20)
    assert provider(x, W, b) == "numba"
    shapes = (rows, 20), x.shape, W.shape, b.shape
    gy, *ggs = [np.random.randn(*shape).astype(np.float32) for shape in shapes]
    # The function is linear in each array, so that large steps are exact.
    options = {"eps": 1e-1, "rtol": 1e-3, "atol": 1e-3}
    chainer.gradient_check.check_backward(F.linear, (x, W, b), gy, **options)
    chainer.gradient_check.check_double_backward(F.linear, (x, W, b), gy, tuple(ggs), **options)


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("rows", [1, 2, 6, 50])
def test_methods_of_the_kernel_take_any_number_of_rows(rows):
    # A gradient of a gradient asks the kernel that was chosen for other arrays.
    x, W, b = arrays(2, 37, 70)
    kernel = chainer.kernel.get_operation("linear").select(x, W, b)
    x, _, _ = arrays(rows, 37, 70)
    gy = np.random.randn(rows, 70).astype(np.float32)
    y, gx = kernel.forward(x, W, b), kernel.backward_data(gy, W)
    for found, a, matrix, start in ((y, x, W.T, b), (gx, gy, W, 0)):
        expected = a.astype(np.float64) @ matrix + start
        terms = abs(a).astype(np.float64) @ abs(matrix) + abs(start)
        assert (abs(found - expected) <= (len(matrix) + 1) * 2.0**-24 * terms).all()


@pytest.mark.usefixtures("with_numba")
def test_sizes_that_are_served():
    def served(rows, terms, columns):
        x, W, _ = arrays(rows, terms, columns)
        return provider(x, W) == "numba"

    assert served(1, 768, 768)
    assert not served(1, 120, 768)
    assert served(2, 128, 256)
    assert served(6, 768, 768)
    assert not served(2, 100, 100)
    assert not served(7, 768, 768)
    x, W, _ = arrays(7, 768, 768)
    assert "more than 6 rows if the weight is the transpose" in str(chainer.explain("linear", x, W))
    # A matrix of one column has both orders.
    assert served(1, 1, 1 << 20)
    x, W, _ = arrays(2, 768, 768)
    assert provider(x.astype(np.float64), W.astype(np.float64)) == "reference"


@pytest.mark.usefixtures("any_size", "with_numba")
def test_a_captured_step_has_the_same_bits():
    x, W, b = arrays(1, 40, 130)
    step = chainer.capture(lambda x: F.tanh(F.linear(x, W, b)))
    for _ in range(4):
        x = np.random.randn(1, 40).astype(np.float32)
        np.testing.assert_array_equal(step(x).array, F.tanh(F.linear(x, W, b)).array)
    assert "numba" in str(chainer.explain("linear", x, W, b))
