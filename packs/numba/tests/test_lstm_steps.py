"""Captured steps that are written cell by cell: all cells of a layer in one call."""

from __future__ import annotations

import itertools

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

from chainer_numba import launching, lstm_steps


@pytest.fixture(autouse=True)
def one_thread(any_size, monkeypatch):
    monkeypatch.setattr(launching.config, "NUMBA_NUM_THREADS", 1)
    with (
        chainer.using_config("accelerate", "auto"),
        chainer.using_config("kernels", ("numba",)),
    ):
        yield


@pytest.fixture(params=[L.LSTM, L.StatefulGRU])
def cell(request, monkeypatch):
    """The layer of the models. No kernel declares the steps of a GRU."""
    monkeypatch.setattr(Model, "cell", request.param)
    return request.param


class Model(chainer.Chain):
    cell = L.LSTM

    def __init__(self, sizes):
        super().__init__()
        with self.init_scope():
            pairs = itertools.pairwise(sizes)
            self.layers = chainer.ChainList(*[self.cell(a, b) for a, b in pairs])
            self.out = L.Linear(sizes[-1], 5)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)

    def reset(self):
        for layer in self.layers:
            layer.reset_state()


def trained(loss_of, captures, sizes=(9, 12), shape=(6, 4), calls=6):
    """Returns losses and parameters after some steps, and what is said about the captured one."""
    np.random.seed(0)
    model = Model(sizes)
    optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)

    def step(x):
        loss = loss_of(model, x)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    run = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
    rng = np.random.default_rng(1)
    losses = []
    for _ in range(calls):
        losses.append(float(run(rng.standard_normal((*shape, sizes[0]), "f")).array))
    return losses, [p.array for p in model.params()], chainer.explain(run) if captures else ""


def compare(loss_of, layers, **options):
    """Compares the captured step with the step as written, on the reference kernels, too."""
    losses, arrays, text = trained(loss_of, True, **options)
    if layers:
        assert f"{layers} of them all steps of a layer" in text
    else:
        assert "all steps" not in text
    written = [trained(loss_of, False, **options)]
    with chainer.using_config("kernels", ()), chainer.using_config("accelerate", "never"):
        written.append(trained(loss_of, False, **options))
    for expected, others, _ in written:
        np.testing.assert_allclose(losses, expected, rtol=2e-5)
        for a, b in zip(arrays, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def each(model, x):
    """The loss of all steps."""
    model.reset()
    return sum([F.sum(model(x[i]) ** 2) for i in range(len(x))])


def mean(model, x):
    """The mean over elements: training on the sum over many rows or gates diverges."""
    return each(model, x) / x[..., 0].size


def last(model, x):
    """The loss of the last step: the gradients of other outputs come from later steps alone."""
    model.reset()
    for i in range(len(x)):
        y = model(x[i])
    return F.sum(y**2)


# Sizes that fill no vector, several panels, several chunks of terms, and one row.
@pytest.mark.parametrize(
    ("sizes", "shape"),
    [((9, 12), (6, 4)), ((3, 61), (4, 11)), ((17, 33), (4, 1)), ((8, 7), (2, 20))],
)
def test_both_directions_are_one_call_each(sizes, shape, cell):
    compare(mean, 2 if shape[0] > 2 else 0, sizes=sizes, shape=shape)


def test_layers_on_each_other(cell):
    compare(mean, 4, sizes=(9, 12, 7))


def test_random_numbers_between_layers(cell):
    def loss_of(model, x):
        model.reset()
        first, second = model.layers
        ys = [model.out(second(F.dropout(first(each), 0.3))) for each in x]
        return sum([F.sum(y**2) for y in ys]) / 24

    results = []
    for captures in (True, False):
        chainer.utils.seed(0)
        results.append(trained(loss_of, captures, sizes=(9, 12, 7)))
    (losses, _, text), (expected, _, _) = results
    assert "of them all steps of a layer" in text
    np.testing.assert_allclose(losses, expected, rtol=2e-5)


def test_other_shapes(cell):
    np.random.seed(0)
    model = Model((6, 5))

    def step(x):
        loss = each(model, x)
        return chainer.grad([loss], list(model.layers[0].params()))

    run = chainer.capture(step, model, on_failure="error")
    rng = np.random.default_rng(0)
    for shape in [(5, 3, 6), (7, 2, 6)] * 5:
        x = rng.standard_normal(shape, "f")
        for a, b in zip(run(x), step(x), strict=True):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-4, atol=1e-5)
    assert chainer.explain(run).count("2 of them all steps of a layer") == 2


