"""Every kernel for 1 to 33 channels, in the blocks that convolutions choose.

oneDNN has other code for 8 channels in a block (AVX2) than for 16 (AVX-512), for full blocks than
for blocks filled up with zeros. The judge is NumPy in float64. ``test_instruction_sets.py`` runs
this file once for each set of instructions.
"""

from __future__ import annotations

import naive
import numpy as np
import pytest
from conftest import elements
from convolution_checks import check_convolution

from ideep4py import ops
from ideep4py._core.library import ffi

CHANNELS = pytest.mark.parametrize("channels", range(1, 34))
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def check(got, expected, rtol=1e-4, atol=1e-4) -> None:
    """Compares elements; what fills the last block up must be zero."""
    assert got.shape == expected.shape
    np.testing.assert_allclose(elements(got), expected, rtol=rtol, atol=atol)
    memory = np.frombuffer(ffi.buffer(got._data[1], got.layout.nbytes), np.float32)
    assert np.count_nonzero(memory) == np.count_nonzero(elements(got))


def laid_out(array):
    """The array in the layout that a convolution chooses for it."""
    channels = array.shape[1]
    kernel = (1,) * (array.ndim - 2)
    like = ops.convolution(array, np.zeros((channels, channels, *kernel), np.float32))
    return ops.reorder(array, like.layout)


def other(channels: int) -> int:
    """Some other number of channels, 1 to 33, with all kinds of remainders."""
    return channels * 7 % 33 + 1


@CHANNELS
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((1, 1), {}),
        ((3, 3), {"pad": (1, 1)}),
        ((3, 2), {"stride": (2, 1), "pad": (1, 0)}),
        ((3, 3), {"dilate": (2, 1), "pad": (2, 1)}),
    ],
    ids=["1x1", "3x3", "strided", "dilated"],
)
def test_convolution(normal, channels, kernel, options) -> None:
    W = (other(channels), channels, *kernel)
    check_convolution(normal, laid_out, (2, channels, 6, 5), W, **options)
    check_convolution(normal, lambda array: array, (1, channels, 5, 6), W, **options)


@CHANNELS
def test_depthwise_convolution(normal, channels) -> None:
    x, W, b = normal(2, channels, 6, 5), normal(channels, 1, 3, 3), normal(channels)
    options = {"pad": 1, "groups": channels}
    y = ops.convolution(laid_out(x), W, b, **options)
    check(y, naive.convolution(x, W, b, (1, 1), (1, 1), (1, 1), channels))
    gy = normal(*y.shape)
    gx = ops.convolution_backward_data(laid_out(gy), W, x.shape, **options)
    turned = np.ascontiguousarray(W[:, :, ::-1, ::-1])
    check(gx, naive.convolution(gy, turned, None, (1, 1), (1, 1), (1, 1), channels))
    gW, gb = ops.convolution_backward_weights(
        laid_out(x), laid_out(gy), W.shape, bias=True, **options
    )
    windows = naive.windows(naive.pad_spatial(x, (1, 1), (1, 1)), (3, 3), (1, 1), (1, 1))
    np.testing.assert_allclose(gW, np.einsum("ncijhw,ncij->chw", windows, gy)[:, None], **CLOSE)
    np.testing.assert_allclose(gb, gy.sum((0, 2, 3)), **CLOSE)


@CHANNELS
@pytest.mark.parametrize("size", [(7,), (4, 3, 5)], ids=["1 axis", "3 axes"])
def test_convolution_over_other_axes(normal, channels, size) -> None:
    n = len(size)
    x, b = normal(2, channels, *size), normal(other(channels))
    W = normal(other(channels), channels, *[3] * n)
    y = ops.convolution(laid_out(x), W, b, pad=1)
    steps = (1,) * n
    check(y, naive.convolution(x, W, b, steps, steps, steps, 1), atol=5e-4)
    gy = normal(*y.shape)
    gx = ops.convolution_backward_data(laid_out(gy), W, x.shape, pad=1)
    turned = np.flip(W, range(2, 2 + n)).swapaxes(0, 1)
    check(gx, naive.convolution(gy, turned, None, steps, steps, steps, 1), atol=5e-4)
    gW, _ = ops.convolution_backward_weights(laid_out(x), laid_out(gy), W.shape, pad=1)
    windows = naive.windows(naive.pad_spatial(x, steps, steps), [3] * n, steps, steps)
    places, taps = "hij"[:n], "xyz"[:n]
    expected = np.einsum(f"nc{places}{taps},no{places}->oc{taps}", windows, gy)
    np.testing.assert_allclose(gW, expected, rtol=1e-4, atol=5e-4)


@CHANNELS
def test_deconvolution(normal, channels) -> None:
    gy, W = normal(2, channels, 3, 4), normal(channels, other(channels), 3, 3)
    b = normal(other(channels))
    y = ops.deconvolution(laid_out(gy), W, b, stride=2, pad=1, out_size=(6, 8))
    spread = np.zeros((2, other(channels), 8, 10))
    for i, j in np.ndindex(3, 3):
        product = np.einsum("nchw,co->nohw", gy.astype("d"), W[:, :, i, j])
        spread[:, :, i : i + 5 : 2, j : j + 7 : 2] += product
    check(y, spread[:, :, 1:7, 1:9] + b.reshape(-1, 1, 1))


