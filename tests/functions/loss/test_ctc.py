"""Connectionist temporal classification: numbers of earlier releases, limits, refusals."""

import itertools

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.testing import assert_allclose
from chainer.testing.specs.formulas import log_softmax, logsumexp
from tests.functions.loss.loss_numbers import close, numbers

ctc = F.connectionist_temporal_classification


def steps(x):
    return [chainer.Variable(step) for step in x]


def int32(*values):
    return np.array(values, np.int32)


def by_enumeration(x, labels, blank):
    """Loss of one sample ``x`` of shape ``(T, V)``: all sequences of symbols, in log space."""
    log_p = log_softmax(x.astype(np.float64), axis=1)
    totals = [
        sum(log_p[i, s] for i, s in enumerate(symbols))
        for symbols in itertools.product(range(x.shape[1]), repeat=len(x))
        if [s for s, _ in itertools.groupby(symbols) if s != blank] == list(labels)
    ]
    return -logsumexp(totals)


def test_numbers_of_earlier_releases():
    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    xs = steps(numbers(1, 4, 2, 3))
    t = int32([0, 1], [1, 1])
    loss = ctc(xs, t, 2, int32(3, 4), int32(1, 2), reduce="no")
    close(loss, [1.5078487, 4.7884736])
    loss.grad = np.array([1, 2], np.float32)
    loss.backward()
    expected = [
        [[-0.2180811, 0.6486542, -0.4305731], [1.3304819, -1.1711032, -0.159379]],
        [[-0.279066, 0.2447285, 0.0343375], [1.3304819, -0.7726769, -0.5578051]],
        [[-0.0438464, 0.1055645, -0.0617181], [0.573908, -0.187297, -0.3866107]],
        [[0, 0, 0], [0.573908, -1.4494303, 0.8755232]],
    ]
    close([x.grad for x in xs], expected)
    close(ctc(xs, int32([1, 2], [1, 1]), 0), 2.3469431)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_inputs_stay_exact(scale, dtype):
    x = (np.random.RandomState(0).randn(4, 3, 3) * scale).astype(dtype)
    t = int32([0, 1], [1, 1], [1, 0])
    xs = steps(x)
    loss = ctc(xs, t, 2, reduce="no")
    expected = [by_enumeration(x[:, b], t[b], 2) for b in range(3)]
    assert_allclose(loss.array, expected, rtol=1e-4, atol=1e-3)
    loss.grad = np.ones(3, dtype)
    loss.backward()
    gradients = np.array([x.grad for x in xs])
    assert np.isfinite(gradients).all()
    # Both the softmax and the share of each symbol sum up to one.
    assert_allclose(gradients.sum(axis=2), np.zeros((4, 3)), atol=1e-5)


def test_float16_is_computed_in_float32():
    x = numbers(3, 5, 2, 4)
    t = int32([0, 1], [2, 2])
    single, half = steps(x), steps(x.astype(np.float16))
    for xs in (single, half):
        ctc(xs, t, 3).backward()
    assert half[0].grad.dtype == np.float16
    for one, other in zip(single, half, strict=True):
        assert_allclose(one.grad, other.grad, atol=2e-4, rtol=2e-3)


@pytest.mark.parametrize(("dtype", "expected"), [("f", 1e10), ("d", 1e10), ("e", 65504)])
def test_labels_that_do_not_fit(dtype, expected):
    # Three equal labels need five steps; other samples are not disturbed.
    xs = steps(numbers(1, 4, 2, 3).astype(dtype))
    loss = ctc(xs, int32([0, 0, 0], [0, 1, 0]), 2, reduce="no")
    assert loss.array[0] == expected
    assert loss.array[1] < 100
    loss.grad = np.ones(2, dtype)
    loss.backward()
    assert not any(x.grad[0].any() for x in xs)
    assert all(x.grad[1].any() for x in xs)


