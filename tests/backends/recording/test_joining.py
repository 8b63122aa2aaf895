"""Joined calls of recorded steps: the rows of all steps in one product."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends.numpy.recording import joining
from chainer.backends.numpy.recording.memory import Buffer
from chainer.backends.numpy.recording.rows import _overlapped
from chainer.backends.operations.embeddings import embedding
from chainer.backends.operations.linears import linear
from tests.backends.recording.test_programs import random_function, record

STEPS, BATCH, UNITS, WORDS = 6, 3, 5, 7


@pytest.fixture
def made(monkeypatch):
    """The calls of the programs that are made."""
    found = []
    with_joined_calls = joining.with_joined_calls

    def noting(*args):
        result = with_joined_calls(*args)
        found.append(result[0])
        return result

    monkeypatch.setattr("chainer.backends.numpy.recording.recorder.with_joined_calls", noting)
    return found


def random(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("f")


class Recurrent(chainer.Chain):
    """Two recurrent layers, step by step, and a loss of each step."""

    def __init__(self, cell, ratio=0.0):
        super().__init__()
        self.ratio = ratio
        with self.init_scope():
            self.embed = L.EmbedID(WORDS, UNITS)
            self.l1 = cell(UNITS, UNITS)
            self.l2 = cell(UNITS, UNITS)
            self.out = L.Linear(UNITS, WORDS)

    def __call__(self, x, t):
        self.l1.reset_state()
        self.l2.reset_state()
        loss = 0
        for i in range(len(x)):
            h = self.l2(F.dropout(self.l1(self.embed(x[i])), self.ratio))
            loss += F.softmax_cross_entropy(self.out(h), t[i])
        return loss


class Tied(chainer.Chain):
    """A layer whose products all need the one before, and inputs of different sizes."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.inner = L.Linear(UNITS, UNITS)
            self.given = L.Linear(UNITS, UNITS)

    def __call__(self, x, t):
        h = self.given(x[0])
        total = 0
        for n, i in ((3, 1), (2, 2), (2, 3)):
            h = F.tanh(self.inner(h[:n]) + self.given(x[i][:n]))
            total += F.sum(h)
        return total + F.sum(self.given.W) * 0.1


def losses(model, x, t, captures):
    for n, (_, p) in enumerate(sorted(model.namedparams())):
        p.array[...] = random(*p.shape, seed=n) * 0.3
    optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)

    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    np.random.seed(0)
    run = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
    found = [float(run(x, t).array) for _ in range(6)]
    return found, [p.array for _, p in sorted(model.namedparams())]