@CHANNELS
@pytest.mark.parametrize("kind", ["max", "average", "average_exclude_pad"])
def test_pooling(normal, channels, kind) -> None:
    x = normal(2, channels, 6, 7)
    window = {"stride": 2, "pad": 1}
    y, workspace = ops.pooling(laid_out(x), kind, 3, **window)
    geometry = ((3, 3), (2, 2), (1, 1), (1, 1))
    check(y, naive.pooling(x, kind, *geometry))
    gy = normal(*y.shape)
    gx = ops.pooling_backward(
        laid_out(gy), laid_out(x).layout, kind, 3, workspace=workspace, **window
    )
    check(gx, pooling_gradient(x, gy, kind))


def pooling_gradient(x, gy, kind):
    """Gradient of a pooling over 3x3 elements with a stride of 2 and a padding of 1."""
    height, width = x.shape[2:]
    padded = naive.pad_spatial(x, (1, 1), (1, 1), -np.inf)
    gradient = np.zeros(padded.shape)
    for i, j in np.ndindex(*gy.shape[2:]):
        place = (..., slice(2 * i, 2 * i + 3), slice(2 * j, 2 * j + 3))
        window, g = padded[place], gy[..., i, j, None, None].astype("d")
        if kind == "max":
            gradient[place] += g * (window == window.max((2, 3), keepdims=True))
        elif kind == "average":
            gradient[place] += g / 9
        else:
            gradient[place] += g / np.isfinite(window[0, 0]).sum()
    return gradient[:, :, 1 : height + 1, 1 : width + 1]


@CHANNELS
@pytest.mark.parametrize("relu", [False, True])
def test_batch_normalization(normal, channels, relu) -> None:
    x, gamma, beta = normal(3, channels, 4, 5), abs(normal(channels)) + 0.5, normal(channels)
    y, mean, var, workspace = ops.batch_normalization(laid_out(x), gamma, beta, relu=relu)
    normalized = naive.batch_normalization(x, np.ones(channels), np.zeros(channels), 2e-5)
    whole = naive.batch_normalization(x, gamma, beta, 2e-5)
    check(y, np.maximum(whole, 0) if relu else whole)
    np.testing.assert_allclose(mean, x.mean((0, 2, 3), dtype="d"), **CLOSE)
    np.testing.assert_allclose(var, x.var((0, 2, 3), dtype="d"), **CLOSE)

    gy = normal(*x.shape)
    gx, ggamma, gbeta = ops.batch_normalization_backward(
        laid_out(x), laid_out(gy), gamma, mean, var, workspace=workspace
    )
    passed = gy.astype("d") * (whole > 0) if relu else gy.astype("d")
    axes, shape = (0, 2, 3), (1, channels, 1, 1)
    np.testing.assert_allclose(gbeta, passed.sum(axes), **CLOSE)
    np.testing.assert_allclose(ggamma, (passed * normalized).sum(axes), **CLOSE)
    scale = (gamma / np.sqrt(x.var(axes, dtype="d") + 2e-5)).reshape(shape)
    by_mean = passed.mean(axes, keepdims=True)
    by_var = (passed * normalized).mean(axes, keepdims=True)
    check(gx, scale * (passed - by_mean - normalized * by_var), rtol=5e-4, atol=5e-4)

    vectors = [gamma, beta, normal(channels), abs(normal(channels)) + 0.1]
    fixed = ops.fixed_batch_normalization(laid_out(x), *vectors, relu=relu)
    expected = naive.batch_normalization(x, gamma, beta, 2e-5, *vectors[2:])
    check(fixed, np.maximum(expected, 0) if relu else expected, atol=5e-4)


@CHANNELS
@pytest.mark.parametrize("n", [3, 5])
def test_local_response_normalization(normal, channels, n) -> None:
    x, gy = normal(2, channels, 4, 5), normal(2, channels, 4, 5)
    k, alpha, beta = 2.0, 0.7, 0.75
    y, workspace = ops.local_response_normalization(laid_out(x), n, k, alpha, beta)
    check(y, naive.local_response_normalization(x, n, k, alpha, beta))
    a, g = x.astype("d"), gy.astype("d")
    scale = k + alpha / n * window_sum(a**2, n)
    expected = g * scale**-beta
    expected -= 2 * alpha / n * beta * a * window_sum(g * a * scale ** (-beta - 1), n)
    for saved in (workspace, None):
        gx = ops.local_response_normalization_backward(
            laid_out(x), laid_out(gy), n, k, alpha, beta, workspace=saved
        )
        check(gx, expected)


