"""Rewritten calls compute the same bits: single assignment and faster sums."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.recording import sums
from chainer.backends.numpy.recording.assignment import with_single_assignment
from chainer.backends.numpy.recording.memory import Buffer, Ref
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


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((24, 24, 3), 2), ((24, 24, 16), 1), ((300, 2), 1), ((300, 2), -1), ((40, 7, 9), (1,))],
)
def test_sums_have_the_bits_of_numpy(monkeypatch, shape, axis, dtype, keepdims):
    monkeypatch.setattr(sums, "_WORTH", 1000.0)  # also where it takes longer
    sums._fastest.cache_clear()
    rng = np.random.RandomState(0)
    captured = chainer.capture(
        lambda x: F.sum(x * x, axis=axis, keepdims=keepdims), on_failure="error"
    )
    for i in range(6):
        x = (rng.randn(*shape) * 10.0 ** rng.randint(-2, 2, shape)).astype(dtype)
        x.flat[::3] = 0
        if i > 3:
            x.flat[1] = [np.nan, np.inf][i - 4]
        expected = F.sum(x * x, axis=axis, keepdims=keepdims).array
        assert captured(x).array.tobytes() == expected.tobytes()
    sums._fastest.cache_clear()


def test_both_ways_are_used(monkeypatch):
    monkeypatch.setattr(sums, "_WORTH", 1000.0)
    sums._fastest.cache_clear()
    for shape, axis, way in (((24, 24, 3), 2, sums._slices), ((24, 24, 16), 1, sums._axis_first)):
        array = np.empty(shape, "f")
        assert sums._fastest(array.shape, array.strides, array.dtype, axis) is way
    sums._fastest.cache_clear()


def test_slow_ways_are_dropped(monkeypatch):
    monkeypatch.setattr(sums, "_WORTH", 0.0)
    sums._fastest.cache_clear()
    array = np.empty((24, 24, 3), "f")
    assert sums._fastest(array.shape, array.strides, array.dtype, 2) is None
    sums._fastest.cache_clear()


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
