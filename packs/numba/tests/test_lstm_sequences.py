"""LSTM over whole sequences, also of different lengths."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.kernel import get_operation

from chainer_numba import lstm_sequences, lstm_steps
from chainer_numba.linears import LinearKernel
from chainer_numba.lstm_sequences import LSTMCell

LENGTHS = ([4, 4, 4], [5, 3, 1], [6], [3, 2, 2, 1])


pytestmark = pytest.mark.usefixtures("any_size", "with_numba")


def parameters(layers, directions, inputs, units, seed=0):
    """Returns weights and biases of all layers and directions."""
    rng = np.random.RandomState(seed)
    ws, bs = [], []
    for i in range(layers * directions):
        width = inputs if i < directions else units * directions
        shapes = [(units, width)] * 4 + [(units, units)] * 4
        ws.append([rng.randn(*s).astype("f") * 0.4 for s in shapes])
        bs.append([rng.randn(units).astype("f") for _ in shapes])
    return ws, bs


def sequences(lengths, inputs, seed=1):
    """Returns the inputs of each time."""
    rng = np.random.RandomState(seed)
    alive = [sum(length > t for length in lengths) for t in range(max(lengths))]
    return [rng.randn(n, inputs).astype("f") for n in alive]


def by_the_formula(x, h, c, w, b):
    """Returns the outputs of one sequence in float64, and its last states."""

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    w, b = [a.astype("d") for a in w], [a.astype("d") for a in b]
    ys = []
    for one in x.astype("d"):
        i, f, a, o = (w[k] @ one + w[4 + k] @ h + b[k] + b[4 + k] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(a)
        h = sigmoid(o) * np.tanh(c)
        ys.append(h)
    return np.array(ys), h, c


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("units", [7, 60])
def test_outputs(lengths, directions, units):
    ws, bs = parameters(1, directions, 5, units)
    xs = sequences(lengths, 5)
    h, c = np.random.RandomState(2).randn(2, directions, len(lengths), units).astype("f")
    function = F.n_step_bilstm if directions == 2 else F.n_step_lstm
    hy, cy, ys = function(1, 0.0, h, c, ws, bs, xs)
    for s, length in enumerate(lengths):
        x = np.array([part[s] for part in xs[:length]])
        y = np.array([part.array[s] for part in ys[:length]])
        for d in range(directions):
            order = slice(None, None, -1 if d else 1)
            expected = by_the_formula(x[order], h[d, s], c[d, s], ws[d], bs[d])
            columns = slice(d * units, (d + 1) * units)
            np.testing.assert_allclose(y[order, columns], expected[0], atol=2e-6)
            np.testing.assert_allclose(hy.array[d, s], expected[1], atol=2e-6)
            np.testing.assert_allclose(cy.array[d, s], expected[2], atol=4e-6)


def gradients(lengths, directions, layers, outputs, ratio=0.0, double=False):
    """Returns the gradients of all inputs; ``outputs`` names what the loss reads."""
    units = 6
    ws, bs = parameters(layers, directions, 4, units)
    xs = sequences(lengths, 4)
    states = np.random.RandomState(2).randn(2, layers * directions, len(lengths), units)
    h, c = map(chainer.Variable, states.astype("f"))
    variables = [[[chainer.Variable(a) for a in group] for group in part] for part in (ws, bs)]
    xs = [chainer.Variable(x) for x in xs]
    function = F.n_step_bilstm if directions == 2 else F.n_step_lstm
    np.random.seed(3)
    hy, cy, ys = function(layers, ratio, h, c, *variables, xs)
    parts = {"h": [hy], "c": [cy], "y": ys, "first": ys[:1]}
    chosen = [v for name in outputs for v in parts[name]]
    loss = sum([F.sum(F.sin(v * (i + 1))) for i, v in enumerate(chosen)])
    flat = [h, c, *xs, *[v for part in variables for group in part for v in group]]
    found = chainer.grad([loss], flat, enable_double_backprop=double)
    if double:
        found = chainer.grad([sum([F.sum(g * g) for g in found])], flat)
    return [g.array for g in found]


def both(*args, **kwargs):
    """Returns the gradients by the kernel and by the reference."""
    found = gradients(*args, **kwargs)
    with chainer.using_config("kernels", ()):
        return found, gradients(*args, **kwargs)


@pytest.mark.parametrize("outputs", [("h", "c", "y"), ("y",), ("h",), ("c",), ("first",)])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_gradients(lengths, directions, outputs):
    for found, expected in zip(*both(lengths, directions, 2, outputs), strict=True):
        np.testing.assert_allclose(found, expected, atol=5e-5, rtol=1e-4)


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("lengths", [[4] * 27, [*range(22, 0, -1)], [5] + [1] * 26])
@pytest.mark.parametrize("threads", [2, 3])
# Up to 256 rows of all times: BLAS makes larger products if there is one thread.
def test_threads_change_no_bit(lengths, directions, threads, use_threads, monkeypatch):
    arguments = lengths, directions, 1, ("h", "c", "y")
    alone = gradients(*arguments)
    divided = []
    run_parts = lstm_steps.run_parts

    def counted(loop, bounds, values):
        divided.append(loop)
        run_parts(loop, bounds, values)

    monkeypatch.setattr(lstm_steps, "run_parts", counted)
    use_threads(threads)
    for _ in range(2):
        for found, expected in zip(gradients(*arguments), alone, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert lstm_sequences.sequence in divided
    assert lstm_sequences.sequence_gradient in divided


def test_dropout_and_gradients_of_gradients():
    for kwargs in {"ratio": 0.4}, {"double": True}:
        for found, expected in zip(*both([4, 3], 1, 2, ("h", "y"), **kwargs), strict=True):
            np.testing.assert_allclose(found, expected, atol=2e-3, rtol=2e-3)


def test_gradients_share_no_memory():
    _, _, *rest = gradients([3, 2], 1, 1, ("y",))
    groups = rest[3:]
    assert len(groups) == 16
    for i, a in enumerate(groups):
        assert not any(np.shares_memory(a, b) for b in groups[:i])


def test_states_beyond_the_sequences_stay():
    ws, bs = parameters(1, 1, 4, 6)
    h, c = np.random.RandomState(2).randn(2, 1, 5, 6).astype("f")
    hy, cy, _ = F.n_step_lstm(1, 0.0, h, c, ws, bs, sequences([3, 2], 4))
    np.testing.assert_array_equal(hy.array[0, 2:], h[0, 2:])
    np.testing.assert_array_equal(cy.array[0, 2:], c[0, 2:])
    assert (hy.array[0, :2] != h[0, :2]).all()


def test_inputs_do_not_change():
    ws, bs = parameters(1, 1, 4, 6)
    xs = sequences([3, 2], 4)
    h, c = np.random.RandomState(2).randn(2, 1, 2, 6).astype("f")
    inputs = [h, c, *xs, *[a for part in (ws, bs) for group in part for a in group]]
    before = [a.copy() for a in inputs]
    for a in inputs:
        a.flags.writeable = False
    hy, cy, ys = F.n_step_lstm(1, 0.0, chainer.Variable(h), c, ws, bs, xs)
    sum([F.sum(v) for v in (hy, cy, *ys)]).backward()
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "layout",
    [lambda a: np.repeat(a, 2, axis=-1)[..., ::2], np.asfortranarray],
    ids=["spread", "transposed"],
)
def test_inputs_that_are_not_contiguous(layout):
    def results(layout):
        ws, bs = parameters(1, 1, 4, 6)
        ws, bs = ([[chainer.Variable(layout(a)) for a in part[0]]] for part in (ws, bs))
        xs = [chainer.Variable(layout(x)) for x in sequences([3, 2], 4)]
        h, c = np.random.RandomState(2).randn(2, 1, 2, 6).astype("f")
        hy, cy, ys = F.n_step_lstm(1, 0.0, layout(h), layout(c), ws, bs, xs)
        F.sum(F.concat([hy[0], cy[0], *ys], axis=0) ** 2).backward()
        return [hy.array, cy.array, *[v.grad for v in (*ws[0], *bs[0], *xs)]]

    for found, expected in zip(results(layout), results(np.array), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_element_at_a_time():
    ws, bs = parameters(1, 1, 4, 6)
    h, c = np.random.RandomState(2).randn(2, 1, 2, 6).astype("f")
    xs = [*sequences([2, 1], 4), np.zeros((0, 4), "f")]
    hy, _, ys = F.n_step_lstm(1, 0.0, chainer.Variable(h), c, ws, bs, xs)
    assert ys[-1].shape == (0, 6)
    F.sum(hy).backward()
    none = LSTMCell(ws[0], bs[0], _Steps(), LinearKernel(chainer.get_device("@numpy").backend))
    y, h_last, c_last = none.forward(np.zeros((0, 4), "f"), h[0], c[0])
    assert y.shape == (0, 6)
    np.testing.assert_array_equal((h_last, c_last), (h[0], c[0]))
    gx, gh, _, gws, _ = none.backward(None, h[0], None)
    assert gx.shape == (0, 4)
    np.testing.assert_array_equal(gh, h[0])
    assert not any(g.any() for g in gws)


class _Steps:
    slices = ()
    batch_sizes = ()


def test_nan_and_infinity_spread_within_their_sequence():
    ws, bs = parameters(1, 1, 4, 6)
    xs = sequences([3, 3], 4)
    xs[1][0, 0] = np.nan
    h = np.zeros((1, 2, 6), "f")
    _, _, ys = F.n_step_lstm(1, 0.0, h, h, ws, bs, xs)
    assert [np.isnan(y.array).any(axis=1).tolist() for y in ys] == [
        [False, False],
        [True, False],
        [True, False],
    ]


def test_captured_step():
    def trained(captures):
        np.random.seed(0)
        model = L.NStepLSTM(1, 4, 6, 0.0)
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)

        def step(x):
            _, _, ys = model(None, None, [x[0], x[1, :3]])
            loss = F.sum(F.concat(ys, axis=0) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
        rng = np.random.RandomState(1)
        return [float(run(rng.randn(2, 5, 4).astype("f")).array) for _ in range(6)]

    with chainer.using_config("accelerate", "auto"):
        np.testing.assert_allclose(trained(True), trained(False), rtol=1e-5)


def chosen(lengths, units, dtype="f", mode="lstm"):
    from chainer.backends.operations.rnns import RNNLayout

    alive = tuple([sum(length > t for length in lengths) for t in range(max(lengths))])
    x, h = np.zeros((sum(alive), 4), dtype), np.zeros((1, len(lengths), units), dtype)
    layout = RNNLayout(mode, 1, 1, alive)
    with chainer.using_config("kernels", ()), chainer.using_config("accelerate", "auto"):
        c = h if mode == "lstm" else None
        return get_operation("n_step_rnn").explain(x, h, c, layout=layout).chosen.provider


def test_who_serves_which_sequences(use_threads):
    use_threads(1)
    assert chosen([9, 8, 3], 200) == "numba"
    assert chosen([9, 8, 3], 200, "d") == "reference"
    assert chosen([9, 8, 3], 200, "e") == "reference"
    assert chosen([9, 8, 3], 200, mode="gru") == "reference"
    assert chosen([4] * 32, 800) == "numba"  # large weights
    assert chosen([4] * 4, 200) == "numba"  # few sequences
    assert chosen([4] * 20, 200) == "numba"
    # Several threads are faster than oneDNN here.
    use_threads(2)
    assert chosen([4] * 4, 64) == "numba"
