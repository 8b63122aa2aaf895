"""Rewritten calls compute the same bits: single assignment and faster sums."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.recording import alternatives
from chainer.backends.numpy.recording.assignment import with_single_assignment
from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.simplify import simplified
from chainer.backends.numpy.recording.tape import Call, Kind

FLOAT = np.dtype("f")


def ref(buffer, shape=(4,), offset=0):
    return Ref(buffer, offset, shape, (4,), FLOAT)


def ufunc(function, out, *args):
    return Call(Kind.UFUNC, function, args, {}, (out,))


def test_each_whole_write_but_the_last_gets_memory_of_its_own():
    x, y, g = [Buffer(16) for _ in range(3)]
    calls = [
        ufunc(np.multiply, ref(g), ref(x), ref(x)),
        ufunc(np.multiply, ref(g), ref(g), ref(y)),
        ufunc(np.add, ref(y), ref(g), ref(x)),
    ]
    with_single_assignment(calls, ())
    first = calls[0].out[0].buffer
    assert first is not g
    assert calls[1].args[0].buffer is first
    assert calls[1].out[0].buffer is g  # where later calls and outputs find it
    assert calls[2].args[0].buffer is g


def test_parts_are_written_to_the_present_memory():
    x, g = Buffer(16), Buffer(16)
    calls = [
        ufunc(np.multiply, ref(g), ref(x), ref(x)),
        ufunc(np.negative, ref(g, (2,), 8), ref(x, (2,))),
        ufunc(np.multiply, ref(g), ref(g), ref(x)),
        ufunc(np.negative, ref(g, (2,), 8), ref(x, (2,))),
    ]
    with_single_assignment(calls, ())
    first = calls[0].out[0].buffer
    assert calls[1].out[0].buffer is first
    assert calls[2].args[0].buffer is first
    assert calls[2].out[0].buffer is g
    assert calls[3].out[0].buffer is g


def test_parts_of_other_memory_stay():
    x, g = Buffer(16), Buffer(16)
    calls = [ufunc(np.multiply, ref(g), ref(x), ref(x)), ufunc(np.add, ref(g), ref(g), ref(x))]
    with_single_assignment(calls, [g])
    assert calls[0].out[0].buffer is g


def test_a_product_is_computed_once():
    """Both kernels write the square of y to memory that they then change."""
    link = chainer.links.Linear(3, 3)

    def step(x):
        y = F.tanh(link(x))
        (g,) = chainer.grad([y], [link.W], enable_double_backprop=True)
        (gg,) = chainer.grad([F.sum(g**2)], [link.b])
        return gg

    captured = chainer.capture(step, link, on_failure="error")
    for i in range(5):
        x = np.random.RandomState(i).randn(4, 3).astype("f")
        np.testing.assert_array_equal(captured(x).array, step(x).array)


@pytest.fixture
def worth(monkeypatch):
    """Sets which share of the time another way may take; large numbers take any."""

    def set_worth(share):
        monkeypatch.setattr(alternatives, "_WORTH", share)
        alternatives._fastest.cache_clear()

    yield set_worth
    alternatives._fastest.cache_clear()


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((24, 24, 3), 2), ((24, 24, 16), 1), ((300, 2), 1), ((300, 2), -1), ((40, 7, 9), (1,))],
)
def test_sums_have_the_bits_of_numpy(worth, shape, axis, dtype, keepdims):
    worth(1000.0)
    rng = np.random.RandomState(0)
    captured = chainer.capture(
        lambda x: F.sum(-x, axis=axis, keepdims=keepdims), on_failure="error"
    )
    for i in range(6):
        x = (rng.randn(*shape) * 10.0 ** rng.randint(-2, 2, shape)).astype(dtype)
        x.flat[::3] = 0
        x[-2:] = [0, 1e-30][i % 2]
        if i > 3:
            x.flat[1] = [np.nan, np.inf][i - 4]
        expected = F.sum(-x, axis=axis, keepdims=keepdims).array
        assert captured(x).array.tobytes() == expected.tobytes()


def rewritten(function, out_shape, *shapes, **kwargs):
    """Returns the functions of the calls that take the place of one call."""
    refs = [refer(np.zeros(shape, "f")) for shape in shapes]
    out = refer(np.zeros(out_shape, "f"))
    out.buffer.memory = None
    calls = [Call(Kind.UFUNC, function, tuple(refs), kwargs, (out,))]
    return [call.function for call in simplified(calls, [out], set())]


def refer(array):
    return Ref(Buffer(array.nbytes, array), 0, array.shape, array.strides, array.dtype, array)


def test_sums_become_additions_or_copies(worth):
    worth(1000.0)
    reduce = np.add.reduce
    assert rewritten(reduce, (24, 24), (24, 24, 3), axis=2) == [np.add] * 3
    assert rewritten(reduce, (24, 16), (24, 24, 16), axis=1) == [np.positive, reduce]
    worth(0.0)
    assert rewritten(reduce, (24, 24), (24, 24, 3), axis=2) == [reduce]


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_products_of_columns_and_rows_have_the_bits_of_matmul(worth, dtype):
    worth(1000.0)
    assert np.multiply in rewritten(np.matmul, (24, 32), (24, 1), (1, 32))
    assert rewritten(np.matmul, (24, 32), (24, 2), (2, 32)) == [np.matmul]
    captured = chainer.capture(lambda x, y: F.matmul(x, y, transb=True), on_failure="error")
    rng = np.random.RandomState(0)
    for _ in range(5):
        x, y = rng.randn(24, 1).astype(dtype), rng.randn(32, 1).astype(dtype)
        x[:6, 0] = y[:6, 0] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30
        with np.errstate(all="ignore"):
            found, expected = captured(x, y).array, F.matmul(x, y, transb=True).array
        assert alternatives.have_same_bits(found, expected)


def test_signs_of_zeros_are_compared():
    a = np.array([0.0, np.nan], "f")
    assert alternatives.have_same_bits(a, np.array([0.0, -np.nan], "f"))
    assert not alternatives.have_same_bits(a, np.array([-0.0, np.nan], "f"))
    assert not alternatives.have_same_bits(a, np.array([0.0, 1.0], "f"))


def test_products_with_the_gradient_of_a_sum_are_recorded():
    """The gradient is an array that is filled with a number; a view would take another order."""
    link = chainer.links.Linear(32, 1)

    def step(x):
        link.cleargrads()
        F.sum(F.tanh(link(x)) * 0.7).backward()
        return link.W.grad + F.sum(link(x)).array

    captured = chainer.capture(step, link, on_failure="error")
    for i in range(5):
        x = np.random.RandomState(i).randn(24, 32).astype("f")
        assert captured(x).tobytes() == step(x).tobytes()


def test_elementwise_calls_read_the_number_that_fills_an_array():
    x, s, y, z = Buffer(16, np.zeros(4, "f")), Buffer(4), Buffer(16), Buffer(16)
    number = Ref(s, 0, (), (), FLOAT)
    fill = Call(Kind.WRITE, np.ndarray.__setitem__, (ref(y), Ellipsis, number), {}, None)
    first = Call(Kind.UFUNC, np.add.reduce, (ref(x),), {"axis": None}, (number,))
    multiply = ufunc(np.multiply, ref(z), ref(x), ref(y))
    calls = simplified([first, fill, multiply], [ref(z)], set())
    assert [call.function for call in calls] == [np.add.reduce, np.multiply]
    assert calls[1].args[1].place() == number.place()


def test_a_filled_array_that_others_read_is_kept():
    x, s, y, z = Buffer(16, np.zeros(4, "f")), Buffer(4), Buffer(16), Buffer(16)
    number, w = Ref(s, 0, (), (), FLOAT), Ref(Buffer(4), 0, (), (), FLOAT)
    fill = Call(Kind.WRITE, np.ndarray.__setitem__, (ref(y), Ellipsis, number), {}, None)
    first = Call(Kind.UFUNC, np.add.reduce, (ref(x),), {"axis": None}, (number,))
    calls = [first, fill, ufunc(np.multiply, ref(z), ref(x), ref(y))]
    product = Call(Kind.UFUNC, np.matmul, (ref(y), ref(z)), {}, (w,))
    found = simplified([*calls, product], [w], set())
    assert np.positive in [call.function for call in found]
    # The number changes before the array is read.
    change = Call(Kind.UFUNC, np.add.reduce, (ref(z),), {"axis": None}, (number,))
    late = ufunc(np.multiply, ref(Buffer(16)), ref(z), ref(y))
    found = simplified([first, fill, change, late], [*late.out], set())
    assert np.positive in [call.function for call in found]


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F"])
@pytest.mark.parametrize("is_first", [False, True])
def test_products_with_ones_are_left_out(dtype, is_first):
    """Of real numbers, they change no bit: not of zeros, infinities, NaN or subnormal numbers."""

    def step(x):
        y = x + x
        one = np.ones_like(y)
        return (one * y if is_first else y * one) - 0.25

    captured = chainer.capture(step, on_failure="error")
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).smallest_subnormal, 1.5]
    x = np.array(values, dtype)
    with np.errstate(invalid="ignore"):
        for _ in range(4):
            np.testing.assert_array_equal(captured(x).view("u1"), step(x).view("u1"))
    calls = 3 if dtype == "F" else 2
    assert f"program: {calls} calls of NumPy" in captured.explain()


def test_products_with_ones_of_another_shape_or_dtype_are_made():
    def step(x):
        y = x + x
        return y * np.ones((2, 3), "f"), y * np.ones(3, "d"), y * (np.ones(3, "f") * 2)

    captured = chainer.capture(step, on_failure="error")
    x = np.arange(3, dtype="f")
    for _ in range(4):
        for found, expected in zip(captured(x), step(x), strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            np.testing.assert_array_equal(found, expected)


def test_the_gradient_of_a_sum_takes_no_product():
    captured = chainer.capture(
        lambda x, v: chainer.hvp(lambda x: F.sum(F.exp(x) ** 2), x, v)[1], on_failure="error"
    )
    x = np.random.RandomState(0).randn(3, 4).astype("f")
    for _ in range(4):
        found = captured(x, np.ones_like(x)).array
    np.testing.assert_allclose(found, 4 * np.exp(x) ** 2, rtol=1e-5)


@pytest.mark.parametrize("treatment", ["raise", "ignore"])
def test_floating_point_errors_are_treated_as_in_the_step(treatment):
    def step(x):
        with np.errstate(divide=treatment):
            y = 1 / x
        return y * 2

    captured = chainer.capture(step, on_failure="error")
    for _ in range(4):
        captured(np.ones(3, "f"))
    zero = np.zeros(3, "f")
    with np.errstate(divide="ignore" if treatment == "raise" else "raise"):
        if treatment == "raise":
            with pytest.raises(FloatingPointError):
                captured(zero)
        else:
            assert np.isinf(captured(zero)).all()
