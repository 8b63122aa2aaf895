"""Negative sampling and BlackOut: numbers of earlier releases, large scores, samplers."""

import numpy as np
import pytest

import chainer
from chainer import functions as F
from tests.functions.loss.loss_numbers import close, numbers

DRAWN = np.array([[9, 2, 3], [9, 0, 1], [9, 3, 3]], np.int32)


def sampler(shape):
    assert shape == DRAWN.shape
    return DRAWN.copy()


def inputs(dtype=np.float32):
    return [chainer.Variable(numbers(2, 3, 2).astype(dtype)), chainer.Variable(numbers(3, 4, 2))]


def test_negative_sampling_numbers_of_earlier_releases():
    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    x, W = inputs()
    t = np.array([1, -1, 0], np.int32)
    loss = F.negative_sampling(x, t, W, sampler, 2, reduce="no")
    close(loss, [2.9492147, 0, 1.7802291])
    loss.grad = np.array([1, 2, 3], np.float32)
    loss.backward()
    close(x.grad, [[-0.6750729, -0.6792097], [0, 0], [1.055271, -1.8287009]])
    expected = [
        [0.8442168, 0.2110542],
        [1.0443544, 0.4177418],
        [-0.4010266, -0.1604106],
        [-3.7577312, -1.0390346],
    ]
    close(W.grad, expected)
    close(F.negative_sampling(x, t, W, sampler, 2), 4.7294436)


def test_return_samples():
    x, W = inputs()
    t = np.array([1, -1, 0], np.int32)
    plain = F.negative_sampling(x, t, W, sampler, 2)
    loss, samples = F.negative_sampling(x, t, W, sampler, 2, return_samples=True)
    assert loss.array == plain.array
    assert samples.tolist() == [[1, 2, 3], [-1, 0, 1], [0, 3, 3]]
    assert samples.dtype == np.int32
    assert not isinstance(F.negative_sampling(x, t, W, sampler, 2, return_samples=False), tuple)


def test_array_of_the_sampler_is_not_changed():
    x, W = inputs()
    mine = DRAWN.copy()
    F.negative_sampling(x, np.zeros(3, "i"), W, lambda shape: mine, 2).backward()
    np.testing.assert_array_equal(mine, DRAWN)


def test_samples_are_drawn_once():
    np.random.seed(0)
    calls = []

    def counting(shape):
        calls.append(shape)
        return chainer.utils.WalkerAlias([1, 2, 3, 4]).sample(shape)

    x, W = inputs()
    loss = F.negative_sampling(x, np.zeros(3, "i"), W, counting, 5)
    chainer.grad([loss], [x, W], enable_double_backprop=True)
    loss.backward()
    assert calls == [(3, 6)]


def test_ignored_classes_in_debug_mode():
    x, W = inputs()
    with chainer.using_config("debug", True):
        loss = F.negative_sampling(x, np.full(3, -1, np.int32), W, sampler, 2)
        chainer.grad([loss], [x, W], enable_double_backprop=True)
    assert loss.array == 0


@pytest.mark.parametrize(
    "drawn", [np.zeros((3, 2), "i"), np.zeros((3, 3), "f"), [[1, 2, 3]] * 3], ids=str
)
def test_refused_samples(drawn):
    x, W = inputs()
    with pytest.raises(ValueError, match=r"sampler must return an array of integers of shape \(3,"):
        F.negative_sampling(x, np.zeros(3, "i"), W, lambda shape: drawn, 2)


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64", "int8", "int64"])
def test_integers_of_a_sampler(dtype):
    """The samples hold ignored classes, and classes the sampler has no numbers for."""
    x = chainer.Variable(numbers(0, 3, 2))
    W = chainer.Variable(np.linspace(-1, 1, 600, dtype=np.float32).reshape(300, 2))
    t = np.array([299, -1, 0], np.int32)
    results = []
    for kind in (dtype, "int32"):
        x.cleargrad()
        W.cleargrad()
        loss, samples = F.negative_sampling(
            x, t, W, lambda shape, kind=kind: np.full(shape, 7, kind), 2, return_samples=True
        )
        loss.backward()
        assert samples.tolist() == [[299, 7, 7], [-1, 7, 7], [0, 7, 7]]
        results.append((loss.array, x.grad, W.grad))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert not x.grad[1].any()