def test_empty_sequences():
    xs = steps(numbers(1, 3, 3, 2))
    loss = ctc(xs, int32([0], [0], [0]), 1, int32(0, 0, 3), int32(0, 1, 0), "no")
    log_p = log_softmax(numbers(1, 3, 3, 2), axis=2)
    close(loss, [0, 1e10, -log_p[:, 2, 1].sum()])


def test_padding_of_labels_is_ignored():
    xs = numbers(2, 4, 2, 3)
    one = ctc(steps(xs), int32([0, -1], [1, 0]), 2, label_length=int32(1, 2))
    other = ctc(steps(xs), int32([0, 99], [1, 0]), 2, label_length=int32(1, 2))
    assert one.array == other.array


def test_arguments():
    x = numbers(1, 3, 2, 3)
    t = int32([0], [1])
    expected = ctc(steps(x), t, 2).array
    lengths = chainer.Variable(int32(3, 3)), chainer.Variable(int32(1, 1))
    assert ctc(tuple(x), chainer.Variable(t), np.int64(2), *lengths).array == expected
    with pytest.raises(TypeError, match="x must be a list of Variables"):
        ctc(chainer.Variable(x), t, 2)
    with pytest.raises(ValueError, match="at least one"):
        ctc([], t, 2)
    with pytest.raises(TypeError, match="blank_symbol must be non-negative integer"):
        ctc(steps(x), t, "2")
    # Earlier releases raise AssertionError.
    for blank, error in ((-1, AssertionError), (3, ValueError)):
        with pytest.raises(error, match="blank_symbol must be in 0 <= blank_symbol < 3"):
            ctc(steps(x), t, blank)
    with pytest.raises(ValueError, match="input_length must be in 0 <= input_length <= 3"):
        ctc(steps(x), t, 2, int32(3, -1))


def test_gradients_that_are_recorded_have_the_same_bits():
    xs = steps(numbers(1, 3, 2, 3))
    loss = ctc(xs, int32([0], [1]), 2)
    loss.backward()
    expected = [x.grad for x in xs]
    gxs = chainer.grad([loss], xs, enable_double_backprop=True)
    for gx, value in zip(gxs, expected, strict=True):
        np.testing.assert_array_equal(gx.array, value)


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize(
    ("shape", "input_length", "labels", "label_length"),
    [
        ((5, 3, 4), [5, 4, 3], [[1, 2], [3, 0], [0, 0]], [2, 1, 0]),
        ((6, 2, 3), [6, 6], [[1, 1], [1, 2]], [2, 2]),  # equal labels need a blank in between
        ((2, 2, 3), [2, 1], [[1, 2], [1, 1]], [2, 2]),  # the second does not fit
        ((4, 2, 3), [4, 0], [[1, 2], [7, -3]], [2, 0]),  # no time, labels that do not count
    ],
)
def test_second_gradient(reduce, shape, input_length, labels, label_length):
    random = np.random.RandomState(0)
    x, direction = random.randn(2, *shape)
    arguments = (int32(*labels), 0, int32(*input_length), int32(*label_length), reduce)

    def gradient(values, **options):
        xs = steps(values)
        return xs, chainer.grad([F.sum(ctc(xs, *arguments))], xs, **options)

    xs, gxs = gradient(x, enable_double_backprop=True)
    found = chainer.grad(gxs, xs, steps(direction))
    step = 1e-6 * direction
    expected = [
        (above.array - below.array) / 2e-6
        for above, below in zip(gradient(x + step)[1], gradient(x - step)[1], strict=True)
    ]
    for gx, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(gx.array, value, atol=1e-8)
    # What gradients of gradients are computed from has the value of the kernel.
    loss = ctc(steps(x), *arguments)
    (composed,) = loss.creator_node.compose(chainer.Variable(x))
    np.testing.assert_allclose(composed.array, loss.array, atol=1e-12)


def test_backward_twice():
    xs = steps(numbers(1, 3, 2, 3))
    loss = ctc(xs, int32([0], [1]), 2)
    loss.backward()
    first = [x.grad.copy() for x in xs]
    loss.backward()
    for x, gradient in zip(xs, first, strict=True):
        close(x.grad, 2 * gradient)
