"""Sums of selected rows by the provider of a third party, which is written with NumPy here."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends.numpy.recording import row_sums
from chainer.core.registry import registries
from chainer.kernel import Kernel, get_operation, register_kernel
from tests.backends.recording.test_programs import record

NODES, EDGES = 12, 40


class Adder:
    """Adds rows in their order."""

    def __init__(self, backend):
        self.calls = 0

    def add(self, a, targets, b, sources):
        self.calls += 1
        targets, sources = targets.reshape(-1), sources.reshape(-1)
        if any((i < -len(m)).any() or (i >= len(m)).any() for i, m in ((targets, a), (sources, b))):
            return False
        for i, j in zip(targets, sources, strict=True):
            a[i] += b[j]
        return True


@pytest.fixture
def foreign(monkeypatch):
    """Installs the provider; yields its implementation."""
    implementation = Adder(None)
    kernel = Kernel(
        "selected_row_sums", "numpy:ndarray", "foreign", load=lambda backend: implementation
    )
    monkeypatch.setattr(row_sums, "_WORTH", 1e9)  # Python is slow
    monkeypatch.setattr(row_sums, "_paying", {})
    register_kernel(kernel)
    try:
        with chainer.using_config("kernels", ("foreign",)):
            yield implementation
    finally:
        registries.kernels.unregister(kernel.key)


def indices(high, *shape, seed=0):
    return np.random.RandomState(seed).randint(-high, high, shape)


def floats(*shape, seed=0, dtype="f"):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def calls_of(implementation, program, arguments):
    before = implementation.calls
    program(arguments)
    return implementation.calls - before


@pytest.mark.parametrize("dtype", ["f", "d", "e"])
@pytest.mark.parametrize("kind", ["i", "l", "h"])
def test_messages(foreign, dtype, kind):
    def function(x, to, of):
        y = F.scatter_add(x * 2, to, F.get_item(x, of))
        return [F.scatter_add(y, to, F.embed_id(of, x)).array]

    x = floats(NODES, 5, dtype=dtype)
    to, of = [indices(NODES, EDGES, seed=i).astype(kind) for i in (0, 1)]
    # Links look up indices that are not negative.
    of = of % NODES
    program, expected = record(function, x, to, of)
    assert calls_of(foreign, program, [x, to, of]) == 2
    np.testing.assert_array_equal(program([x, to, of])[0], expected[0])
    x, to, of = x * 3, to[::-1], np.ascontiguousarray(of[::-1])
    np.testing.assert_array_equal(program([x, to, of])[0], function(x, to, of)[0])


class Graph(chainer.Chain):
    """Nodes that send what they know to their neighbors, with gradients."""

    def __init__(self):
        super().__init__()
        self.edges = indices(NODES, 2, EDGES) % NODES
        with self.init_scope():
            self.sent = L.Linear(4, 4)
            self.own = L.Linear(4, 4)

    def __call__(self, x, t):
        for _ in range(2):
            messages = F.embed_id(self.edges[0], self.sent(x))
            x = F.tanh(F.scatter_add(self.own(x), self.edges[1], messages))
        return F.softmax_cross_entropy(x, t)


def trained(captures):
    np.random.seed(0)
    model = Graph()
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    run = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
    t = np.arange(NODES, dtype="i") % 4
    losses = [run(floats(NODES, 4, seed=i), t).array.tobytes() for i in range(8)]
    return losses, [p.array.tobytes() for p in model.params()]


def test_training_has_the_same_bits(foreign, monkeypatch):
    made = []
    with_row_sums = row_sums.with_row_sums
    monkeypatch.setattr(
        "chainer.backends.numpy.recording.recorder.with_row_sums",
        lambda *args: made.append(with_row_sums(*args)) or made[-1],
    )
    assert trained(True) == trained(False)
    (calls,) = made
    # Messages of two layers and their gradients.
    names = [getattr(c.function, "__name__", "") for c in calls]
    assert names.count("selected_row_sum") == 4
    assert "add_at" not in names


def test_selections_that_others_read_stay(foreign):
    def function(x, to, of):
        rows = x[of]
        y = x * 2
        get_operation("scatter_add").select(y, rows).add_at(y, to, rows)
        return [y, rows]

    to, of = [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    program, _ = record(function, floats(NODES, 3), to, of)
    assert calls_of(foreign, program, [floats(NODES, 3), to, of]) == 0


def test_sources_that_change_meanwhile_stay(foreign):
    def function(x, to, of):
        b, y = x * 3, x * 2
        rows = b[of]
        b[0] = 7
        get_operation("scatter_add").select(y, rows).add_at(y, to, rows)
        return [y, b]

    x, (to, of) = floats(NODES, 3), [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    program, expected = record(function, x, to, of)
    assert calls_of(foreign, program, [x, to, of]) == 0
    for found, wanted in zip(program([x, to, of]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_rows_that_are_added_to_their_own_matrix_stay(foreign):
    def function(x, to, of):
        y = x * 2
        rows = y[of]
        get_operation("scatter_add").select(y, rows).add_at(y, to, rows)
        return [y]

    x, (to, of) = floats(NODES, 3), [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    program, expected = record(function, x, to, of)
    assert calls_of(foreign, program, [x, to, of]) == 0
    np.testing.assert_array_equal(program([x, to, of])[0], expected[0])


def test_another_order_of_sums_is_not_used(foreign, monkeypatch):
    def backwards(a, targets, b, sources):
        foreign.calls += 1
        for i, j in zip(targets[::-1], sources[::-1], strict=True):
            a[i] += b[j]
        return True

    monkeypatch.setattr(foreign, "add", backwards)
    x, (to, of) = floats(NODES, 3), [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    program, _ = record(
        lambda x, to, of: [F.scatter_add(x * 2, to, F.get_item(x, of)).array], x, to, of
    )
    assert foreign.calls  # it was tried
    assert calls_of(foreign, program, [x, to, of]) == 0


@pytest.mark.parametrize("wrong", [0, 1])
def test_indices_out_of_bounds(foreign, wrong):
    def function(x, to, of):
        return [F.scatter_add(x * 2, to, F.get_item(x, of)).array]

    x, given = floats(NODES, 3), [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    program, _ = record(function, x, *given)
    given[wrong][5] = NODES
    with pytest.raises(IndexError) as expected:
        function(x, *given)
    with pytest.raises(IndexError) as found:
        program([x, *given])
    assert str(found.value) == str(expected.value)
    assert calls_of(foreign, program, [x, *[i % NODES for i in given]]) == 1


@pytest.mark.parametrize("length", [0, 1])
def test_empty_and_single(foreign, length):
    to, of = np.zeros(length, int), np.zeros(length, int)
    program, expected = record(
        lambda x, to, of: [F.scatter_add(x * 2, to, F.get_item(x, of)).array],
        *(floats(3, 2), to, of),
    )
    np.testing.assert_array_equal(program([floats(3, 2), to, of])[0], expected[0])


def test_reference():
    x, (to, of) = floats(NODES, 3), [indices(NODES, EDGES, seed=i) for i in (0, 1)]
    kernel = get_operation("selected_row_sums").select(x, x)
    a = x.copy()
    assert kernel.add(a, to, x, of)
    expected = x.copy()
    np.add.at(expected, to, x[of])
    np.testing.assert_allclose(a, expected, rtol=1e-5)
    before = a.copy()
    assert not kernel.add(a, to + NODES, x, of)
    assert not kernel.add(a, to, x, of - NODES - 1)
    np.testing.assert_array_equal(a, before)
