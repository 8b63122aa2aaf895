"""Convolutions in ``chainer.vmap`` whose weight is the same for all samples."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.functions.connection import _convolution_nodes as nodes

SAMPLES = 4
# With four samples, a weight of this size is broadcast as a view. Smaller ones are copied.
OUT, IN = 32, 16


def arrays(dtype, images=1, seed=0):
    random = np.random.RandomState(seed)
    W = (random.randn(OUT, IN, 3, 3) / 12).astype(dtype)
    x = random.randn(SAMPLES, images, IN, 6, 5).astype(dtype)
    return x, W, random.randn(OUT).astype(dtype)


def convolution(x, W, b=None):
    return F.convolution_2d(x, W, b, stride=(2, 1), pad=1)


def deconvolution(x, W, b=None):
    return F.deconvolution_2d(F.concat([x, x]), W, b, stride=2, pad=1)


def grouped(x, W, b=None):
    return F.convolution_2d(F.concat([x, x]), W, b, pad=1, groups=2)


def dilated(x, W, b=None):
    return F.dilated_convolution_2d(x, W, b, pad=2, dilate=2)


def nd(x, W, b=None):
    return F.convolution_nd(x, W, b, pad=1)


FUNCTIONS = [convolution, deconvolution, grouped, dilated, nd]


@pytest.fixture
def parts(monkeypatch):
    """Counts the convolutions that are computed with one part of the weight."""
    calls = []
    method = nodes._SizedNode._computed_by_part

    def counted(self, *args):
        calls.append(self)
        return method(self, *args)

    monkeypatch.setattr(nodes._SizedNode, "_computed_by_part", counted)
    return calls


def gradients_of_each(loss, params, *batch):
    """Returns gradients of the samples, one sample after the other."""
    rows = []
    for sample in zip(*batch, strict=True):
        variables = [chainer.Variable(p) for p in params]
        rows.append(chainer.grad([loss(variables, *sample)], variables))
    return [np.stack([g.array for g in column]) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float16, 3e-2), (np.float32, 2e-5), (np.float64, 1e-12)]
)
def test_gradients_of_samples(function, dtype, tolerance, parts):
    x, W, b = arrays(dtype)
    if function is deconvolution:
        b = b[:IN]

    def loss(params, x):
        # The second convolution takes the gradient of its input, too.
        y = function(F.tanh(params[0] * x), params[1], params[2])
        return F.sum(y * y)

    scale = np.ones((), dtype)
    found = chainer.per_sample_grad(loss, [scale, W, b])(x)
    assert len(parts) == 2  # the convolution, and the gradient of its input
    expected = gradients_of_each(loss, [scale, W, b], x)
    for g, wanted in zip(found, expected, strict=True):
        assert g.dtype == dtype
        largest = np.abs(wanted).max()
        np.testing.assert_allclose(g.array, wanted, rtol=0, atol=tolerance * largest)


def test_without_bias(parts):
    x, W, _ = arrays(np.float64)
    loss = lambda W, x: F.sum(convolution(x, W) ** 2)
    found = chainer.per_sample_grad(loss, W)(x)
    assert len(parts) == 1
    expected = gradients_of_each(lambda p, x: loss(p[0], x), [W], x)[0]
    np.testing.assert_allclose(found.array, expected, rtol=1e-12, atol=1e-12)


def test_several_images_of_a_sample_are_groups(parts):
    x, W, b = arrays(np.float64, images=2)
    loss = lambda p, x: F.sum(convolution(x, *p) ** 2)
    found = chainer.per_sample_grad(loss, [W, b])(x)
    assert not parts
    for g, wanted in zip(found, gradients_of_each(loss, [W, b], x), strict=True):
        np.testing.assert_allclose(g.array, wanted, rtol=1e-12, atol=1e-12)


def test_weights_that_differ_are_groups(parts):
    x, W, _ = arrays(np.float64)
    weights = W * np.arange(1, SAMPLES + 1).reshape(-1, 1, 1, 1, 1)
    found = chainer.vmap(convolution)(x, weights)
    assert not parts
    for y, one, weight in zip(found.array, x, weights, strict=True):
        np.testing.assert_allclose(y, convolution(one, weight).array, rtol=1e-12, atol=1e-12)


def test_calls_in_each_other(parts):
    x, W, b = arrays(np.float64)
    x = np.stack([x, 2 * x, 3 * x])
    loss = lambda p, x: F.sum(convolution(x, *p) ** 2)
    one = chainer.per_sample_grad(loss, [W, b])
    found = chainer.vmap(lambda x: one(x))(x)
    for i in range(3):
        for g, wanted in zip(found, gradients_of_each(loss, [W, b], x[i]), strict=True):
            np.testing.assert_allclose(g.array[i], wanted, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("function", [convolution, deconvolution], ids=lambda f: f.__name__)
def test_derivatives_of_the_gradients(function, parts):
    x, W, _ = arrays(np.float64)
    v = np.random.RandomState(1).randn(*W.shape)
    loss = lambda W, x: F.sum(F.tanh(function(x, W)))
    one = lambda x: chainer.hvp(lambda W: loss(W, x), W, v)[1]
    found = chainer.vmap(one)(x)
    assert parts
    for product, sample in zip(found.array, x, strict=True):
        wanted = chainer.hvp(lambda W, x=sample: loss(W, x), W, v)[1].array
        np.testing.assert_allclose(product, wanted, rtol=1e-10, atol=1e-12)


def test_strict_backend(parts):
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict")
    x, W, b = arrays(np.float32)
    loss = lambda p, x: F.sum(convolution(x, *p) ** 2)
    found = chainer.per_sample_grad(loss, [device.send(W), device.send(b)])(device.send(x))
    for g, wanted in zip(found, gradients_of_each(loss, [W, b], x), strict=True):
        assert chainer.backend.get_device_from_array(g.array) == device
        host = chainer.get_device("@numpy").send(g.array)
        np.testing.assert_allclose(host, wanted, rtol=1e-4, atol=1e-3)


def test_captured_step():
    x, W, b = arrays(np.float32)
    gradients = chainer.per_sample_grad(lambda p, x: F.sum(convolution(x, *p) ** 2), [W, b])
    captured = chainer.capture(gradients, on_failure="error")
    for i in range(6):
        for g, wanted in zip(captured(x * i), gradients(x * i), strict=True):
            np.testing.assert_array_equal(g.array, wanted.array)


def test_leaves_beside_the_parameters_get_gradients():
    x, W, b = arrays(np.float64)
    scale = chainer.Variable(np.full((), 2.0))
    loss = lambda p, x: F.sum(scale * convolution(x, *p) ** 2)
    found = chainer.per_sample_grad(loss, [W, b])(x)
    F.sum(found[1] ** 2).backward()
    total = 0.0
    for sample in x:
        gb = F.sum(2 * convolution(sample, W, b), axis=(0, 2, 3)).array
        total += np.sum(2 * scale.array * gb**2)
    np.testing.assert_allclose(scale.grad, total, rtol=1e-12)