def test_a_loss_of_the_last_step(cell):
    # No gradient of an output is added to the one that comes from the step after.
    losses, arrays, text = trained(last, True)
    count = {L.LSTM: 1, L.StatefulGRU: 2}[cell]
    assert f"{count} of them all steps of a layer" in text
    expected, others, _ = trained(last, False)
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    for a, b in zip(arrays, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def test_inputs_that_depend_on_outputs_stay_single_calls(cell):
    def loss_of(model, x):
        model.reset()
        y = x[0]
        total = 0
        for i in range(len(x)):
            z = model(x[i] + F.sum(y) * 0.01)
            y = F.tanh(z)
            total += F.sum(z**2)
        return total

    losses, _, text = trained(loss_of, True)
    assert "all steps" not in text
    np.testing.assert_allclose(losses, trained(loss_of, False)[0], rtol=2e-5)


def test_sequences_of_different_lengths():
    def loss_of(model, x):
        model.reset()
        return sum([F.sum(model(x[i][: 4 if i < 4 else 2]) ** 2) for i in range(len(x))])

    losses, _, text = trained(loss_of, True, shape=(8, 4))
    assert "of them all steps of a layer" in text
    np.testing.assert_allclose(losses, trained(loss_of, False, shape=(8, 4))[0], rtol=2e-5)


def test_states_that_pass_from_step_to_step():
    """Truncated backpropagation: the state is an argument and a result."""
    np.random.seed(0)
    link = L.StatelessLSTM(6, 5)

    def step(c, h, x):
        c, h = chainer.Variable(c), chainer.Variable(h)
        ys = []
        for i in range(len(x)):
            c, h = link(c, h, x[i])
            ys.append(h)
        loss = F.sum(F.stack(ys) ** 2)
        gradients = chainer.grad([loss], [link.lateral.W, link.upward.W])
        c.unchain_backward()
        h.unchain_backward()
        return c, h, *gradients

    run = chainer.capture(step, link, on_failure="error")
    rng = np.random.default_rng(0)
    c = h = np.zeros((3, 5), "f")
    for _ in range(5):
        x = rng.standard_normal((4, 3, 6), "f")
        results = run(c, h, x), step(c, h, x)
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-4, atol=1e-6)
        c, h = (v.array for v in results[0][:2])
    assert "of them all steps of a layer" in chainer.explain(run)


def test_outputs_without_gradients():
    np.random.seed(0)
    model = Model((6, 5))

    def step(x):
        with chainer.no_backprop_mode():
            model.reset()
            for i in range(len(x)):
                y = model(x[i])
            return y

    run = chainer.capture(step, model, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.standard_normal((6, 3, 6), "f")
        np.testing.assert_allclose(run(x).array, step(x).array, rtol=1e-5, atol=1e-7)
    assert "1 of them all steps of a layer" in chainer.explain(run)


def test_gradients_of_gradients():
    np.random.seed(0)
    model = Model((6, 5))

    def step(x):
        x = chainer.Variable(x)
        loss = each(model, x)
        (gx,) = chainer.grad([loss], [x], enable_double_backprop=True)
        return chainer.grad([F.sum(gx**2)], [model.layers[0].lateral.W])[0]

    run = chainer.capture(step, model, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.standard_normal((4, 3, 6), "f")
        np.testing.assert_allclose(run(x).array, step(x).array, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(threads, use_threads, monkeypatch):
    # Rows that fill no tile, so that parts end within one.
    options = {"sizes": (9, 12), "shape": (5, 27)}
    divided = []
    run_parts = lstm_steps.run_parts
    alone = _steps_alone(**options)

    def counted(loop, bounds, arguments):
        divided.append(bounds)
        run_parts(loop, bounds, arguments)

    monkeypatch.setattr(lstm_steps, "run_parts", counted)
    use_threads(threads)
    for _ in range(2):
        for found, expected in zip(_steps_alone(**options), alone, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert divided
    assert all([len(bounds) == threads + 1 for bounds in divided])
    compare(mean, 2, **options)


def _steps_alone(sizes, shape):
    """Returns the results of both loops over rows."""
    (_, units), (times, rows) = sizes, shape
    rng = np.random.default_rng(0)

    def random(*lengths):
        return rng.standard_normal(lengths).astype("f")

    def empty(*lengths):
        return [np.full(lengths, np.nan, "f") for _ in range(times)]

    W = random(4 * units, units)
    cs, hs, sources = empty(rows, units), empty(rows, units), empty(rows, 4 * units)
    gates = empty(4, rows, units)
    steps = {
        "h": [random(rows, units)] * times,
        "c": [random(rows, units)] * times,
        "W": [W] * times,
        "x": [random(rows, 4 * units) for _ in range(times)],
        "sources": sources,
        "new_c": cs,
        "new_h": hs,
        "gates": gates,
    }
    lstm_steps.forward_steps(steps)()
    new_gcs, new_gxs = empty(rows, units), empty(rows, 4 * units)
    steps = {
        "gx": [random(rows, 4 * units)] * times,
        "gc": [None] * times,
        "W": [W] * times,
        "c": [steps["c"][0], *cs[:-1]][::-1],
        "new_c": cs[::-1],
        "gates": gates[::-1],
        "gy": [random(rows, units) for _ in range(times)],
        "new_gc": new_gcs,
        "new_gx": new_gxs,
    }
    lstm_steps.backward_steps(steps)()
    return [*cs, *hs, *sources, *gates, *new_gcs, *new_gxs]


def test_few_rows_of_many_units_stay_single_calls(use_threads):
    # Threads share the columns of a product of two rows; there are not enough rows for them.
    use_threads(2)
    assert "all steps" not in trained(each, True, sizes=(9, 100), shape=(4, 2))[2]


def test_nan_passes():
    np.random.seed(0)
    link = L.StatelessLSTM(6, 5)

    def step(x):
        c = h = None
        for i in range(len(x)):
            c, h = link(c, h, x[i])
        return h

    run = chainer.capture(step, link, on_failure="error")
    x = np.random.default_rng(0).standard_normal((5, 3, 6), "f")
    for _ in range(4):
        run(x)
    x[2, 1, 3] = np.nan
    found = run(x).array
    np.testing.assert_array_equal(np.isnan(found), [[False] * 5, [True] * 5, [False] * 5])
    np.testing.assert_allclose(found, step(x).array, rtol=1e-5)
