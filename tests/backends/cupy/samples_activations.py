"""Calls of activation functions and recurrent units."""

from __future__ import annotations

import numpy as np

from chainer.backends.operations.rnns import RNNLayout
from tests.backends.cupy.sample_table import rand, sample


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


@sample("tanh", ((3, 4),), ((0, 3),))
def tanh(k, a, dtype, shape):
    return (k.backward(a(np.tanh(rand(*shape))), a(rand(*shape))),)


@sample("softplus", (1.0,), (2.5,))
def softplus(k, a, dtype, beta):
    x, gy = a(np.append(3 * rand(29), [60, -60])), a(rand(31))
    return k.forward(x, beta), k.backward(x, gy, beta)


@sample("swish", ((4, 3, 5), (3,)), ((4, 3, 5), (3, 5)), ((6, 2), ()), ((0, 3), (3,)))
@sample("prelu", ((4, 3, 5), (3,)), ((4, 3, 5), (3, 5)), ((6, 2), ()), ((0, 3), (3,)))
def with_parameter(k, a, dtype, shape, shared):
    x, gy, w = a(2 * rand(*shape)), a(rand(*shape)), a(rand(*shared))
    gx, gw = k.backward(x, w, gy, True)
    alone, nothing = k.backward(x, w, gy, False)
    assert nothing is None
    return k.forward(x, w), gx, gw, alone


@sample("clipped_relu", (1.0,), (0.3,))
def clipped(k, a, dtype, cap):
    x, gy = a(np.append(rand(5, 6), [[0, cap, 9, -9, np.nan, 1]], 0)), a(rand(6, 6))
    y, inside = k.forward(x, cap)
    return y, inside, k.backward(inside, gy)


@sample("hard_sigmoid")
def hard(k, a, dtype):
    x, gy = a(np.append(2 * rand(28), [-2.5, 2.5])), a(rand(30))
    return k.forward(x), k.backward(x, gy)


@sample("rrelu")
def random_slopes(k, a, dtype):
    x, gy, r = a(rand(5, 6)), a(rand(5, 6)), a(np.random.random_sample((5, 6)))
    return k.forward(x, r), k.backward(x, r, gy)


@sample("crelu", ((3, 4, 5), 1), ((3, 4, 5), -1), ((3, 4), 0), ((0, 3), 1))
def concatenated(k, a, dtype, shape, axis):
    x = a(rand(*shape))
    y = k.forward(x, axis)
    return y, k.backward(x, a(rand(*y.shape)), axis)


@sample("erf")
@sample("erfc")
def error_function(k, a, dtype):
    return (k.forward(a(rand(4, 7))),)


@sample("lstm_cell", ((3, 4),), ((2, 3, 5),))
def lstm(k, a, dtype, shape):
    c_prev, gc, gh = a(rand(*shape)), a(rand(*shape)), a(rand(*shape))
    x = a(rand(shape[0], 4 * shape[1], *shape[2:]))
    c, h, saved = k.forward(c_prev, x)
    gradients = [k.backward(c_prev, x, c, saved, *g) for g in ((gc, gh), (None, gh), (gc, None))]
    return (c, h, *gradients[0], *gradients[1], *gradients[2])


@sample("s_lstm_cell", ((3, 4),), ((2, 3, 5),))
def s_lstm(k, a, dtype, shape):
    c1, c2, gc, gh = (a(rand(*shape)) for _ in range(4))
    x1, x2 = (a(rand(shape[0], 4 * shape[1], *shape[2:])) for _ in range(2))
    c, h, saved = k.forward(c1, c2, x1, x2)
    pairs = ((gc, gh), (None, gh), (gc, None))
    gradients = [k.backward((c1, c2, x1, x2), c, saved, *pair) for pair in pairs]
    return (c, h, *gradients[0], *gradients[1], *gradients[2])


@sample("tree_lstm_cell", ((3, 4), 2), ((2, 3, 5), 1), ((2, 3), 5))
def tree_lstm(k, a, dtype, shape, children):
    cs = [a(rand(*shape)) for _ in range(children)]
    gc, gh = a(rand(*shape)), a(rand(*shape))
    x = a(rand(shape[0], (3 + children) * shape[1], *shape[2:]))
    c, h, saved = k.forward(cs, x)
    results = [c, h]
    for pair in ((gc, gh), (None, gh), (gc, None)):
        gcs, gx = k.backward(cs, x, c, saved, *pair)
        results += [*gcs, gx]
    return results


@sample(
    "n_step_rnn",
    *[(m, d, g) for m in ("lstm", "gru", "tanh", "relu") for d in (1, 2) for g in (0, 1)],
)
def n_step(k, a, dtype, mode, directions, partial):
    layers, size, units, batch_sizes = 2, 5, 4, (3, 3, 2, 1)
    layout = RNNLayout(mode, layers, directions, batch_sizes)
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    x = a(rand(sum(batch_sizes), size))
    hx = a(rand(layers * directions, 4, units))
    cx = a(rand(*hx.shape)) if mode == "lstm" else None
    ws, bs = [], []
    for i in range(layers * directions):
        below = size if i < directions else units * directions
        ws.append([a(rand(units, n) / 2) for n in [below] * gates + [units] * gates])
        bs.append([a(rand(units)) for _ in range(2 * gates)])
    y, hy, cy, residual = k.forward(x, hx, cx, ws, bs, layout)
    gys: list | None = [a(rand(n, y.shape[1])) for n in batch_sizes]
    ghy = a(rand(*hy.shape))
    gcy = None if cx is None else a(rand(*hx.shape))
    if partial:
        gys, gcy = None, None
    inputs = x, hx, cx, ws, bs
    gx, ghx, gcx, gws, gbs = k.backward(inputs, residual, gys, ghy, gcy, layout)
    cells = () if cx is None else (cy, gcx)
    flat = [g for group in (*gws, *gbs) for g in group]
    return (y, hy, gx, ghx, *cells, *flat)
