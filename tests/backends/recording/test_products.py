"""Small products of recorded steps by ``ndarray.dot``: when, with which bits and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.recording import products
from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.products import is_dot
from chainer.backends.numpy.recording.tape import Call, Kind


def ref(shape, dtype="f", transposed=False, step=1):
    """Returns a reference to an array in new memory, of every ``step``-th column of a larger one"""
    rows, *columns = shape[::-1] if transposed else shape
    base = np.zeros((rows, *[n * step for n in columns]), dtype)
    array = base[..., ::step].T if transposed else base[..., ::step]
    return Ref(Buffer(base.nbytes), 0, array.shape, array.strides, array.dtype)


def product(a, b, out, **kwargs):
    return Call(Kind.UFUNC, np.matmul, (a, b), kwargs, (out,))


@pytest.fixture
def fresh_trials():
    """Nothing is known of any layout, before and after the test"""
    products._have_same_bits.cache_clear()
    products._reports_errors.cache_clear()
    yield
    products._have_same_bits.cache_clear()
    products._reports_errors.cache_clear()


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("transposed", [False, True])
def test_small_products_of_matrices(dtype, transposed):
    a, b = ref((8, 5), dtype), ref((5, 3), dtype, transposed)
    assert is_dot(product(a, b, ref((8, 3), dtype)))


@pytest.mark.parametrize(
    "call",
    [
        product(ref((200, 200)), ref((200, 200)), ref((200, 200))),  # 8 million multiplications
        product(ref((8, 5)), ref((5, 0)), ref((8, 0))),
        product(ref((8, 0)), ref((0, 3)), ref((8, 3))),
        product(ref((2, 8, 5)), ref((5, 3)), ref((2, 8, 3))),
        product(ref((8, 5)), ref((5,)), ref((8,))),
        product(ref((8, 5), "i"), ref((5, 3), "i"), ref((8, 3), "i")),
        product(ref((8, 5), "e"), ref((5, 3), "e"), ref((8, 3), "e")),
        product(ref((8, 5)), ref((5, 3), "d"), ref((8, 3), "d")),
        product(ref((8, 5)), ref((5, 3)), ref((8, 3), step=2)),
        product(ref((8, 5)), ref((5, 3)), ref((8, 3), transposed=True)),
        product(ref((8, 5)), ref((5, 3)), ref((8, 3)), dtype=np.float32),
        Call(Kind.UFUNC, np.add, (ref((5, 5)), ref((5, 5))), {}, (ref((5, 5)),)),
    ],
)
def test_other_calls_stay(call):
    assert not is_dot(call)


def test_a_result_in_the_memory_of_an_operand_stays():
    a = ref((5, 5))
    assert not is_dot(product(a, ref((5, 5)), a))
    assert not is_dot(product(ref((5, 5)), a, a))


def test_other_bits_or_silent_errors_decide_against_it(monkeypatch, fresh_trials):
    call = product(ref((7, 5)), ref((5, 3)), ref((7, 3)))
    with monkeypatch.context() as patch:
        patch.setattr(products, "have_same_bits", lambda a, b: False)
        assert not is_dot(call)
    products._have_same_bits.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(products, "_reports_errors", lambda: False)
        assert not is_dot(call)
    products._have_same_bits.cache_clear()
    assert is_dot(call)


def test_a_matrix_times_its_transpose_is_tried_as_well(monkeypatch, fresh_trials):
    """BLAS has a function of its own for it."""
    tried = []

    def noted(x, y, result):
        tried.append(np.shares_memory(x, y))
        return True

    monkeypatch.setattr(products, "_agree", noted)
    assert is_dot(product(ref((9, 4)), ref((4, 9), transposed=True), ref((9, 9))))
    assert tried == [False, True]


@pytest.mark.parametrize("rows", [1, 2, 17, 64])
@pytest.mark.parametrize("units", [1, 6, 32, 75])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_captured_products_have_the_bits_of_the_step_as_written(rows, units, dtype):
    W = np.random.RandomState(0).randn(units, 10).astype(dtype)

    def step(x, y):
        z = F.tanh(F.matmul(x, W, transb=True))
        gram = F.matmul(z, z, transb=True)
        return F.matmul(z, W), F.matmul(z, y, transa=True), gram, F.matmul(x[:, ::2], W[:, ::2].T)

    captured = chainer.capture(step, on_failure="error")
    for i in range(5):
        x, y = (np.random.RandomState(i + n).randn(rows, 10).astype(dtype) for n in (10, 20))
        for found, expected in zip(captured(x, y), step(x, y), strict=True):
            np.testing.assert_array_equal(found.array, expected.array)
    x = np.asfortranarray(x)  # other strides than in the recording
    for found, expected in zip(captured(x, x), step(x.copy("C"), x.copy("C")), strict=True):
        np.testing.assert_array_equal(found.array, expected.array)


def test_floating_point_errors_are_reported_as_in_the_step_as_written():
    W = np.ones((3, 4), "f")
    captured = chainer.capture(lambda x: F.matmul(x, W, transb=True), on_failure="error")
    x = np.ones((2, 4), "f")
    for _ in range(4):
        captured(x)
    assert "in use" in chainer.explain(captured)
    with pytest.warns(RuntimeWarning, match="overflow encountered in"):
        y = captured(x * np.float32(3e38))
    assert np.isinf(y.array).all()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        captured(x * np.float32(3e38))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        captured(x * np.float32(3e38))
