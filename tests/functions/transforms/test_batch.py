"""``chainer.vmap`` and ``chainer.per_sample_grad`` against loops over the samples."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.autograd import batching

rng = np.random.default_rng(0)
X = rng.uniform(0.2, 1, (4, 2, 3))
Y = rng.uniform(0.2, 1, (4, 2, 3))
W = rng.uniform(-1, 1, (5, 3))
ONE = np.ones(())


@pytest.fixture
def no_loops(monkeypatch):
    """Fails where a function is applied to one sample after the other."""

    def fail(function, *_):
        pytest.fail(f"{function.label} has no batching rule")

    monkeypatch.setattr(batching, "in_a_loop", fail)


def of_each(function, *batches):
    variables = [map(chainer.Variable, batch) for batch in batches]
    rows = [function(*samples) for samples in zip(*variables, strict=True)]
    if isinstance(rows[0], (tuple, list)):
        return [np.stack([y.array for y in column]) for column in zip(*rows, strict=True)]
    return np.stack([y.array for y in rows])


def check(function, *batches, rtol=1e-12):
    with chainer.using_config("enable_backprop", False):
        found = chainer.vmap(function)(*batches)
    expected = of_each(function, *batches)
    if isinstance(expected, list):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.array, b, rtol=rtol, atol=1e-14)
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.array, expected, rtol=rtol, atol=1e-14)


UNARY = {
    "tanh": F.tanh,
    "exp": F.exp,
    "relu": F.relu,
    "square": lambda x: F.square(x),
    "power": lambda x: x**3,
    "constants": lambda x: 2 / (1 - 3 * x) + 1,
    "array constants": lambda x: x * Y[0] + Y[0, 0],
    "sum": F.sum,
    "sum of axes": lambda x: F.sum(x, axis=(0,)) + F.sum(x, axis=-2, keepdims=True)[0],
    "mean": F.mean,
    "max": lambda x: F.max(x, axis=1) + F.min(x),
    "logsumexp": lambda x: F.logsumexp(x, axis=1),
    "reshape": lambda x: F.reshape(x, (3, -1)),
    "flatten": F.flatten,
    "squeeze": lambda x: F.squeeze(F.expand_dims(x, 1), 1),
    "transpose": lambda x: F.matmul(x.T, x),
    "axes": lambda x: F.swapaxes(F.transpose(x[None], (2, 0, 1)), 0, -1),
    "moveaxis": lambda x: F.moveaxis(x[None], (0, 1), (-1, 0)),
    "flip": lambda x: F.flip(x, 0) + F.fliplr(x),
    "concat": lambda x: F.concat((x, 2 * x), axis=0),
    "stack": lambda x: F.stack((x, x * x), axis=-1),
    "broadcast": lambda x: F.broadcast_to(x, (4, 2, 3)) + F.broadcast_to(x[0], (4, 2, 3)),
    "index": lambda x: x[1, ::2] + x[..., 1, None] * x[0, 0],
    "array index": lambda x: x[:, np.array([0, 2, 0])],
    "array indexes": lambda x: x[[0, 1], [1, 2]] + x[1, [0, 2]],
    "where": lambda x: F.where(np.array([[True], [False]]), x, x[0]),
    "where of a smaller condition": lambda x: F.where(np.array([True, False, True]), x[0], x),
    "einsum": lambda x: F.einsum("ij,kj->ik", x, x) + F.einsum("...j,jk->...k", x, W[:3, :2]),
    "diagonal by einsum": lambda x: F.einsum("ii->i", F.matmul(x, x, transb=True)),
    "layer normalization": lambda x: F.layer_normalization(x, W[0], W[1]),
    "batch normalization": lambda x: F.batch_normalization(x, W[0], W[1], eps=0.1),
    "fixed normalization": lambda x: F.fixed_batch_normalization(x, W[0], W[1], W[2], W[3] ** 2),
    "group normalization": lambda x: F.group_normalization(x[None], 1, W[:2, 0], W[:2, 1]),
    "response normalization": lambda x: F.local_response_normalization(x[None]),
    "lstm": lambda x: F.concat(F.lstm(x, F.concat([x, 2 * x, x, -x], axis=1))),
    "tree lstm": lambda x: F.concat(F.tree_lstm(x, x, F.concat([x, 2 * x, x, -x, x], axis=1))),
    "piecewise": lambda x: F.leaky_relu(x - 0.5) + F.clipped_relu(x, 0.5) + F.hard_sigmoid(x),
    "split": lambda x: F.separate(x, 1)[0] * F.split_axis(x, 3, -1)[2][:, 0],
    "cumsum": lambda x: F.cumsum(x, axis=1),
    "constants of more axes": lambda x: x * np.ones((2, 1, 2, 3)),
    "pairs": lambda x: F.squared_error(x, 2 * x) + F.linear_interpolate(x, x, 2 * x),
    "softmax": lambda x: F.softmax(x) + F.log_softmax(x, axis=0),
    "linear": lambda x: F.linear(x, W, W[:, 0]),
    "cast": lambda x: F.cast(x, "f"),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_with_rules(name, no_loops):
    check(UNARY[name], X, rtol=1e-6 if name == "cast" else 1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * y + x / y - y,
        lambda x, y: x[0] * y,  # shapes of one sample are broadcast
        lambda x, y: y + F.sum(x),
        lambda x, y: F.matmul(x, y, transb=True),
        lambda x, y: F.matmul(x, y, transa=True),
        lambda x, y: F.matmul(x[0], y[0]),
        lambda x, y: F.matmul(x, y[0]),
        lambda x, y: F.matmul(x[:, 0], y),
        lambda x, y: F.linear(x, y, y[:, 0]),
        lambda x, y: F.maximum(x, y),
        lambda x, y: (F.sum(x * y), [x, y][1]),
    ],
)
def test_functions_of_two_arguments(function, no_loops):
    check(function, X, Y)


IMAGES = {
    "max pooling": lambda x: F.max_pooling_2d(x, 2),
    "average pooling": lambda x: F.average_pooling_2d(x, 2),
    "unpooling": lambda x: F.unpooling_2d(x, 2),
    "convolution": lambda x: F.convolution_2d(x, np.ones((2, 2, 2, 2))),
    "im2col": lambda x: F.im2col(x, 2),
    "resized": lambda x: F.resize_images(x, (3, 2)),
    "pixels": lambda x: F.space2depth(x, 2),
}
JACOBIANS = {
    **{name: (function, X[0]) for name, function in UNARY.items() if name != "cast"},
    **{
        name: (function, X.reshape(-1)[:16].reshape(1, 2, 2, 4))
        for name, function in IMAGES.items()
    },
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians_in_one_walk(name, no_loops):
    function, x = JACOBIANS[name]
    found = [make(function)(x).array for make in (chainer.jacrev, chainer.jacfwd)]
    steps = []
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = 1e-6
        step = step.reshape(x.shape)
        low, high = [function(chainer.Variable(y)).array for y in (x - step, x + step)]
        steps.append((high - low) / 2e-6)
    expected = np.moveaxis(np.array(steps), 0, -1).reshape(found[0].shape)
    for jacobian in found:
        np.testing.assert_allclose(jacobian, expected, rtol=1e-6, atol=1e-7)


def test_jacobians_can_be_differentiated_and_nested(no_loops):
    def function(x):
        return F.sum(F.leaky_relu(x - 0.5) ** 3 + F.max_pooling_1d(x[None], 2)[0, :, :1], axis=1)

    inner = chainer.jacrev(function)
    second = chainer.jacrev(inner)(X[0])
    np.testing.assert_allclose(second.array, chainer.jacfwd(inner)(X[0]).array, rtol=1e-12)
    np.testing.assert_allclose(
        chainer.vmap(inner)(X).array, [inner(x).array for x in X], rtol=1e-12
    )
    assert chainer.jacrev(lambda x: inner(x) ** 2)(X[0]).requires_grad
    with chainer.no_backprop_mode():
        assert inner(X[0]).creator is None


def test_running_statistics_need_a_loop():
    mean, var = np.zeros(3), np.ones(3)

    def normalized(x):
        return F.batch_normalization(x, W[0], W[1], running_mean=mean, running_var=var)

    found = chainer.vmap(normalized)(X)
    changed = mean.copy()
    mean[...] = 0
    expected = of_each(normalized, X)
    np.testing.assert_allclose(found.array, expected, rtol=1e-12)
    np.testing.assert_allclose(mean, changed, rtol=1e-12)


def test_functions_without_rule_are_computed_in_a_loop():
    square = np.einsum("bij,bkj->bik", X, X) + np.eye(2)
    check(F.inv, square)
    check(lambda x: F.cumsum(x), X)
    check(lambda x: x[np.array([0, 1]), np.array([1, 2])], X)
    check(lambda x: F.cumprod(x, axis=0), X)


def test_functions_that_read_values_are_called_for_each_sample():
    def branches(x):
        return x * 2 if x.array.sum() > 3 else F.exp(x)

    check(branches, X)
    check(lambda x: x * np.tanh(x.array), X)
    check(lambda x: F.relu(x) * float(x.array[0, 0]), X)


def test_arguments_that_are_the_same_for_each_sample(no_loops):
    found = chainer.vmap(F.matmul, in_axes=(0, None))(X, W.T)
    np.testing.assert_allclose(found.array, X @ W.T)
    found = chainer.vmap(lambda p, x, n: p["w"] * x * n, (None, 0, None))({"w": Y[0]}, X, 2)
    np.testing.assert_allclose(found.array, Y[0] * X * 2)
    found = chainer.vmap(lambda x: (x, chainer.Variable(Y[0])))(X)
    np.testing.assert_allclose(found[1].array, np.broadcast_to(Y[0], (4, 2, 3)))


def test_axes(no_loops):
    found = chainer.vmap(lambda x, y: {"a": x * y}, in_axes=(1, -1), out_axes=2)(
        X.swapaxes(0, 1), np.moveaxis(Y, 0, -1)
    )
    np.testing.assert_allclose(np.moveaxis(found["a"].array, 2, 0), X * Y)
    found = chainer.vmap(lambda p: p[0] * p[1]["k"], in_axes=([0, {"k": 1}],))(
        [X, {"k": Y.swapaxes(0, 1)}]
    )
    np.testing.assert_allclose(found.array, X * Y)
    found = chainer.vmap(lambda x, scale: x * scale)(X, scale=Y)
    np.testing.assert_allclose(found.array, X * Y)
    found = chainer.vmap(lambda x: (x, F.sum(x)), out_axes=(1, 0))(X)
    assert (found[0].shape, found[1].shape) == ((2, 4, 3), (4,))


def test_nested(no_loops):
    outer = chainer.vmap(chainer.vmap(F.matmul, in_axes=(None, 0)), in_axes=(0, None))
    np.testing.assert_allclose(outer(X[:, 0], Y[:, 1]).array, X[:, 0] @ Y[:, 1].T)


def test_chunks():
    calls = []

    def function(x):
        calls.append(x.shape)
        return x * 2

    found = chainer.vmap(function, chunk_size=3)(X)
    np.testing.assert_allclose(found.array, 2 * X)
    assert calls == [(2, 3)] * 2


def test_an_empty_batch():
    assert chainer.vmap(lambda x: F.sum(x, axis=1))(X[:0]).shape == (0, 2)
    with pytest.raises(ValueError, match="empty batch"):
        chainer.vmap(lambda x: x * float(x.array[0, 0]))(X[:0])


def test_gradients_go_through():
    x = chainer.Variable(X.copy())
    F.sum(chainer.vmap(lambda x: F.sum(x) ** 2)(x)).backward()
    np.testing.assert_allclose(x.grad, np.broadcast_to(2 * X.sum((1, 2))[:, None, None], X.shape))


def test_convolutions_and_pooling(no_loops):
    images, w = rng.uniform(-1, 1, (4, 2, 3, 6, 6)), rng.uniform(-1, 1, (4, 3, 3, 3))
    check(lambda x: F.max_pooling_2d(F.convolution_2d(x, w), 2), images)
    check(
        lambda x, w: F.convolution_2d(x, w, w[:, 0, 0, 0], stride=2, pad=1),
        images,
        rng.uniform(-1, 1, (4, 4, 3, 3, 3)),
    )


def test_losses(no_loops):
    t = np.array([[0, 2], [1, -1], [2, 2], [0, 0]], "i")
    check(lambda x, t: F.softmax_cross_entropy(x, t), X, t)
    check(F.mean_squared_error, X, Y)


# -- with the other transforms --------------------------------------------------------------------


def gradient(function):
    return lambda x: chainer.vjp(function, x)[1](ONE)[0]


def test_vmap_of_gradients(no_loops):
    check(gradient(lambda x: F.sum(F.tanh(x) ** 2)), X)
    check(gradient(lambda x: F.sum(x * gradient(lambda y: F.sum(y**3))(x))), X)
    check(lambda x: chainer.jvp(F.softmax, (x,), (2 * x,))[1], X)
    check(lambda x: chainer.hvp(lambda y: F.sum(F.exp(y)), x, x)[1], X)
    check(chainer.jacrev(lambda x: F.sum(x * x, axis=1)), X)
    check(chainer.jacfwd(lambda x: F.sum(x * x, axis=1)), X)
    check(chainer.hessian(lambda x: F.sum(x**3)), X)


def test_gradients_of_vmap():
    def total(x):
        return F.sum(chainer.vmap(lambda row: F.prod(row))(x))

    np.testing.assert_allclose(gradient(total)(X[0]).array, np.prod(X[0], 1, keepdims=True) / X[0])
    np.testing.assert_allclose(
        chainer.jvp(total, (X[0],), (Y[0],))[1].array,
        np.sum(np.prod(X[0], 1, keepdims=True) / X[0] * Y[0]),
    )


def test_gradients_by_a_value_that_all_samples_share(no_loops):
    w = chainer.Variable(W[0])
    found = chainer.vmap(lambda x: chainer.vjp(lambda w: F.sum(F.tanh(x[0] * w)), w)[1](ONE)[0])(X)
    np.testing.assert_allclose(found.array, (1 - np.tanh(X[:, 0] * W[0]) ** 2) * X[:, 0])


def test_chainer_grad_and_backward_inside():
    def inner(x):
        y = F.sum(x**3)
        return chainer.grad([y], [x])[0]

    x = chainer.Variable(X)
    np.testing.assert_allclose(chainer.vmap(inner)(x).array, 3 * X**2)


def test_pull_inside_vmap():
    _, pull = chainer.vjp(lambda x: x**2, X[0])
    found = chainer.vmap(lambda v: pull(v)[0])(Y)
    np.testing.assert_allclose(found.array, 2 * X[0] * Y)


# -- per_sample_grad ------------------------------------------------------------------------------


def mlp():
    return chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 3))


def cnn():
    return chainer.Sequential(
        L.Convolution2D(2, 3, 3, pad=1), F.relu, lambda h: F.max_pooling_2d(h, 2), L.Linear(27, 3)
    )


@pytest.mark.parametrize(("make", "shape"), [(mlp, (3,)), (cnn, (2, 6, 6))])
def test_per_sample_grad(make, shape, no_loops):
    model = make()
    for p in model.params():
        p.array = p.array.astype("d")
    x, t = rng.uniform(-1, 1, (5, *shape)), np.array([0, 1, 2, 1, 0], "i")

    def loss(params, x, t):
        y = chainer.functional_call(model, params, x[None])
        return F.softmax_cross_entropy(y, t[None])

    found = chainer.per_sample_grad(loss, dict(model.namedparams()))(x, t)
    for i in range(5):
        model.cleargrads()
        F.softmax_cross_entropy(model(x[i : i + 1]), t[i : i + 1]).backward()
        for name, p in model.namedparams():
            np.testing.assert_allclose(found[name].array[i], p.grad, rtol=1e-10, atol=1e-14)


def test_per_sample_grad_with_aux():
    found, aux = chainer.per_sample_grad(
        lambda w, x: (F.sum(w * x[0]), F.sum(x)), W[0], has_aux=True
    )(X)
    np.testing.assert_allclose(found.array, X[:, 0])
    np.testing.assert_allclose(aux.array, X.sum((1, 2)))


# -- random numbers -------------------------------------------------------------------------------


def test_random_numbers():
    x = np.ones((4, 100))
    with pytest.raises(RuntimeError, match="vmap: func draws random numbers; say randomness="):
        chainer.vmap(F.dropout)(x)
    same = chainer.vmap(F.dropout, randomness="same")(x).array
    assert (same == same[0]).all()
    different = chainer.vmap(F.dropout, randomness="different")(x).array
    assert len({row.tobytes() for row in different}) == 4


# -- everywhere -----------------------------------------------------------------------------------


def test_within_a_captured_step():
    model = mlp()
    params = dict(model.namedparams())

    def step(x):
        loss = lambda p, x: F.sum(chainer.functional_call(model, p, x[None]) ** 2)
        found = chainer.per_sample_grad(loss, params)(x)
        return [found[name] for name in sorted(found)]

    captured = chainer.capture(step, model, on_failure="error")
    for i in range(6):
        x = (X[:, 0] * i).astype("f")
        for found, expected in zip(captured(x), step(x), strict=True):
            np.testing.assert_array_equal(found.array, expected.array)


def test_on_the_strict_backend():
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict")
    x = device.send(X)
    hessian = lambda x: chainer.hessian(F.sum)(x[0])
    for function in (lambda x: F.softmax(x) * x[0], F.cumsum, hessian):
        found = chainer.vmap(function)(x)
        assert chainer.backend.get_device_from_array(found.array) == device


# -- bad arguments --------------------------------------------------------------------------------


def test_bad_arguments():
    with pytest.raises(TypeError, match="per_sample_grad: func must be callable, got int"):
        chainer.per_sample_grad(3, {})
    with pytest.raises(TypeError, match="vmap: func must be callable, got int"):
        chainer.vmap(3)
    with pytest.raises(ValueError, match="vmap: randomness must be .* got 'other'"):
        chainer.vmap(F.sum, randomness="other")
    with pytest.raises(ValueError, match="vmap: chunk_size must be a positive integer, got 0"):
        chainer.vmap(F.sum, chunk_size=0)
    with pytest.raises(ValueError, match="in_axes must have one element for each of the 1 arg"):
        chainer.vmap(F.sum, in_axes=(0, 0))(X)
    with pytest.raises(ValueError, match=r"in_axes must be an axis of .* \(4, 2, 3\), got 3"):
        chainer.vmap(F.sum, in_axes=3)(X)
    with pytest.raises(ValueError, match=r"out_axes must be an axis of .* \(4,\), got 1"):
        chainer.vmap(F.sum, out_axes=1)(X)
    with pytest.raises(ValueError, match="the same number of samples, got .2, 4."):
        chainer.vmap(lambda x, y: x)(X, X[:2])
    with pytest.raises(ValueError, match="in_axes must name an axis of at least one argument"):
        chainer.vmap(F.sum, in_axes=None)(X)
    with pytest.raises(ValueError, match="in_axes must have the structure of the arrays"):
        chainer.vmap(F.sum, in_axes=({"a": 0},))(X)
    with pytest.raises(TypeError, match="vmap: results of func must be arrays .* got str"):
        chainer.vmap(lambda x: "text")(X)
    with pytest.raises(chainer.utils.type_check.InvalidType):
        chainer.vmap(lambda x: F.linear(x, W[:, :2]))(X)


def test_variables_do_not_leave_the_function():
    kept = []

    def function(x):
        kept.append(x)
        return x

    chainer.vmap(function)(X)
    with pytest.raises(RuntimeError, match="a Variable of a chainer.vmap that has ended"):
        kept[0] * 2


def test_jacobians_of_samples_of_samples(no_loops, monkeypatch):
    def fail(*_):
        pytest.fail("vmap calls the function for each sample")

    monkeypatch.setattr("chainer.functions.transforms.batch._in_a_loop", fail)
    x = rng.uniform(0.2, 1, (2, 3, 2, 4))

    def function(x):
        return F.layer_normalization(x, W[0, :1] + np.arange(4.0), np.zeros(4)) * F.relu(x - 0.5)

    found = chainer.vmap(chainer.vmap(chainer.jacrev(function)))(x)
    expected = [[chainer.jacrev(function)(s).array for s in row] for row in x]
    np.testing.assert_allclose(found.array, expected, rtol=1e-10, atol=1e-13)

    def of_row(row, y):
        def pooled(s):
            return F.softmax(s * y) * F.reshape(F.max_pooling_1d(s[None], 2)[0], (2, 2))[:, :1]

        return chainer.vmap(chainer.jacfwd(pooled))(row)

    expected = [of_row(row, y).array for row, y in zip(x, x[:, 0], strict=True)]
    np.testing.assert_allclose(chainer.vmap(of_row)(x, x[:, 0]).array, expected, rtol=1e-12)


def test_gradients_of_samples_within_a_captured_step():
    # Weights that all samples share are multiplied at once, in the record, too.
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(s).astype("f") for s in ((12, 8), (12,), (5, 12), (5,))]

    def loss(weights, x, t):
        h = F.tanh(F.linear(x[None], *weights[:2]))
        return F.softmax_cross_entropy(F.linear(h, *weights[2:]), t[None])

    gradients = chainer.per_sample_grad(loss, weights)
    captured = chainer.capture(gradients, on_failure="error")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, t = rng.standard_normal((9, 8)).astype("f"), rng.integers(0, 5, 9).astype("i")
        for found, expected in zip(captured(x, t), gradients(x, t), strict=True):
            np.testing.assert_array_equal(found.array, expected.array)
    assert "in use" in captured.explain()


def test_a_waiting_random_number_is_noticed():
    """The second number of a pair of normal numbers is drawn without a change of the generator."""
    np.random.randn()
    with pytest.raises(RuntimeError, match="draws random numbers"):
        chainer.vmap(lambda x: x * np.random.randn())(np.ones(2))
