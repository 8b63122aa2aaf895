"""Linear-chain CRF: numbers of earlier releases, wide ranges of costs, lists of sequences."""

import itertools

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.testing.specs.formulas import logsumexp
from tests.functions.loss.loss_numbers import close, numbers


def inputs(dtype=np.float32):
    cost = chainer.Variable(numbers(2, 3, 3).astype(dtype))
    xs = [chainer.Variable(numbers(n + 3, n, 3).astype(dtype)) for n in (3, 2, 1)]
    ys = [np.array(y, np.int32) for y in ([2, 0, 1], [0, 2], [1])]
    return cost, xs, ys


def test_numbers_of_earlier_releases():
    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    cost, xs, ys = inputs()
    loss = F.crf1d(cost, xs, ys, reduce="no")
    close(loss, [3.589144, 1.1724434, 1.1802697])
    close(F.crf1d(cost, xs, ys), 1.980619)
    loss.grad = np.array([1, 2, 3], np.float32)
    loss.backward()
    # fmt: off
    close(cost.grad, [
        [0.0631696, -0.7133023, -1.2510743],
        [0.5371124, 0.1687467, 0.655519],
        [-0.7904307, 1.0847018, 0.2455579],
    ])
    close(xs[0].grad, [
        [0.0740824, 0.5466369, -0.6207193],
        [-1.1525433, 0.5855615, 0.5669817],
        [1.5194411, -2.0784125, 0.5589712],
    ])
    close(xs[1].grad, [[-0.8227462, 0.2291797, 0.5935665], [0.4509311, 0.6182498, -1.069181]])
    close(xs[2].grad, [[0.1816664, -0.3072834, 0.1256171]])
    # fmt: on


def test_argmax_numbers_of_earlier_releases():
    # Made with Chainer 7.8.1; 4.3.1 gives the same.
    cost, xs, _ = inputs()
    score, path = F.argmax_crf1d(cost, xs)
    close(score, [2, 1.5, 1.25])
    assert [p.tolist() for p in path] == [[1, 0, 0], [2, 2], [1]]
    assert all(p.dtype == np.int32 for p in path)
    score.grad = np.array([1, 2, 3], np.float32)
    score.backward()
    close(cost.grad, [[0, 0, 2], [0, 0, 1], [0, 1, 0]])
    close(xs[0].grad, [[0, 1, 0], [2, 0, 0], [3, 0, 0]])
    close(xs[1].grad, [[0, 0, 1], [0, 0, 2]])
    close(xs[2].grad, [[0, 1, 0]])


def losses_by_enumeration(cost, xs, ys):
    losses = []
    for b in range(len(xs[0])):
        mine = [x[b] for x in xs if b < len(x)]
        scores = {
            path: sum(x[s] for x, s in zip(mine, path, strict=True))
            + sum(cost[s, t] for s, t in itertools.pairwise(path))
            for path in itertools.product(range(len(cost)), repeat=len(mine))
        }
        losses.append(
            logsumexp(list(scores.values())) - scores[tuple(y[b] for y in ys[: len(mine)])]
        )
    return losses


# The kernel has one way for transition costs of a narrow range and one for others.
@pytest.mark.parametrize("cost_scale", [1, 15, 1e3, 1e5])
@pytest.mark.parametrize("x_scale", [1, 1e3, 1e5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_costs_stay_exact(cost_scale, x_scale, dtype):
    cost, xs, ys = inputs(dtype)
    cost = chainer.Variable(cost.array * dtype(cost_scale))
    xs = [chainer.Variable(x.array * dtype(x_scale)) for x in xs]
    loss = F.crf1d(cost, xs, ys, reduce="no")
    arrays = [np.asarray(x.array, np.float64) for x in xs]
    expected = losses_by_enumeration(np.asarray(cost.array, np.float64), arrays, ys)
    largest = max(cost_scale, x_scale) * 5
    close(loss, expected, rtol=1e-5, atol=largest * np.finfo(dtype).eps * 4)
    gradient = loss.grad = np.ones(3, dtype)
    loss.backward()
    fast = [v.grad for v in (cost, *xs)]
    assert all(np.isfinite(g).all() for g in fast)
    # The differentiable way takes no such shortcuts.
    slow = chainer.grad(
        [loss], [cost, *xs], [chainer.Variable(gradient)], enable_double_backprop=True
    )
    for one, other in zip(fast, slow, strict=True):
        close(one, other.array, rtol=1e-3, atol=1e-3)


def test_one_step_does_not_depend_on_transitions():
    cost, xs, ys = inputs()
    F.crf1d(cost, xs[:1], ys[:1]).backward()
    assert cost.grad is None
    assert xs[0].grad is not None


def test_float16():
    exact = F.crf1d(*inputs(np.float64), reduce="no")
    half = F.crf1d(*inputs(np.float16), reduce="no")
    assert half.dtype == np.float16
    close(half.array, exact.array.astype(np.float16), rtol=1e-3)


def test_lists():
    cost, xs, ys = inputs()
    expected = F.crf1d(cost, xs, ys).array
    arrays = [x.array for x in xs]
    variables = tuple(chainer.Variable(y.astype(np.int64)) for y in ys)
    assert F.crf1d(cost.array, tuple(arrays), variables).array == expected
    stacked = np.stack([arrays[0], arrays[0]])
    close(F.crf1d(cost, stacked, [ys[0], ys[0]]), F.crf1d(cost, list(stacked), [ys[0]] * 2).array)
    with pytest.raises(ValueError, match="ys must be as long as xs, got 2 and 3"):
        F.crf1d(cost, xs, ys[:2])
    with pytest.raises(ValueError, match="xs must hold"):
        F.crf1d(cost, [], [])
    with pytest.raises(ValueError, match="only 'mean' and 'no'"):
        F.crf1d(cost, xs, ys, reduce="sum")


def test_transposed_sequences():
    cost = numbers(2, 3, 3)
    sequences = [numbers(n, n, 3) for n in (4, 2, 1)]
    labels = [np.arange(len(s), dtype=np.int32) % 3 for s in sequences]
    together = F.crf1d(
        cost, F.transpose_sequence(sequences), F.transpose_sequence(labels), reduce="no"
    )
    for i, (sequence, label) in enumerate(zip(sequences, labels, strict=True)):
        alone = F.crf1d(cost, sequence[:, None], label[:, None], reduce="no")
        close(together.array[i], alone.array[0])


def test_ties_are_broken_by_the_first_label():
    _, path = F.argmax_crf1d(np.zeros((2, 2), "f"), [np.zeros((2, 2), "f")] * 3)
    assert [p.tolist() for p in path] == [[0, 0]] * 3


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_pairs_of_small_label_types(dtype):
    # The number of a pair of labels does not fit into int8.
    cost = chainer.Variable(np.zeros((20, 20), np.float32))
    xs = [np.zeros((1, 20), np.float32)] * 2
    F.crf1d(cost, xs, [np.array([19], dtype), np.array([18], dtype)]).backward()
    expected = np.full((20, 20), 1 / 400, np.float32)
    expected[19, 18] -= 1
    close(cost.grad, expected)
