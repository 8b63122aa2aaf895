"""cuDNN itself: convolutions of every kind against NumPy, and what the configuration changes."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends import cuda
from chainer.backends.cupy.cudnn import layouts, library
from chainer.backends.cupy.cudnn.kernels.convolutions import ConvolutionNDKernel
from chainer.backends.cupy.cudnn.kernels.normalizations import BatchNormalizationKernel
from chainer.backends.numpy.kernels.convolutions import ConvolutionNDKernel as Reference
from chainer.backends.operations.convolutions import ConvolutionGeometry, convolution_nd
from chainer.core.arrays.backend import get_backend
from chainer.core.config.configuration import using_config
from tests.backends.cupy.cudnn_samples import SAMPLES, Sample
from tests.gpu import place

pytestmark = [
    pytest.mark.cudnn,
    pytest.mark.skipif(not place.ON_GPU, reason="cuDNN works on CUDA devices"),
]

REFERENCE = Reference(get_backend("numpy"))
TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}

#: Large enough for the engines that networks get.
LARGE = Sample("large", (16, 64, 28, 28), (64, 64, 3, 3), (1, 1), (1, 1), (1, 1))


@pytest.fixture(autouse=True)
def _use_cudnn():
    if library.missing():
        pytest.skip(library.missing())
    with using_config("use_cudnn", "always"):
        yield


def draw(shape, dtype="float32"):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype(dtype)


def select(x, W, b, sample):
    kernel = convolution_nd.select(
        x, W, b, geometry=sample.geometry, out_size=sample.y[2:], transposed=False
    )
    assert type(kernel) is ConvolutionNDKernel
    return kernel


def channels_last(xp, array):
    if array.ndim < 4:
        return array
    axes = (0, *range(2, array.ndim), 1)
    return xp.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes).tolist())


def lying(xp, array, layout):
    if layout == "last":
        return channels_last(xp, array)
    if layout == "strided":
        wide = xp.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


def compare(actual, expected, dtype, scale=1.0):
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(
        place.to_host(actual), expected, rtol=tolerance, atol=tolerance * scale
    )


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("layout", ["first", "last", "strided"])
@pytest.mark.parametrize("sample", [*SAMPLES, LARGE], ids=lambda sample: sample.name)
def test_convolution(sample, layout, dtype, device):
    x, W, gy = (draw(shape, dtype) for shape in (sample.x, sample.W, sample.y))
    b, c = draw(sample.W[:1], dtype), draw(sample.x[1:2], dtype)
    xp = device.xp
    gx_, gW_, ggy_ = (lying(xp, device.send(array), layout) for array in (x, W, gy))
    kernel = select(gx_, gW_, device.send(b), sample)
    scale = float(np.prod(sample.W[1:])) ** 0.5
    y = kernel.forward(gx_, gW_, device.send(b), sample.y[2:], sample.geometry)
    compare(y, REFERENCE.forward(x, W, b, sample.y[2:], sample.geometry), dtype, scale)
    gx = kernel.backward_data(ggy_, gW_, device.send(c), sample.x[2:], sample.geometry)
    expected = REFERENCE.backward_data(gy, W, c, sample.x[2:], sample.geometry)
    compare(gx, expected, dtype, scale)
    gW = kernel.backward_weight(gx_, ggy_, sample.W[2:], np.dtype(dtype), sample.geometry)
    expected = REFERENCE.backward_weight(x, gy, sample.W[2:], np.dtype(dtype), sample.geometry)
    compare(gW, expected, dtype, float(np.prod(sample.y) / sample.y[1]) ** 0.5)
    if layout == "last" and len(sample.x) > 3:
        assert layouts.layout_of(y) == layouts.layout_of(gx_)


def run(device, dtype="float32"):
    """Output and gradients of a convolution on the device."""
    x, W, b = (
        chainer.Variable(device.send(draw(shape, dtype)))
        for shape in (LARGE.x, LARGE.W, LARGE.W[:1])
    )
    y = F.convolution_2d(x, W, b, 1, 1)
    y.grad = device.send(draw(LARGE.y, dtype))
    y.backward()
    return [place.to_host(array) for array in (y.array, x.grad, W.grad, b.grad)]


@pytest.fixture(scope="module")
def expected():
    return run(place.HOST)


def equal(actual, expected, tolerance=1e-4):
    for one, other in zip(actual, expected, strict=True):
        scale = abs(other).max()
        np.testing.assert_allclose(one / scale, other / scale, rtol=0, atol=tolerance)


def test_function(device, expected):
    equal(run(device), expected)


@pytest.mark.parametrize(
    ("entry", "value", "tolerance"),
    [
        ("autotune", True, 1e-4),
        ("cudnn_deterministic", True, 1e-4),
        ("use_cudnn_tensor_core", "never", 1e-4),
        ("use_cudnn_tensor_core", "always", 5e-3),
    ],
)
def test_configurations(entry, value, tolerance, device, expected):
    with using_config(entry, value):
        equal(run(device), expected, tolerance)
        equal(run(device), expected, tolerance)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_deterministic(dtype, device):
    with using_config("cudnn_deterministic", True):
        first = run(device, dtype)
        for _ in range(3):
            for one, other in zip(run(device, dtype), first, strict=True):
                np.testing.assert_array_equal(one, other)


def test_float32_is_not_rounded_by_default(device):
    """With TensorFloat-32 the error would be a hundred times as large."""
    (y, *_) = run(device)
    x, W, b = (draw(shape, "float64") for shape in (LARGE.x, LARGE.W, LARGE.W[:1]))
    exact = REFERENCE.forward(x, W, b, LARGE.y[2:], LARGE.geometry)
    assert abs(y - exact).max() < 5e-4


@pytest.mark.parametrize("limit", [0, 1 << 20, 1 << 30])
def test_workspace(limit, device, expected):
    before = cuda.get_max_workspace_size()
    cuda.set_max_workspace_size(limit)
    try:
        equal(run(device), expected)
        equal(run(device, "float16"), expected, 1e-2)
    finally:
        cuda.set_max_workspace_size(before)


def test_streams(device, expected):
    """Work goes to the current stream; results are there when it is done."""
    cupy = device.xp
    results = []
    for _ in range(3):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            results.append(run(device))
        stream.synchronize()
    for result in results:
        equal(result, expected)


def test_threads(device, expected):
    results = []

    def work():
        with device, using_config("use_cudnn", "always"):
            results.append(run(device))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 4
    for result in results:
        equal(result, expected)


def test_uneven_addresses(device):
    x, W = draw((4, 5, 3, 3)), draw((2, 5, 2, 2))
    whole = device.send(x)
    part = whole[1:]
    assert part.data.ptr % layouts.ALIGNMENT
    y = F.convolution_2d(part, device.send(W))
    compare(y.array, F.convolution_2d(x[1:], W).array, "float32")


def test_double_gradients(device):
    def second(place_):
        x, W = (chainer.Variable(place_.send(draw(s))) for s in ((2, 3, 6, 5), (4, 3, 3, 3)))
        y = F.convolution_2d(x, W, stride=2, pad=1)
        gx, gW = chainer.grad([F.sum(y * y)], [x, W], enable_double_backprop=True)
        (F.sum(gx * gx) + F.sum(gW * gW)).backward()
        return [place.to_host(v.grad) for v in (x, W)]

    equal(second(device), second(place.HOST))


def test_memory_is_given_back(device):
    """Nothing but the result is left after a call, neither workspace nor copies."""
    pool = device.xp.get_default_memory_pool()
    x, W = (device.send(draw(shape, "float16")) for shape in (LARGE.x, LARGE.W))
    F.convolution_2d(x, W, pad=1)
    before = pool.used_bytes()
    y = F.convolution_2d(x, W, pad=1).array
    assert pool.used_bytes() - before <= y.nbytes + 4096


def test_link_says_who_serves_it(device):
    x = device.send(draw((2, 3, 6, 5)))
    link = L.Convolution2D(3, 4, 3).to_device(device)
    explanation = chainer.explain(
        "convolution_nd",
        x,
        link.W,
        link.b,
        geometry=ConvolutionGeometry((1, 1), (0, 0), (1, 1)),
        out_size=(4, 3),
        transposed=False,
    )
    assert explanation.chosen.provider == "cudnn"
    with using_config("use_cudnn", "never"):
        y = link(x)
    np.testing.assert_allclose(
        place.to_host(link(x).array), place.to_host(y.array), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(8, 16, 14, 14), (2, 8, 3, 4, 5)])
def test_batch_normalization_of_channels_last(shape, dtype, device):
    def run(place_, order):
        xp = place_.xp
        x, gy = (order(xp, place_.send(a)) for a in (draw(shape, dtype), draw(shape, dtype)[::-1]))
        gamma, beta = (place_.send(draw(shape[1:2]) + i) for i in (2, 0))
        mean, var = (place_.send(np.ones(shape[1], np.float32) * i) for i in (2, 3))
        xs = [chainer.Variable(a) for a in (x, gamma, beta)]
        y = F.batch_normalization(*xs, running_mean=mean, running_var=var, eps=1e-3)
        y.grad = gy
        y.backward()
        found = [y.array, *[v.grad for v in xs], mean, var]
        return y, [place.to_host(a).astype(np.float32) for a in found]

    y, actual = run(device, channels_last)
    assert layouts.layout_of(y.array) == layouts.LAST
    assert type(y.creator._kernel).__module__ == BatchNormalizationKernel.__module__
    _, expected = run(place.HOST, lambda xp, array: array)
    equal(actual, expected, 1e-2 if dtype == "float16" else 1e-4)


def test_channels_last_from_convolution_to_convolution(device):
    """What cuDNN returns lies as its input does, with the numbers of the other layout."""
    np.random.seed(0)
    net = chainer.Sequential(
        L.Convolution2D(8, 16, 3, pad=1), L.BatchNormalization(16), L.Convolution2D(16, 8, 3)
    ).to_device(device)
    x = device.send(draw((4, 8, 9, 9)))
    first = net(x)
    last = net(channels_last(device.xp, x))
    assert layouts.layout_of(last.array) == layouts.LAST
    equal([place.to_host(last.array)], [place.to_host(first.array)])