def window_sum(x, n):
    """Sum over ``n`` channels around each."""
    padded = np.pad(x, [(0, 0), (n // 2, n // 2), (0, 0), (0, 0)])
    return sum(padded[:, i : i + x.shape[1]] for i in range(n))


@CHANNELS
def test_elementwise(normal, channels) -> None:
    x, y = normal(2, channels, 3, 5), abs(normal(2, channels, 3, 5)) + 0.5
    a, b = x.astype("d"), y.astype("d")
    p, q = laid_out(x), laid_out(y)
    check(p + q, a + b)
    check(p * y, a * b)
    check(p / q, a / b)
    check(p * 2.5, a * 2.5)
    check(1 - p, 1 - a)
    check(ops.relu(p), np.maximum(a, 0))
    check(ops.relu(p, 0.2), np.where(a > 0, a, 0.2 * a))
    np.testing.assert_allclose(elements(ops.tanh(p)), np.tanh(a), **CLOSE)
    np.testing.assert_allclose(elements(ops.sigmoid(p)), naive.sigmoid(a), **CLOSE)
    np.testing.assert_allclose(elements(ops.eltwise(p, "elu", 0.5)), elu(a, 0.5), **CLOSE)
    check(ops.relu_backward(ops.relu(p), q), b * (a > 0))
    check(ops.leaky_relu_backward(p, q, 0.2), np.where(a > 0, b, 0.2 * b))
    check(ops.tanh_backward(ops.tanh(p), q), b * (1 - np.tanh(a) ** 2))
    s = naive.sigmoid(a)
    check(ops.sigmoid_backward(ops.sigmoid(p), q), b * s * (1 - s))
    gradient = ops.eltwise_backward(ops.eltwise(p, "elu", 0.5), q, "elu", 0.5, from_output=True)
    check(gradient, b * np.where(a > 0, 1, 0.5 * np.exp(a)))
    p += q
    check(p, a + b)


def elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@CHANNELS
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("axis", [1, 2])
def test_softmax(normal, channels, log, axis) -> None:
    x, gy = normal(2, channels, 3, 4), normal(2, channels, 3, 4)
    e = np.exp(x.astype("d"))
    p, g = e / e.sum(axis, keepdims=True), gy.astype("d")
    y = (ops.log_softmax if log else ops.softmax)(laid_out(x), axis)
    np.testing.assert_allclose(elements(y), np.log(p) if log else p, **CLOSE)
    gx = (ops.log_softmax_backward if log else ops.softmax_backward)(y, laid_out(gy), axis)
    if log:
        expected = g - p * g.sum(axis, keepdims=True)
    else:
        expected = p * (g - (p * g).sum(axis, keepdims=True))
    check(gx, expected)


@CHANNELS
@pytest.mark.parametrize("axes", [(1,), (0, 2, 3), (2, 3), (0,), (0, 1, 2, 3)], ids=str)
def test_sums(normal, channels, axes) -> None:
    x = normal(2, channels, 4, 5)
    total = laid_out(x).sum(axes)
    np.testing.assert_allclose(np.asarray(total), x.astype("d").sum(axes), **CLOSE)
    kept = laid_out(x).sum(axes, keepdims=True)
    np.testing.assert_allclose(np.asarray(kept), x.astype("d").sum(axes, keepdims=True), **CLOSE)


@CHANNELS
def test_moves_between_layouts(normal, channels) -> None:
    x = normal(2, channels, 3, 5)
    blocked = laid_out(x)
    np.testing.assert_array_equal(np.asarray(ops.dense(blocked)), x)
    check(blocked.copy(), x)
    check(ops.reorder(x, blocked.layout), x)
    check(ops.zeros_like(blocked), 0 * x)


@CHANNELS
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_recurrent_cells_of_all_sizes(normal, channels, cell) -> None:
    """Here the "channels" are units: rows of the products, filled up to vectors."""
    steps, batch, inputs = 3, 2, other(channels)
    gates, biases = (4, 4) if cell == "lstm" else (3, 4)
    x, h = normal(steps, batch, inputs), normal(batch, channels)
    W, U = normal(gates, channels, inputs) / 4, normal(gates, channels, channels) / 4
    b = normal(biases, channels)
    states = (h, normal(batch, channels)) if cell == "lstm" else (h,)
    found = getattr(ops, cell)(x, *states, W, U, b)
    expected = getattr(naive, cell)(x, *[s.astype("d") for s in states], W, U, b)
    np.testing.assert_allclose(elements(found.y), expected[0], **CLOSE)
    np.testing.assert_allclose(elements(found.h), expected[1], **CLOSE)

    gy = normal(*found.y.shape)
    gradients = ops.recurrent_backward(found.saved, gy)

    def loss(name, array):
        values = {"x": x, "W": W, "U": U, "b": b} | {name: array}
        start = [s.astype("d") for s in states]
        return getattr(naive, cell)(
            values["x"], *start, *(values[k].astype("d") for k in ("W", "U", "b"))
        )[0]

    # Along one random direction for each argument: a central difference in float64.
    for name, value in (("x", x), ("W", W), ("U", U), ("b", b)):
        direction = normal(*value.shape)
        eps = 1e-5
        above, below = (loss(name, value.astype("d") + s * eps * direction) for s in (1, -1))
        slope = np.sum(gy * (above - below)) / (2 * eps)
        got = np.sum(elements(getattr(gradients, name)).astype("d") * direction)
        np.testing.assert_allclose(got, slope, rtol=1e-3, atol=1e-3)