def words(seed):
    return np.random.RandomState(seed).randint(0, WORDS, (STEPS, BATCH)).astype("i")


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (lambda: Recurrent(L.LSTM), words),
        (lambda: Recurrent(L.LSTM, 0.4), words),
        (lambda: Recurrent(L.StatefulGRU), words),
        (Tied, lambda seed: random(4, BATCH, UNITS, seed=seed)),
    ],
)
def test_captured_steps_differ_by_roundings(model, inputs, accelerated, made):
    found, parameters = losses(model(), inputs(0), words(1), True)
    expected, wanted = losses(model(), inputs(0), words(1), False)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    for a, b in zip(parameters, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert made


def rows_of(calls, method):
    """Returns the numbers of rows of the calls of a method of a kernel."""
    return sorted(
        call.args[0].shape[0] for call in calls if getattr(call.function, "__name__", "") == method
    )


def test_products_of_all_steps_are_one(accelerated, made):
    losses(Recurrent(L.LSTM), words(0), words(1), True)
    # By matmul: the output layer and its gradients, inputs of both layers, sums of all weights.
    products = [c for c in made[-1] if c.function is np.matmul]
    rows = STEPS * BATCH
    joined = [c for c in products if rows in (*c.args[0].shape, *c.args[1].shape)]
    # Forward, gradient of the weights and gradient of the inputs of three layers.
    assert len(joined) == 9
    single = [c for c in products if c.args[0].shape == (BATCH, UNITS)]
    assert len(single) == 2 * (STEPS - 1)  # recurrent
    assert rows_of(made[-1], "forward") == [rows]  # of the embedding
    assert rows_of(made[-1], "backward") == [rows]


def copies(calls):
    return [c for c in calls if c.function is np.positive and c.args[0].buffer.memory is not None]


def test_weights_are_not_copied(accelerated, made):
    """The gradient of a state is a sum of two products, whose weights do not lie together."""
    losses(Recurrent(L.LSTM), words(0), words(1), True)
    assert not copies(made[-1])


def test_sums_of_products_of_many_rows_stay(accelerated):
    """To bring the factors together would take longer than to add the products."""
    v, w = random(6, 4, seed=1), random(6, 4, seed=2)
    x, y = random(50, 6, seed=3), random(50, 6, seed=4)
    program, _ = record(lambda x, y: [x @ v + y @ w], x, y)
    assert program.is_exact
    np.testing.assert_array_equal(program([x, y])[0], x @ v + y @ w)


def test_without_the_switch_nothing_is_joined(made):
    found, parameters = losses(Recurrent(L.LSTM), words(0), words(1), True)
    expected, wanted = losses(Recurrent(L.LSTM), words(0), words(1), False)
    assert not made
    assert found == expected
    assert all((a == b).all() for a, b in zip(parameters, wanted, strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, accelerated):
    function = random_function(seed)
    x, y = random(4, 6, seed=seed), random(4, 6, seed=seed + 100)
    program, _ = record(function, x, y)
    x, y = x * 0.5 + 0.1, y - 0.2
    for found, expected in zip(program([x, y]), function(x, y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_memory_is_limited(accelerated, monkeypatch):
    monkeypatch.setattr(joining, "_SPARE_BYTES", 0)
    monkeypatch.setattr(joining, "_MOST_MEMORY", 0)
    W = random(6, 6)

    def function(x):
        total = 0
        for i in range(4):
            total = total + np.tanh(x[i] @ W)
        return [total]

    x = random(4, 3, 6)
    program, _ = record(function, x)
    assert program.is_exact
    assert (program([x])[0] == function(x)[0]).all()


def test_lists_of_rows_overlap_in_their_order():
    a, b, c, d = (Buffer(4) for _ in range(4))
    assert _overlapped([a, b], [b, c]) == [a, b, c]
    assert _overlapped([b, c], [a, b]) == [a, b, c]
    assert _overlapped([a, b, c, d], [b, c]) == [a, b, c, d]
    assert _overlapped([b, c], [a, b, c, d]) == [a, b, c, d]
    assert _overlapped([a, b, c], [c, b, a]) is None
    assert _overlapped([a, b, c], [a, c]) is None
    assert _overlapped([a, b], [c, d]) is None


def test_declared_rows_are_true():
    """Calls with joined rows give the rows, or the sum, of the results of single calls."""
    W, b = random(4, 5), random(4, seed=1)
    xs, gys = random(6, 5, seed=2), random(6, 4, seed=3)
    kernel = linear.select(xs, W, b)
    index, gradients = np.array([0, 3, 3, 1, 2, 3]), random(6, 5, seed=4)
    select = embedding.select(index, W)
    calls = {
        ("forward", linear): (kernel, (xs, W, b)),
        ("backward_data", linear): (kernel, (gys, W)),
        ("backward_weight", linear): (kernel, (xs, gys, W.dtype)),
        ("forward", embedding): (select, (index, W, None)),
        ("backward", embedding): (select, (index, gradients, (4, 5), None)),
    }
    assert {name for name, operation in calls if operation is linear} == {*linear.joined_rows}
    assert {name for name, operation in calls if operation is embedding} == {*embedding.joined_rows}
    for (name, operation), (kernel, args) in calls.items():
        rows = operation.joined_rows[name]

        def part(low, high, args=args, rows=rows):
            return [a[low:high] if i in rows.arguments else a for i, a in enumerate(args)]

        method = getattr(kernel, name)
        whole, first, second = (method(*part(*s)) for s in ((0, 6), (0, 2), (2, 6)))
        expected = first + second if rows.adds else np.concatenate((first, second))
        np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-6)
