"""Recurrent networks over whole sequences: stored numbers, dropout, dtypes, messages."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.utils.type_check import InvalidType


def numbers(k, *shape):
    return (np.arange(np.prod(shape)) * 7 * k % 5 - 2).reshape(shape).astype(np.float32) / 4


def network(mode, layers=1, directions=1, batches=(2, 1)):
    """States, weights, biases and inputs of a small network."""
    count = {"lstm": 8, "gru": 6, "rnn": 2}[mode]

    def width(n, j):
        if j >= count // 2:
            return 2
        return 3 if n < directions else 2 * directions

    groups = range(layers * directions)
    ws = [[numbers(1 + n + j, 2, width(n, j)) for j in range(count)] for n in groups]
    bs = [[numbers(2 + n + j, 2) for j in range(count)] for n in groups]
    hx, cx = (numbers(k, len(groups), batches[0], 2) for k in (3, 4))
    return hx, cx, ws, bs, [numbers(6 + i, n, 3) for i, n in enumerate(batches)]


def close(y, expected):
    np.testing.assert_allclose(y.array.ravel(), expected, rtol=1e-5, atol=2e-7)


class TestNumbersOfAnEarlierRelease:
    """Made with Chainer 4.3.1; they fix the order of the gates and of the random numbers."""

    def test_bilstm(self):
        hx, cx, ws, bs, xs = network("lstm", 2, 2)
        hy, _, ys = F.n_step_bilstm(2, 0.0, hx, cx, ws, bs, xs)
        close(
            hy,
            [
                *[-0.1484592, -0.0424623, -0.0703737, 0.2245739],
                *[-0.0790561, -0.1923058, -0.0301606, -0.0948323],
                *[-0.0596999, -0.097837, -0.1258884, -0.0703584],
                *[-0.0802239, 0.1645667, -0.0463323, -0.015941],
            ],
        )
        close(
            ys[0],
            [
                *[-0.0180525, -0.0173805, -0.0802239, 0.1645667],
                *[-0.1258884, -0.0703584, -0.0463323, -0.015941],
            ],
        )

    def test_gru(self):
        hx, _, ws, bs, xs = network("gru")
        hy, _ = F.n_step_gru(1, 0.0, hx, ws, bs, xs)
        close(hy, [-0.434446, 0.1779311, -0.3745605, 0.4867698])

    def test_dropout(self):
        hx, cx, ws, bs, xs = network("lstm", 2)
        np.random.seed(0)
        _, _, ys = F.n_step_lstm(2, 0.5, hx, cx, ws, bs, xs)
        close(ys[0], [-0.0431716, -0.1520524, -0.0375872, -0.0436026])
        close(ys[1], [-0.0658946, -0.146548])

    def test_dropout_of_both_directions(self):
        hx, cx, ws, bs, xs = network("lstm", 2, 2)
        np.random.seed(0)
        _, _, ys = F.n_step_bilstm(2, 0.5, hx, cx, ws, bs, xs)
        close(
            ys[0],
            [
                *[-0.0088772, 0.0419141, -0.0859557, 0.1897012],
                *[-0.1248183, -0.08569, -0.0488689, -0.0418816],
            ],
        )


def test_no_dropout_when_testing_nor_below_the_first_layer():
    hx, cx, ws, bs, xs = network("lstm", 2)
    plain = F.n_step_lstm(2, 0.0, hx, cx, ws, bs, xs)[0].array
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(F.n_step_lstm(2, 0.9, hx, cx, ws, bs, xs)[0].array, plain)
    hx, cx, ws, bs, xs = network("lstm", 1)
    plain = F.n_step_lstm(1, 0.0, hx, cx, ws, bs, xs)[0].array
    np.testing.assert_array_equal(F.n_step_lstm(1, 0.9, hx, cx, ws, bs, xs)[0].array, plain)


def test_sequences_that_have_ended_keep_their_state():
    hx, _, ws, bs, xs = network("gru", batches=(3, 2))
    wide = numbers(9, 1, 5, 2)
    wide[:, :3] = hx
    hy, ys = F.n_step_gru(1, 0.0, wide, ws, bs, xs)
    np.testing.assert_array_equal(hy.array[0, 3:], wide[0, 3:])
    np.testing.assert_array_equal(hy.array[0, 2], ys[0].array[2])
    np.testing.assert_array_equal(hy.array[0, :2], ys[1].array)


def test_no_time_at_all():
    hx, cx, ws, bs, _ = network("lstm")
    hy, cy, ys = F.n_step_lstm(1, 0.0, hx, cx, ws, bs, [])
    np.testing.assert_array_equal(hy.array, hx)
    np.testing.assert_array_equal(cy.array, cx)
    assert ys == ()


def test_gradient_of_one_output_only():
    hx, _, ws, bs, xs = network("rnn", batches=(2, 2, 2))
    x = [chainer.Variable(x) for x in xs]
    _, ys = F.n_step_rnn(1, 0.0, hx, ws, bs, x)
    ys[1].grad = np.ones_like(ys[1].array)
    ys[1].backward()
    assert np.abs(x[0].grad).sum() > 0
    assert np.abs(x[1].grad).sum() > 0
    assert x[2].grad is None or not x[2].grad.any()


def test_halves():
    hx, cx, ws, bs, xs = network("lstm", 2)
    half = [[w.astype("e") for w in group] for group in ws]
    hy, cy, ys = F.n_step_lstm(
        2,
        0.0,
        hx.astype("e"),
        cx.astype("e"),
        half,
        [[b.astype("e") for b in group] for group in bs],
        [x.astype("e") for x in xs],
    )
    assert {hy.dtype, cy.dtype, ys[0].dtype} == {np.dtype("e")}
    expected = F.n_step_lstm(2, 0.0, hx, cx, ws, bs, xs)[0].array
    np.testing.assert_allclose(hy.array, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("mode", "directions", "label"),
    [
        ("lstm", 1, "NStepLSTM"),
        ("lstm", 2, "NStepBiLSTM"),
        ("gru", 1, "NStepGRU"),
        ("gru", 2, "NStepBiGRU"),
        ("rnn", 1, "NStepRNNTanh"),
        ("rnn", 2, "NStepBiRNNTanh"),
    ],
)
def test_labels(mode, directions, label):
    hx, cx, ws, bs, xs = network(mode, 1, directions)
    function = getattr(F, f"n_step_{'bi' if directions == 2 else ''}{mode}")
    states = (chainer.Variable(hx), cx) if mode == "lstm" else (chainer.Variable(hx),)
    assert function(1, 0.0, *states, ws, bs, xs)[0].creator.label == label


class TestRefusals:
    def test_removed_arguments(self):
        hx, cx, ws, bs, xs = network("lstm")
        for name in ("train", "use_cudnn"):
            with pytest.raises(ValueError, match=f"{name} argument is not supported anymore. Use"):
                F.n_step_lstm(1, 0.0, hx, cx, ws, bs, xs, **{name: True})
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            F.n_step_gru(1, 0.0, hx, ws, bs, xs, foo=True)

    def test_activation(self):
        hx, _, ws, bs, xs = network("rnn")
        with pytest.raises(ValueError, match=r'Invalid activation: "foo". Please select from \['):
            F.n_step_rnn(1, 0.0, hx, ws, bs, xs, activation="foo")

    def test_sequences(self):
        hx, cx, ws, bs, xs = network("lstm")
        with pytest.raises(TypeError, match="xs must be a list or a tuple"):
            F.n_step_lstm(1, 0.0, hx, cx, ws, bs, xs[0])
        with pytest.raises(InvalidType, match=r"in_types\[19\]\.shape\[0\] <= "):
            F.n_step_lstm(1, 0.0, hx, cx, ws, bs, xs[::-1])
        with pytest.raises(InvalidType, match=r"in_types\[18\]\.shape\[0\] <= in_types\[0\]"):
            F.n_step_lstm(1, 0.0, hx, cx, ws, bs, [np.ones((3, 3), "f")])

    def test_numbers_of_parameters(self):
        hx, cx, ws, bs, xs = network("lstm")
        with pytest.raises(ValueError, match="ws must have 2 elements, got 1"):
            F.n_step_lstm(2, 0.0, hx, cx, ws, bs, xs)
        with pytest.raises(ValueError, match=r"bs\[0\] must have 8 biases, got 7"):
            F.n_step_lstm(1, 0.0, hx, cx, ws, [bs[0][:7]], xs)

    def test_shapes_of_parameters(self):
        hx, cx, ws, bs, xs = network("lstm")
        ws[0][1] = np.ones((2, 4), "f")
        with pytest.raises(InvalidType, match=r"in_types\[3\]\.shape\[1\] == "):
            F.n_step_lstm(1, 0.0, hx, cx, ws, bs, xs)

    def test_dropout_ratio(self):
        hx, cx, ws, bs, xs = network("lstm")
        with pytest.raises(ValueError, match=r"dropout_ratio must be in the range \[0, 1\), got 1"):
            F.n_step_lstm(1, 1.0, hx, cx, ws, bs, xs)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn"])
def test_gradients_of_long_sequences(mode, bidirectional):
    """States that are so many that those before each step are copied in blocks only."""
    state = np.random.RandomState(0)
    units, directions = 200, 1 + bidirectional
    batches = [*[23] * 9, *range(22, 3, -2), *[1] * 12]
    count = {"lstm": 8, "gru": 6, "rnn": 2}[mode]

    def draw(*shape):
        return chainer.Variable(state.uniform(-0.1, 0.1, shape).astype(np.float32))

    ws = [
        [draw(units, 3 if j < count // 2 else units) for j in range(count)]
        for _ in range(directions)
    ]
    bs = [[draw(units) for _ in range(count)] for _ in range(directions)]
    states = [draw(directions, 23, units) for _ in range(1 + (mode == "lstm"))]
    xs = [draw(n, 3) for n in batches]
    assert sum(batches) * units * 4 > 1 << 18
    function = getattr(F, f"n_step_{'bi' if bidirectional else ''}{mode}")
    *_, ys = function(1, 0.0, *states, ws, bs, xs)
    loss = F.sum(F.concat(ys, axis=0) ** 2)
    variables = [*states, *[w for group in (*ws, *bs) for w in group], *xs]
    loss.backward(retain_grad=False)
    # These gradients are made of differentiable functions, step by step.
    recorded = chainer.grad([loss], variables, enable_double_backprop=True)
    for variable, expected in zip(variables, recorded, strict=True):
        scale = abs(expected.array).max()
        np.testing.assert_allclose(variable.grad, expected.array, rtol=1e-3, atol=1e-5 * scale)


def test_gradients_of_some_outputs_only():
    hx, _, ws, bs, xs = network("rnn", batches=(2, 2, 1, 0))
    weights = [chainer.Variable(w) for w in ws[0]]
    found = []
    for recorded in (False, True):
        _, ys = F.n_step_rnn(1, 0.0, hx, [weights], bs, xs)
        loss = F.sum(ys[1] * ys[1])
        found.append(chainer.grad([loss], weights, enable_double_backprop=recorded))
    for plain, expected in zip(*found, strict=True):
        np.testing.assert_allclose(plain.array, expected.array, rtol=1e-5, atol=1e-7)
