"""Calls of the kernels of this room: what the tests compare with the reference kernels.

Each sample is a function ``(kernel, a, dtype, *values) -> results`` that calls the methods of a
kernel; ``a`` makes an array of the backend from a NumPy array. It is called with the reference and
with the kernel under test, with the same random numbers.
"""

from __future__ import annotations

import numpy as np

from chainer.backends.numpy.kernels import max_poolings
from chainer.core.backend import get_backend

SAMPLES = {}


def sample(operation, *parameters, dtypes="efd"):
    def decorate(function):
        for i, values in enumerate(parameters or [()]):
            name = f"{operation}-{function.__name__}-{i}"
            SAMPLES[name] = (operation, function, values, dtypes if i == 0 else "f")
        return function

    return decorate


def rand(*shape):
    return np.random.standard_normal(shape)


def spread(*shape):
    """Distinct numbers, so that maxima are unique."""
    size = int(np.prod(shape))
    return (np.random.permutation(size).reshape(shape) - size // 2) / 16


@sample("relu", ((3, 4),), ((2, 700),), ((0, 3),), ((),))
@sample("sigmoid", ((3, 4),), ((2, 700),), ((0, 3),), ((),))
def one_argument(k, a, dtype, shape):
    x, gy = a(rand(*shape)), a(rand(*shape))
    y = k.forward(x)
    return y, k.backward(y, gy)


@sample("relu")
@sample("sigmoid")
def transposed(k, a, dtype):
    x, gy = a(rand(3, 5)).T, a(rand(5, 6))[:, ::2]
    y = k.forward(x)
    return y, k.backward(y, gy)


@sample("sigmoid")
def large(k, a, dtype):
    x = a(np.array([-1000.0, -100.0, 100.0, 1000.0, 0.0]))
    y = k.forward(x)
    return (y, k.backward(y, x))


@sample("relu")
def not_numbers(k, a, dtype):
    return (k.forward(a(np.array([np.nan, -np.inf, np.inf, -1.0, 1.0]))),)


@sample("leaky_relu", (0.2,), (0.0,), (1.5,), (-0.5,))
def leaky(k, a, dtype, slope):
    x, gy = a(rand(5, 6)), a(rand(5, 6))
    return k.forward(x, slope), k.backward(x, gy, slope)


@sample("elu", (1.0,), (0.3,))
def elu(k, a, dtype, alpha):
    x, gy = a(rand(5, 6)), a(rand(5, 6))
    y = k.forward(x, alpha)
    return y, k.backward(x, y, gy, alpha), k.backward(None, y, gy, alpha)


@sample("elu")
def elu_negative_alpha(k, a, dtype):
    x, gy = a(rand(5, 6)), a(rand(5, 6))
    y = k.forward(x, -0.5)
    return y, k.backward(x, y, gy, -0.5)


@sample("erf")
@sample("erfc")
def error_function(k, a, dtype):
    return (k.forward(a(rand(4, 7))),)


@sample(
    "softmax", ((4, 10), 1), ((2, 3, 5), 1), ((3, 700), -1), ((7, 3), 0), ((2, 33), 1), ((1, 1), 1)
)
@sample(
    "log_softmax",
    ((4, 10), 1),
    ((2, 3, 5), 1),
    ((3, 700), -1),
    ((7, 3), 0),
    ((0, 3), 1),
    ((3, 0), 0),
)
def along_axis(k, a, dtype, shape, axis):
    x, gy = a(3 * rand(*shape)), a(rand(*shape))
    y = k.forward(x, axis)
    return y, k.backward(y, gy, axis)


@sample("softmax", dtypes="f")
@sample("log_softmax", dtypes="f")
def many_rows(k, a, dtype):
    x, gy = a(rand(300, 5)), a(rand(300, 5))
    y = k.forward(x, 1)
    return y, k.backward(y, gy, 1)


@sample(
    "softmax_cross_entropy",
    ((4, 10), "i", True, True),
    ((3, 5, 2, 3), "l", False, True),
    ((9, 600), "i", True, False),
    ((5, 3, 4), "b", False, False),
    ((0, 3), "i", False, True),
)
def cross_entropy(k, a, dtype, shape, labels, weighted, keeps):
    x = a(2 * rand(*shape))
    samples = (shape[0], *shape[2:])
    numbers = np.random.randint(-1, shape[1], samples)
    t = a(numbers, labels)
    weight = a(np.random.random_sample(shape[1])) if weighted else None
    losses, score = k.forward(x, t, weight, -1, keeps)
    scale = a(np.random.random_sample(samples))
    single = a(np.array(0.25))
    gxs = [k.backward(x, t, weight, -1, score, s) for s in (scale, single, 0.5)]
    return (losses, *([score] if keeps else []), *gxs)


@sample(
    "connectionist_temporal_classification", (6, 3, 5, 3, 0), (40, 2, 4, 18, 3), (3, 2, 4, 1, 0)
)
def ctc(k, a, dtype, steps, batch, classes, width, blank):
    x = a(rand(steps, batch, classes))
    labels = [i for i in range(classes) if i != blank]
    t = a(np.random.choice(labels, (batch, width)), "i")
    input_length = a(np.array([steps, steps - 1, 0][:batch]), "i")
    label_length = a(np.array([width - 1, width // 2, 0][:batch]), "i")
    losses, saved = k.forward(x, t, blank, input_length, label_length)
    scale = a(np.random.random_sample(batch), "d" if dtype == "d" else "f")
    gx = k.backward(x, t, blank, input_length, label_length, saved, scale)
    return losses, gx


@sample("connectionist_temporal_classification")
def ctc_impossible(k, a, dtype):
    x = a(rand(2, 2, 3))
    t, lengths = a(np.array([[1, 1], [2, 1]]), "i"), a(np.array([2, 2]), "i")
    losses, saved = k.forward(x, t, 0, lengths, lengths)
    scale = a(np.ones(2), "d" if dtype == "d" else "f")
    return losses, k.backward(x, t, 0, lengths, lengths, saved, scale)


GEOMETRIES = (
    # input, window, stride, padding, output
    ((7, 6), (3, 2), (2, 2), (1, 0), (4, 3)),
    ((5, 5), (3, 3), (1, 2), (1, 1), (5, 3)),
    ((9,), (4,), (3,), (0,), (3,)),
    ((4, 5, 3), (2, 2, 2), (1, 2, 1), (0, 1, 1), (3, 3, 4)),
    ((8, 8), (2, 2), (2, 2), (0, 0), (4, 4)),
)


@sample("max_pooling_nd", *GEOMETRIES)
def maximum(k, a, dtype, size, ksize, stride, pad, out):
    x, gy = a(spread(2, 3, *size)), a(rand(2, 3, *out))
    y, residual = k.forward(x, ksize, stride, pad, out)
    return y, k.backward(x, y, gy, residual, ksize, stride, pad)


@sample("max_pooling_nd")
def equal_and_not_numbers(k, a, dtype):
    values = np.array([0, 1, 1, 0, np.nan, 2, np.nan, 3, -np.inf, -np.inf, -np.inf, -np.inf])
    x, gy = a(values.reshape(1, 1, 12)), a(rand(1, 1, 3))
    y, residual = k.forward(x, (4,), (4,), (0,), (3,))
    return y, k.backward(x, y, gy, residual, (4,), (4,), (0,))


@sample("window_indexing", *GEOMETRIES)
def indexing(k, a, dtype, size, ksize, stride, pad, out):
    x = a(spread(2, 3, *size))
    pooling = max_poolings.MaxPoolingNDKernel(get_backend("numpy"))
    host = a.host(x)
    y = a(pooling.forward(host, ksize, stride, pad, out)[0].astype("d"))
    indices = k.find(x, y, ksize, stride, pad)
    gathered = k.gather(x, indices, ksize, stride, pad)
    scattered = k.scatter(y, indices, size, ksize, stride, pad)
    return indices, gathered, scattered


@sample("average_pooling_nd", *[(*g, v) for g in GEOMETRIES for v in (0, None)])
def mean(k, a, dtype, size, ksize, stride, pad, out, pad_value):
    x, gy = a(rand(2, 3, *size)), a(rand(2, 3, *out))
    y = k.forward(x, ksize, stride, pad, out, pad_value)
    return y, k.backward(gy, size, ksize, stride, pad, pad_value)


@sample("unpooling_nd", *GEOMETRIES)
def unpooling(k, a, dtype, size, ksize, stride, pad, out):
    x, gy = a(rand(2, 3, *out)), a(rand(2, 3, *size))
    return k.forward(x, size, ksize, stride, pad), k.backward(gy, out, ksize, stride, pad)


CONVOLUTIONS = (
    # input, kernel, stride, padding, dilation, output
    ((7, 6), (3, 2), (2, 1), (1, 0), (1, 1), (4, 5)),
    ((9, 8), (2, 3), (1, 2), (2, 1), (2, 2), (11, 3)),
    ((9,), (4,), (3,), (0,), (1,), (2,)),
    ((4, 5, 3), (2, 2, 2), (1, 2, 1), (0, 1, 1), (1, 1, 2), (3, 3, 3)),
    ((5, 5), (1, 1), (1, 1), (0, 0), (1, 1), (5, 5)),
)


@sample("im2col", *CONVOLUTIONS)
def patches(k, a, dtype, size, ksize, stride, pad, dilate, out):
    x = a(rand(2, 3, *size))
    y = k.forward(x, ksize, stride, pad, dilate, out)
    return y, k.backward(a(rand(2, 3, *ksize, *out)), size, stride, pad, dilate)


@sample("convolution_nd", *[(*c, g) for c in CONVOLUTIONS for g in (1, 2)])
def convolution(k, a, dtype, size, ksize, stride, pad, dilate, out, groups):
    x, gy = a(rand(3, 4, *size)), a(rand(3, 6, *out))
    W, b, c = a(rand(6, 4 // groups, *ksize)), a(rand(6)), a(rand(4))
    geometry = (stride, pad, dilate, groups)
    return (
        k.forward(x, W, b, out, *geometry),
        k.forward(x, W, None, out, *geometry),
        k.backward_data(gy, W, c, size, *geometry),
        k.backward_weight(x, gy, ksize, W.dtype, *geometry),
    )


@sample("linear", (True,), (False,))
def linear(k, a, dtype, biased):
    x, W, gy = a(rand(4, 5)), a(rand(3, 5)), a(rand(4, 3))
    b = a(rand(3)) if biased else None
    return k.forward(x, W, b), k.backward_data(gy, W), k.backward_weight(x, gy, W.dtype)


NORMALIZED = (
    ((5, 3), (0,)),
    ((40, 70), (0,)),
    ((3, 4, 6, 7), (0, 2, 3)),
    ((9, 2, 20, 20), (0, 2, 3)),
    ((3, 4, 5), (0,)),
    ((3, 4, 5), (1,)),
    ((3, 4), (0, 1)),
    ((3, 4), ()),
)


def kept(shape, axis):
    return tuple(n for i, n in enumerate(shape) if i not in axis)


@sample("batch_normalization", *[(*n, p) for n in NORMALIZED for p in (False, True)])
def batch(k, a, dtype, shape, axis, precise):
    wide = "f" if precise and dtype == "e" else dtype
    x, gy = a(2 * rand(*shape) + 3), a(rand(*shape))
    gamma, beta = (a(rand(*kept(shape, axis)), wide) for _ in range(2))
    mean, var = (a(np.random.random_sample(kept(shape, axis)), wide) for _ in range(2))
    y, m, inv_std, residual = k.forward(x, gamma, beta, mean, var, 0.01, 0.9, axis)
    gradients = k.backward(x, gamma, gy, m, inv_std, residual, axis)
    return (y, m, inv_std, mean, var, *gradients)


@sample("batch_normalization")
def empty_batch(k, a, dtype):
    x, p = a(rand(0, 3)), a(rand(3))
    y, mean, inv_std, residual = k.forward(x, p, p, None, None, 0.01, 0.9, (0,))
    return (y, *k.backward(x, p, x, mean, inv_std, residual, (0,)))


@sample("fixed_batch_normalization", *NORMALIZED)
def fixed(k, a, dtype, shape, axis):
    x, gy = a(rand(*shape)), a(rand(*shape))
    gamma, beta, mean = (a(rand(*kept(shape, axis))) for _ in range(3))
    var = a(np.random.random_sample(kept(shape, axis)) + 0.1)
    y = k.forward(x, gamma, beta, mean, var, 0.01, axis)
    return (y, *k.backward(x, gamma, mean, var, gy, 0.01, axis))


@sample("layer_normalization", (4, 10), (3, 600), (20, 40), (0, 3))
def layer(k, a, dtype, rows, n):
    x, gy = a(2 * rand(rows, n) + 3), a(rand(rows, n))
    gamma, beta = a(rand(n)), a(rand(n))
    y, *saved = k.forward(x, gamma, beta, 0.01)
    return (y, *saved[:2], *k.backward(x, gamma, gy, *saved))


@sample("local_response_normalization", (5, 0.75), (3, 0.5), (4, 0.6), (1, 1.0), (99, 0.75))
def response(k, a, dtype, n, beta):
    x, gy = a(rand(2, 7, 3, 2)), a(rand(2, 7, 3, 2))
    y, residual = k.forward(x, n, 2.0, 0.1, beta)
    return y, k.backward(x, y, gy, residual, n, 2.0, 0.1, beta)


@sample("embedding", (None, "i"), (-1, "l"), (2, "h"))
def embedding(k, a, dtype, ignored, integer):
    W = a(rand(5, 4))
    x = a(np.array([[0, 2, -1], [4, 2, 2]]), integer)
    y = k.forward(x, W, ignored)
    return y, k.backward(x, a(rand(2, 3, 4)), (5, 4), ignored)


@sample("scatter_add")
def scatter(k, a, dtype):
    results = []
    for index in (([0, 2, 2],), (a(np.array([[1, 1], [2, -1]]), "i"),), (slice(1, 3),)):
        array = a(np.zeros((4, 3)))
        values = a(np.ones((4, 3)))[index[0]] if isinstance(index[0], slice) else None
        if values is None:
            shape = (3, 3) if isinstance(index[0], list) else (2, 2, 3)
            values = a(np.arange(np.prod(shape)).reshape(shape))
        k.add_at(array, index[0], values)
        results.append(array)
    return results


@sample("roi_pooling_2d", (1.0,), (0.5,))
def regions(k, a, dtype, scale):
    x = a(spread(2, 3, 9, 8))
    rois = a(
        np.array(
            [[0, 1, 1, 6, 6], [1, 0, 2, 7, 8], [1, 5, 5, 5, 5], [0, 6, 7, 12, 14], [0, 3, 3, 1, 1]]
        )
    )
    y, indices = k.forward(x, rois, (3, 2), scale)
    gy = a(rand(*y.shape))
    gx = k.backward(gy, indices, rois, (9, 8), 2)
    return y, indices, gx, k.gather(x, indices, rois)


@sample("spatial_transformer_sampler", dtypes="fd")
def sampler(k, a, dtype):
    x, gy = a(rand(2, 3, 5, 6)), a(rand(2, 3, 4, 3))
    grid = a(2.6 * np.random.random_sample((2, 2, 4, 3)) - 1.3)
    return (k.forward(x, grid), *k.backward(x, grid, gy))


@sample("spatial_transformer_sampler", dtypes="e")
def half_sampler(k, a, dtype):
    grid = a(1.8 * np.random.random_sample((2, 2, 4, 3)) - 0.9)
    return (k.forward(a(rand(2, 3, 5, 6)), grid),)


@sample("lstm_cell", ((3, 4),), ((2, 3, 5),))
def lstm(k, a, dtype, shape):
    c_prev, gc, gh = a(rand(*shape)), a(rand(*shape)), a(rand(*shape))
    x = a(rand(shape[0], 4 * shape[1], *shape[2:]))
    c, h, saved = k.forward(c_prev, x)
    gradients = [k.backward(c_prev, x, c, saved, *g) for g in ((gc, gh), (None, gh), (gc, None))]
    return (c, h, *gradients[0], *gradients[1], *gradients[2])


@sample(
    "n_step_rnn",
    *[(m, d, g) for m in ("lstm", "gru", "tanh", "relu") for d in (1, 2) for g in (0, 1)],
)
def n_step(k, a, dtype, mode, directions, partial):
    layers, size, units, batch_sizes = 2, 5, 4, (3, 3, 2, 1)
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    x = a(rand(sum(batch_sizes), size))
    hx = a(rand(layers * directions, 4, units))
    cx = a(rand(*hx.shape)) if mode == "lstm" else None
    ws, bs = [], []
    for i in range(layers * directions):
        below = size if i < directions else units * directions
        ws.append([a(rand(units, n) / 2) for n in [below] * gates + [units] * gates])
        bs.append([a(rand(units)) for _ in range(2 * gates)])
    y, hy, cy, residual = k.forward(x, hx, cx, ws, bs, mode, directions, batch_sizes, 0.0)
    gy, ghy = a(rand(*y.shape)), a(rand(*hy.shape))
    gcy = None if cx is None else a(rand(*hx.shape))
    if partial:
        gy, gcy = None, None
    rest = (mode, directions, batch_sizes, 0.0)
    gx, ghx, gcx, gws, gbs = k.backward(x, hx, cx, ws, bs, residual, gy, ghy, gcy, *rest)
    cells = () if cx is None else (cy, gcx)
    flat = [g for group in (*gws, *gbs) for g in group]
    return (y, hy, gx, ghx, *cells, *flat)


UPDATES = {
    "sgd": (0, {"lr": 0.1}),
    "momentum_sgd": (1, {"lr": 0.1, "momentum": 0.9}),
    "corrected_momentum_sgd": (1, {"lr": 0.1, "momentum": 0.9}),
    "nesterov_ag": (1, {"lr": 0.1, "momentum": 0.9}),
    "ada_grad": (1, {"lr": 0.1, "eps": 1e-3}),
    "ada_delta": (2, {"rho": 0.95, "eps": 1e-3}),
    "rmsprop": (1, {"lr": 0.1, "alpha": 0.9, "eps": 1e-3, "eps_inside_sqrt": False}),
    "rmsprop_graves": (0, {"lr": 0.1, "alpha": 0.9, "momentum": 0.9, "eps": 1e-1}),
    "smorms3": (3, {"lr": 0.1, "eps": 1e-3}),
    "msvag": (
        2,
        {
            "lr": 0.1,
            "beta": 0.9,
            "eta": 0.5,
            "weight_decay_rate": 0.1,
            "correction": 0.3,
            "rho": 0.7,
        },
    ),
}
ADAM = {
    "alpha_t": 0.1,
    "beta1": 0.9,
    "beta2": 0.99,
    "eps": 1e-3,
    "eta": 0.7,
    "weight_decay_rate": 0.0,
    "bounds": None,
}


def changed(k, arrays, hyperparameters):
    k.update(*arrays, **hyperparameters)
    return [array for i, array in enumerate(arrays) if i != 1 and array is not None]


@sample(*["sgd_update"], ("sgd", (3, 4)), ("sgd", (2500,)), ("sgd", (0,)))
def plain_update(k, a, dtype, name, shape):
    return changed(k, [a(rand(*shape)), a(rand(*shape))], UPDATES[name][1])


def _update(name, shape=(3, 5), **others):
    states, hyperparameters = UPDATES[name]

    def update(k, a, dtype):
        arrays = [a(rand(*shape)), a(rand(*shape))]
        arrays += [a(np.random.random_sample(shape) + 0.1) for _ in range(states)]
        return changed(k, arrays, {**hyperparameters, **others})

    return update


for _name in UPDATES:
    if _name not in ("sgd", "rmsprop_graves"):
        sample(f"{_name}_update")(_update(_name))
sample("rmsprop_update")(lambda k, a, dtype: _update("rmsprop", eps_inside_sqrt=True)(k, a, dtype))


@sample("rmsprop_graves_update")
def graves(k, a, dtype):
    n, g = a(np.random.random_sample(7) + 1), a(np.random.random_sample(7) / 4)
    return changed(k, [a(rand(7)), a(rand(7)), n, g, a(rand(7))], UPDATES["rmsprop_graves"][1])


@sample("msvag_update")
def first_msvag(k, a, dtype):
    hyperparameters = {
        **UPDATES["msvag"][1],
        "rho": 1.0,
        "correction": 0.1,
        "weight_decay_rate": 0.0,
    }
    gradient = np.array([0.0, 1.0, -2.0])
    arrays = [a(rand(3)), a(gradient), a(np.zeros(3)), a(np.zeros(3))]
    return changed(k, arrays, hyperparameters)


@sample(
    "adam_update",
    (False, {}),
    (True, {}),
    (False, {"weight_decay_rate": 0.1}),
    (True, {"bounds": (0.05, 0.2)}),
)
def adam(k, a, dtype, amsgrad, others):
    p, g, m = (a(rand(4, 300)) for _ in range(3))
    v, vhat = (a(np.random.random_sample((4, 300))) for _ in range(2))
    return changed(k, [p, g, m, v, vhat if amsgrad else None], {**ADAM, **others})