def test_sampler_in_debug_mode_with_ignored_samples():
    x, W = chainer.Variable(numbers(0, 2, 2)), chainer.Variable(numbers(1, 4, 2))
    t = np.array([-1, 3], np.int32)
    with chainer.using_config("debug", True):
        loss = F.negative_sampling(x, t, W, lambda shape: np.ones(shape, "i"), 2)
        gx, gW = chainer.grad([loss], [x, W], enable_double_backprop=True)
        loss.backward()
        np.testing.assert_allclose(gx.array, x.grad, rtol=1e-6)
        np.testing.assert_allclose(gW.array, W.grad, rtol=1e-6)
        x.cleargrad()
        F.sum(gx * gx).backward()
    assert not x.grad[0].any() and x.grad[1].any()


def test_refused_arguments_of_negative_sampling():
    x, W = inputs()
    with pytest.raises(TypeError, match="unexpected keyword argument.*'foo'"):
        F.negative_sampling(x, np.zeros(3, "i"), W, sampler, 2, foo=1)
    with pytest.raises(ValueError, match="only 'sum' and 'no' are valid for 'reduce'"):
        F.negative_sampling(x, np.zeros(3, "i"), W, sampler, 2, reduce="mean")
    with pytest.raises(IndexError):
        F.negative_sampling(x, np.zeros(3, "i"), W, lambda s: np.full(s, 4), 2)


def test_black_out_numbers_of_earlier_releases():
    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    x, W = inputs()
    t = np.array([1, 2, 0], np.int32)
    loss = F.black_out(x, t, W, DRAWN[:, 1:], reduce="no")
    close(loss, [3.508733, 2.5261886, 1.1221576])
    loss.grad = np.array([1, 2, 3], np.float32)
    loss.backward()
    close(x.grad, [[-1.0743016, -1.0743016], [-1.1953794, 1.5645287], [2.9083319, -3.4899983]])
    expected = [
        [2.5775661, 1.5852692],
        [1.6736103, 1.6791105],
        [-0.6319045, -2.1656709],
        [-3.619272, -1.098709],
    ]
    close(W.grad, expected)
    close(F.black_out(x, t, W, DRAWN[:, 1:]), 2.385693)


@pytest.mark.parametrize("top", [0, 1])
def test_black_out_of_large_scores(top):
    # One class has all of the probability. With scores 0 and -1000: log p is 0 and -1000, and
    # log(1 - p) is -1000 and 0.
    x = chainer.Variable(np.ones((1, 1), np.float32))
    W = chainer.Variable(np.array([[0.0], [0.0]], np.float32))
    W.array[1 - top] = -1000
    loss = F.black_out(x, np.array([0]), W, np.array([[1]]))
    close(loss, 2000.0 if top else 0.0)
    loss.backward()
    close(W.grad, [[-2.0], [2.0]] if top else [[0.0], [0.0]])
    gW = chainer.grad([loss], [W], enable_double_backprop=True)[0]
    close(gW, W.grad)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_black_out_of_masked_samples(dtype):
    # The score of a class that a program masks is minus infinity: its probability is zero.
    x = np.ones((1, 1), dtype)
    W = chainer.Variable(np.array([[0.5], [-np.inf], [-np.inf]], dtype))
    loss = F.black_out(x, np.array([0]), W, np.array([[1, 2]]))
    assert loss.array == 0
    loss.backward()
    np.testing.assert_array_equal(W.grad, np.zeros((3, 1)))
    assert F.black_out(x, np.array([1]), W, np.array([[0, 2]])).array == np.inf


def test_negative_sampling_of_large_scores():
    x = chainer.Variable(np.ones((1, 1), np.float32))
    W = chainer.Variable(np.array([[-1000.0], [1000.0]], np.float32))
    loss = F.negative_sampling(x, np.zeros(1, "i"), W, lambda shape: np.ones(shape, "i"), 1)
    close(loss, 2000.0)
    loss.backward()
    close(W.grad, [[-1.0], [1.0]])


def test_black_out_of_negative_classes():
    # They count from the end, as in earlier releases.
    x, W = inputs()
    last = F.black_out(x, np.full(3, 3), W, DRAWN[:, 1:])
    assert F.black_out(x, np.full(3, -1), W, DRAWN[:, 1:]).array == last.array


def test_half_precision():
    x, W = numbers(2, 3, 2), numbers(3, 4, 2)
    t = np.array([1, 2, 0], np.int32)
    for name, arguments in (
        ("negative_sampling", (sampler, 2)),
        ("black_out", (DRAWN[:, 1:],)),
    ):
        function = getattr(F, name)
        half = [chainer.Variable(a.astype(np.float16)) for a in (x, W)]
        loss = function(half[0], t, half[1], *arguments)
        loss.backward()
        assert loss.dtype == half[0].grad.dtype == half[1].grad.dtype == np.float16
        close(loss, function(x, t, W, *arguments).array, rtol=1e-3)
