"""Batching rules of single functions: all samples at once against a loop over the samples."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.autograd import batching

rng = np.random.default_rng(0)
X = rng.uniform(0.2, 1, (4, 2, 3))
SQUARE = rng.uniform(-1, 1, (4, 3, 3)) + 3 * np.eye(3)
MATRICES = rng.uniform(-1, 1, (4, 2, 3, 3)) + 3 * np.eye(3)
ROTATED = rng.uniform(-1, 1, (4, 2, 3, 4))
IMAGES = rng.uniform(-1, 1, (2, 2, 9, 3, 3))

#: Functions that can be differentiated twice, and samples.
CASES = {
    "inv": (F.inv, SQUARE),
    "batch_inv": (F.batch_inv, MATRICES),
    "det": (F.det, SQUARE),
    "batch_det": (F.batch_det, MATRICES),
    "batch_l2_norm_squared": (F.batch_l2_norm_squared, X),
    "shift": (F.shift, IMAGES),
    "crelu": (lambda x: F.crelu(x - 0.5), X),
    "crelu of another axis": (lambda x: F.crelu(x - 0.5, axis=-2), X),
    "diagonal": (F.diagonal, SQUARE),
    "diagonal of other axes": (lambda x: F.diagonal(x, 1, -1, 0), MATRICES),
    "rollaxis": (lambda x: F.rollaxis(x, 2), MATRICES),
    "rollaxis to the end": (lambda x: F.rollaxis(x, 0, 3), MATRICES),
    "rollaxis from the end": (lambda x: F.rollaxis(x, -1, -3), MATRICES),
    "repeat": (lambda x: F.repeat(x, 2, axis=-1), X),
    "repeat by counts": (lambda x: F.repeat(x, (1, 3), axis=0), X),
    "repeat of all": (lambda x: F.repeat(x, 2), X),
    "repeat of numbers": (lambda x: F.repeat(F.sum(x), 2, axis=0), X),
    "fft": (lambda x: F.concat(F.fft((x, x * x))), X),
    "ifft": (lambda x: F.concat(F.ifft((x, np.ones((2, 3))))), X),
    "cumprod": (lambda x: F.cumprod(x, axis=-1), X),
    "cumprod of all": (F.cumprod, X),
    "cumsum of all": (F.cumsum, X),
    "vstack": (lambda x: F.vstack((x, x[:1])) * F.vstack((x[0], x[1], x[0])), X),
    "vstack of numbers": (lambda x: F.vstack((F.sum(x), x[0, 0])), X),
    "hstack": (lambda x: F.hstack((x, x[:, :1])), X),
    "hstack of vectors": (lambda x: F.hstack((x[0], x[1, :2])), X),
    "hstack of numbers": (lambda x: F.hstack((F.sum(x), x[0, 0])), X),
    "dstack": (lambda x: F.dstack((x[None], x[None], np.ones((1, 2, 3)))), X),
    "dstack of matrices": (lambda x: F.dstack((x, x * x)), X),
    "dstack of vectors": (lambda x: F.dstack((x[0], x[1])), X),
    "tile": (lambda x: F.tile(x, (2, 1)), X),
    "tile of the last axis": (lambda x: F.tile(x, 2), X),
    "tile with more axes": (lambda x: F.tile(x, (2, 1, 1, 2)), X),
    "tile of numbers": (lambda x: F.tile(F.sum(x), 3), X),
    "pad": (lambda x: F.pad(x, 1, "constant"), X),
    "pad with a constant": (lambda x: F.pad(x, ((0, 1), (2, 0)), "constant", constant_values=2), X),
    "pad by reflection": (lambda x: F.pad(x, ((0, 1), (2, 1)), "reflect"), X),
    "permutate": (lambda x: F.permutate(x, np.array([2, 0, 1], "i"), axis=-1), X),
    "select_item": (lambda x: F.select_item(x, np.array([2, 0], "i")), X),
    "rotary_embedding": (lambda x: F.rotary_embedding(x)[..., 0], ROTATED),
    "floor": (lambda x: x * F.floor(3 * x), X),
    "ceil": (lambda x: x * F.ceil(3 * x), X),
    "fix": (lambda x: x * F.fix(3 * x), X),
    "sign": (lambda x: x * F.sign(x - 0.5), X),
}


def recurrent(function, count, states, directions=1):
    """Two layers over two times; the second has fewer sequences."""
    draw = np.random.default_rng(1)
    groups = 2 * directions
    # Only the weights of the inputs of the second layer see both directions.
    wide = [(i >= directions and j < count // 2) for i in range(groups) for j in range(count)]
    flat = [draw.uniform(-1, 1, (3, 3 * directions if w else 3)) for w in wide]
    ws = [flat[i * count : (i + 1) * count] for i in range(groups)]
    bs = [[draw.uniform(-1, 1, 3) for _ in range(count)] for _ in range(groups)]

    def of_sample(x):
        found = function(2, 0.0, *[x[None] * np.ones((groups, 1, 1))] * states, ws, bs, [x, x[:1]])
        return F.concat([F.flatten(y) for y in (*found[:states], *found[states])], axis=0)

    return of_sample


RECURRENT = {
    "n_step_rnn": recurrent(F.n_step_rnn, 2, 1),
    "n_step_gru": recurrent(F.n_step_gru, 6, 1),
    "n_step_lstm": recurrent(F.n_step_lstm, 8, 2),
    "n_step_birnn": recurrent(F.n_step_birnn, 2, 1, directions=2),
    "n_step_bilstm": recurrent(F.n_step_bilstm, 8, 2, directions=2),
}


@pytest.fixture
def no_loops(monkeypatch):
    """Fails where a function is applied to one sample after the other."""

    def fail(function, *_):
        pytest.fail(f"{function.label} has no batching rule")

    monkeypatch.setattr(batching, "in_a_loop", fail)


def once(function):
    """Fails where the mapped function is called for each sample."""
    calls = []

    def counted(*args):
        calls.append(args)
        assert len(calls) == 1, "called for each sample"
        return function(*args)

    return counted


def gradient(function):
    """Gradient of a sum in which each element of the results has its own weight."""

    def of_sample(x):
        y, pull = chainer.vjp(function, x)
        return pull(np.arange(1.0, y.size + 1).reshape(y.shape))[0]

    return of_sample


def of_each(function, batch):
    return np.stack([function(chainer.Variable(x)).array for x in batch])


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.array, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, no_loops):
    function, batch = CASES[name]
    for mapped in (function, gradient(function), gradient(gradient(function))):
        same(chainer.vmap(once(mapped))(batch), of_each(mapped, batch))


@pytest.mark.parametrize("name", CASES)
def test_other_axes_and_nested(name, no_loops):
    function, batch = CASES[name]
    expected = of_each(function, batch)
    same(chainer.vmap(once(function), in_axes=1)(batch.swapaxes(0, 1)), expected)
    pairs = np.stack([batch, batch + 0.1], axis=-1)
    found = chainer.vmap(chainer.vmap(once(function)), in_axes=-1)(pairs)
    same(found, np.stack([expected, of_each(function, batch + 0.1)]))


@pytest.mark.parametrize("name", CASES)
def test_forward_mode(name, no_loops):
    function, batch = CASES[name]
    found = chainer.jvp(chainer.vmap(function), (batch,), (batch * batch,))[1]
    rows = [chainer.jvp(function, (x,), (x * x,))[1].array for x in batch]
    same(found, np.stack(rows))
    same(chainer.vmap(lambda x: chainer.jvp(function, (x,), (x * x,))[1])(batch), np.stack(rows))


@pytest.mark.parametrize("name", CASES)
def test_on_the_strict_backend(name, no_loops):
    pytest.importorskip("chainer_strict_backend")
    function, batch = CASES[name]
    if name in ("ifft", "dstack", "permutate", "select_item"):
        pytest.skip("the function has a constant of NumPy")
    device = chainer.get_device("@strict")
    found = chainer.vmap(function)(device.send(batch))
    assert chainer.backend.get_device_from_array(found.array) == device
    np.testing.assert_allclose(
        chainer.get_device("@numpy").send(found.array), of_each(function, batch), rtol=1e-9
    )


@pytest.mark.parametrize("name", CASES)
def test_no_samples(name, no_loops):
    function, batch = CASES[name]
    expected = of_each(function, batch)
    assert chainer.vmap(function)(batch[:0]).shape == (0, *expected.shape[1:])


@pytest.mark.parametrize("function", [F.argmax, F.argmin])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_indexes(function, axis, no_loops):
    mapped = once(lambda x: function(x, axis))
    same(chainer.vmap(mapped)(X), of_each(lambda x: function(x, axis), X))


def test_numbers_of_rows(no_loops):
    x, w = np.array([[0, 2], [1, -1], [2, 2]], "i"), rng.uniform(-1, 1, (3, 5))

    def embedded(x):
        return F.embed_id(x, w, ignore_label=-1)

    same(chainer.vmap(once(embedded))(x), of_each(embedded, x))
    found = chainer.vmap(chainer.vmap(embedded), in_axes=1)(x[:, :, None])
    same(found, of_each(embedded, x.T)[:, :, None])


def test_a_table_for_each_sample_is_a_loop():
    x, w = np.array([[0, 2], [1, 1]], "i"), rng.uniform(-1, 1, (2, 3, 5))
    found = chainer.vmap(F.embed_id)(x, w)
    np.testing.assert_allclose(found.array, [w[0][x[0]], w[1][x[1]]])


def test_pad_with_values_for_each_axis_is_a_loop():
    def function(x):
        return F.pad(x, 1, "constant", constant_values=((1, 2), (3, 4)))

    same(chainer.vmap(once(function))(X), of_each(function, X))


def test_labels_of_all_samples(no_loops):
    t = np.array([[0, 2], [1, 1], [2, 2], [0, 0]], "i")
    found = chainer.vmap(F.select_item)(X, t)
    np.testing.assert_array_equal(found.array, np.take_along_axis(X, t[..., None], 2)[..., 0])


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_networks(name, no_loops):
    function = RECURRENT[name]
    for mapped in (function, gradient(function)):
        same(chainer.vmap(once(mapped))(X), of_each(mapped, X))
    found = chainer.vmap(lambda x: chainer.jvp(function, (x,), (x * x,))[1], in_axes=1)(
        X.swapaxes(0, 1)
    )
    rows = [chainer.jvp(function, (x,), (x * x,))[1].array for x in X]
    same(found, np.stack(rows))


def test_recurrent_networks_with_dropout_draw_for_each_sample():
    ws, bs = [[np.eye(3)] * 2] * 2, [[np.zeros(3)] * 2] * 2

    def function(x):
        return F.n_step_rnn(2, 0.5, np.zeros((2, 2, 3)), ws, bs, [x])[1][0]

    with chainer.using_config("train", True):
        with pytest.raises(RuntimeError, match="draws random numbers"):
            chainer.vmap(function)(X)
        found = chainer.vmap(function, randomness="different")(np.stack([X[0]] * 8)).array
        assert not np.array_equal(found[0], found[1:].mean(0))


def test_batch_renormalization_is_a_loop():
    def updated(mapped):
        mean, var = np.zeros(3), np.ones(3)

        def function(x):
            limits = {"rmax": 1.5, "dmax": 0.5, "update_statistics": True}
            statistics = {"running_mean": mean, "running_var": var}
            return F.batch_renormalization(x, np.ones(3), np.zeros(3), **limits, **statistics)

        return mapped(function), mean, var

    y, mean, var = updated(lambda function: chainer.vmap(once(function))(X))
    expected = updated(lambda function: of_each(function, X))
    same(y, expected[0])
    np.testing.assert_allclose((mean, var), expected[1:], rtol=1e-12)
    assert np.all(mean != 0)


def test_losses_of_smoothed_labels(no_loops):
    t = np.array([[0, 2], [1, -1], [2, 2], [0, 0]], "i")

    def loss(x, t):
        return F.label_smoothed_cross_entropy(x, t, 0.1)

    found = chainer.vmap(loss)(X, t)
    rows = [loss(x, labels).array for x, labels in zip(X, t, strict=True)]
    np.testing.assert_allclose(found.array, rows, rtol=1e-12)


def test_asking_for_the_namespace_reads_no_values(no_loops):
    def function(x):
        xp = chainer.backend.get_array_module(x.array)
        return x * xp.ones(x.shape, x.dtype)

    same(chainer.vmap(once(function))(X), X)


def test_functions_of_other_authors(no_loops):
    class Reversed(chainer.FunctionNode):
        batch_inputs = (0,)

        def forward(self, inputs):
            return (inputs[0][:, ::-1],)

        def backward(self, target_input_indexes, grad_outputs):
            return Reversed().apply(grad_outputs)

    def function(x):
        return Reversed().apply((x,))[0]

    same(chainer.vmap(once(function))(X), X[:, :, ::-1])
    same(chainer.vmap(once(gradient(function)))(X), of_each(gradient(function), X))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("convolution", [F.convolution_2d, F.deconvolution_2d])
def test_second_derivatives_by_weights(convolution, groups, no_loops):
    x = rng.uniform(-1, 1, (2, 4, 3, 3))
    others = 4 if convolution is F.convolution_2d else 2
    W = rng.uniform(-1, 1, (4, others // groups, 2, 2))

    def loss(x, W):
        return F.sum(convolution(x, W, stride=1, pad=1, groups=groups) ** 3)

    for argnum in (0, 1):
        found = chainer.hessian(loss, argnum)(x, W)
        variables = [chainer.Variable(x), chainer.Variable(W)]
        (gradient,) = chainer.grad(
            [loss(*variables)], [variables[argnum]], enable_double_backprop=True
        )
        elements = F.flatten(gradient)
        rows = [chainer.grad([e], [variables[argnum]])[0].array for e in elements]
        shape = (*gradient.shape, *gradient.shape)
        same(found, np.stack(rows).reshape(shape))


def test_gradients_of_weights_of_each_sample(no_loops):
    # Both arguments of the gradient of the weight have samples, and an outer batch.
    x, W = rng.uniform(-1, 1, (3, 2, 4, 5)), rng.uniform(-1, 1, (2, 4, 3))

    def gradient_of_weight(x):
        y, pull = chainer.vjp(lambda W: F.convolution_1d(x, W, pad=1), W)
        return pull(F.tanh(y))[0]

    for mapped in (gradient_of_weight, lambda x: chainer.jvp(gradient_of_weight, (x,), (x,))[1]):
        same(chainer.vmap(once(mapped))(x), of_each(mapped, x))
