"""Kernels of the pack against the reference kernels on NumPy arrays, with gradients."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest


def compare(function, *arrays):
    """Outputs and gradients on JAX and on NumPy."""
    results = []
    for name in ("@numpy", "@jax:0"):
        device = chainer.get_device(name)
        inputs = [chainer.Variable(device.send(array.copy())) for array in arrays]
        outputs = function(*inputs)
        sum(F.sum(F.sin(y * 1.3)) for y in outputs).backward()
        arrays_out = [*[y.array for y in outputs], *[x.grad for x in inputs]]
        results.append([device.backend.to_host(array) for array in arrays_out])
    for expected, actual in zip(*results, strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=3e-5)


def values(*shape):
    return np.random.uniform(-0.7, 0.7, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("stride", "pad", "dilate", "groups"), [(1, 1, 1, 1), (2, 0, 1, 2), (3, 2, 2, 2), (2, 1, 1, 4)]
)
def test_convolution(stride, pad, dilate, groups):
    def function(x, W, b):
        settings = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
        return [F.convolution_2d(x, W, b, **settings)]

    compare(function, values(2, 4, 9, 8), values(8, 4 // groups, 3, 3), values(8))


def test_deconvolution():
    compare(
        lambda x, W, b: [F.deconvolution_2d(x, W, b, stride=2, pad=1)],
        *[values(2, 4, 5, 6), values(4, 3, 4, 4), values(3)],
    )


@pytest.mark.parametrize("name", ["max", "average"])
@pytest.mark.parametrize(
    ("ksize", "stride", "pad", "cover_all"),
    [(2, 2, 0, True), (3, 2, 1, False), ((3, 2), (1, 2), 1, False), (2, 3, 0, False)],
)
def test_pooling(name, ksize, stride, pad, cover_all):
    """Windows that overlap, that leave elements out, and that reach into the padding."""

    def function(x):
        if name == "max":
            return [F.max_pooling_2d(x, ksize, stride, pad, cover_all)]
        return [F.average_pooling_2d(x, ksize, stride, pad)]

    compare(function, values(2, 3, 8, 7))
    compare(function, values(1, 2, 9, 9).round(1))  # equal maxima: the first one counts


def test_pooling_of_nan():
    x = values(1, 1, 4, 4)
    x[0, 0, 1, 1] = np.nan
    compare(lambda x: [F.max_pooling_2d(x, 2)], x)


def test_average_pooling_with_weights_of_padding():
    compare(lambda x: [F.average_pooling_nd(x, 3, 2, 1, pad_value=None)], values(2, 3, 7, 6))


#: XLA compiles each network for seconds. Half of the combinations have all pairs of two values; the
#: other half is slow.
NETWORKS = [
    pytest.param(mode, directions, sizes, marks=[pytest.mark.slow] * ((i + j + k) % 2))
    for i, mode in enumerate(["lstm", "gru", "rnn"])
    for j, directions in enumerate([1, 2])
    for k, sizes in enumerate([(3, 1, 1), (4, 4)])
]


@pytest.mark.parametrize(("mode", "directions", "batch_sizes"), NETWORKS)
def test_recurrent_networks(mode, directions, batch_sizes):
    """Two layers; sequences of equal and of other lengths, and one that never starts."""
    function = getattr(F, f"n_step_{'bi' if directions == 2 else ''}{mode}")
    count = {"lstm": 8, "gru": 6, "rnn": 2}[mode]
    states = 2 if mode == "lstm" else 1
    batch, n_in, n = batch_sizes[0] + (len(batch_sizes) == 2), 3, 4
    arrays = [values(2 * directions, batch, n) for _ in range(states)]
    for layer in range(2):
        for _ in range(directions):
            width = n * directions if layer else n_in
            arrays += [values(n, width if i < count // 2 else n) for i in range(count)]
            arrays += [values(n) for _ in range(count)]
    arrays += [values(size, n_in) for size in batch_sizes]

    def network(*inputs):
        rest = list(inputs[states:])
        ws, bs = [], []
        for _ in range(2 * directions):
            ws.append(rest[:count])
            bs.append(rest[count : 2 * count])
            del rest[: 2 * count]
        settings = {"activation": "relu"} if mode == "rnn" and directions == 2 else {}
        *last, ys = function(2, 0.0, *inputs[:states], ws, bs, rest, **settings)
        return [*last, *ys]

    compare(network, *arrays)


@pytest.mark.parametrize("dtype", ["f", "d", "e"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("AdaDelta", {"eps": 1e-3}),
        ("AdaGrad", {}),
        ("Adam", {"eps": 1e-3}),
        ("Adam", {"eps": 1e-3, "weight_decay_rate": 0.1, "amsgrad": True}),
        ("Adam", {"eps": 1e-3, "adabound": True}),
        ("NesterovAG", {}),
        ("RMSprop", {"eps": 1e-3}),
        ("RMSprop", {"eps": 1e-3, "eps_inside_sqrt": True}),
        ("SGD", {}),
        ("MSVAG", {}),
        ("SMORMS3", {"eps": 1e-3}),
        ("Lion", {}),
    ],
)
def test_updates(name, settings, dtype):
    """Three updates as they are written, with a learning rate that changes."""
    start = np.random.rand(3, 4).astype(dtype)
    grads = np.random.randn(3, 3, 4).astype(dtype)

    def train(device):
        device = chainer.get_device(device)
        link = chainer.Link()
        with link.init_scope():
            link.W = chainer.Parameter(start.copy())
        link.to_device(device)
        kept = link.W.array.copy()
        optimizer = getattr(chainer.optimizers, name)(**settings).setup(link)
        for i, grad in enumerate(grads):
            if i == 2:
                rate = "alpha" if name == "Adam" else "lr"
                if hasattr(optimizer, rate):
                    setattr(optimizer, rate, 0.2)
            link.W.grad = device.send(grad.copy())
            optimizer.update()
        host = device.backend.to_host
        np.testing.assert_array_equal(host(kept), start)
        return [host(link.W.array), *[host(v) for v in link.W.update_rule.state.values()]]

    for actual, expected in zip(train("@jax:0"), train("@numpy"), strict=True):
        assert actual.dtype == expected.dtype
        tolerance = {"f": 1e-5, "d": 1e-12, "e": 5e-3}[dtype]
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def test_update_is_one_program():
    link = chainer.Link()
    with link.init_scope():
        link.W = chainer.Parameter(np.random.rand(7, 3).astype("f"))
    link.to_device("@jax:0")
    optimizer = chainer.optimizers.Adam().setup(link)
    for _ in range(2):
        link.W.grad = link.W.array * 0.5
        optimizer.update()
        optimizer.alpha *= 0.5
    from chainer_jax.kernels import updates

    size = updates._compute._cache_size()
    link.W.grad = link.W.array * 0.5
    optimizer.update()
    assert updates._compute._cache_size() == size
