"""Calls of the kernels of this package: what the tests compare with the reference kernels."""

from __future__ import annotations

import numpy as np

from chainer.backends.numpy.kernels import poolings
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.arrays.backend import get_backend
from tests.backends.cupy import samples_activations, samples_updates
from tests.backends.cupy.sample_table import SAMPLES, rand, sample, spread

__all__ = ["SAMPLES", "samples_activations", "samples_updates"]


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
    # input, output, window, stride, padding
    ((7, 6), (4, 3), PoolingGeometry((3, 2), (2, 2), (1, 0))),
    ((5, 5), (5, 3), PoolingGeometry((3, 3), (1, 2), (1, 1))),
    ((9,), (3,), PoolingGeometry((4,), (3,), (0,))),
    ((4, 5, 3), (3, 3, 4), PoolingGeometry((2, 2, 2), (1, 2, 1), (0, 1, 1))),
    ((8, 8), (4, 4), PoolingGeometry((2, 2), (2, 2), (0, 0))),
)


@sample("max_pooling_nd", *GEOMETRIES)
def maximum(k, a, dtype, size, out, geometry):
    x, gy = a(spread(2, 3, *size)), a(rand(2, 3, *out))
    y, residual = k.forward(x, out, geometry)
    return y, k.backward(x, y, gy, residual, geometry)


@sample("max_pooling_nd")
def equal_and_not_numbers(k, a, dtype):
    geometry = PoolingGeometry((4,), (4,), (0,))
    values = np.array([0, 1, 1, 0, np.nan, 2, np.nan, 3, -np.inf, -np.inf, -np.inf, -np.inf])
    x, gy = a(values.reshape(1, 1, 12)), a(rand(1, 1, 3))
    y, residual = k.forward(x, (3,), geometry)
    return y, k.backward(x, y, gy, residual, geometry)


@sample("window_indexing", *GEOMETRIES)
def indexing(k, a, dtype, size, out, geometry):
    x = a(spread(2, 3, *size))
    pooling = poolings.MaxPoolingNDKernel(get_backend("numpy"))
    host = a.host(x)
    y = a(pooling.forward(host, out, geometry)[0].astype("d"))
    indices = k.find(x, y, geometry)
    gathered = k.gather(x, indices, geometry)
    scattered = k.scatter(y, indices, size, geometry)
    return indices, gathered, scattered


@sample("average_pooling_nd", *[(*g, v) for g in GEOMETRIES for v in (0, None)])
def mean(k, a, dtype, size, out, geometry, pad_value):
    x, gy = a(rand(2, 3, *size)), a(rand(2, 3, *out))
    y = k.forward(x, out, geometry, pad_value)
    return y, k.backward(gy, size, geometry, pad_value)


@sample("unpooling_nd", *GEOMETRIES)
def unpooling(k, a, dtype, size, out, geometry):
    x, gy = a(rand(2, 3, *out)), a(rand(2, 3, *size))
    return k.forward(x, size, geometry), k.backward(gy, out, geometry)


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
    geometry = ConvolutionGeometry(stride, pad, dilate)
    x = a(rand(2, 3, *size))
    y = k.forward(x, ksize, out, geometry)
    return y, k.backward(a(rand(2, 3, *ksize, *out)), size, geometry)


@sample("convolution_nd", *[(*c, g) for c in CONVOLUTIONS for g in (1, 2)])
def convolution(k, a, dtype, size, ksize, stride, pad, dilate, out, groups):
    x, gy = a(rand(3, 4, *size)), a(rand(3, 6, *out))
    W, b, c = a(rand(6, 4 // groups, *ksize)), a(rand(6)), a(rand(4))
    geometry = ConvolutionGeometry(stride, pad, dilate, groups)
    return (
        k.forward(x, W, b, out, geometry),
        k.forward(x, W, None, out, geometry),
        k.backward_data(gy, W, c, size, geometry),
        k.backward_weight(x, gy, ksize, W.dtype, geometry),
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
    ((30, 2, 20, 20), (0, 2, 3)),  # several blocks for a channel
    ((300, 40), (0,)),  # likewise
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
    y, m, inv_std, residual = k.forward(x, gamma, beta, (mean, var), 0.01, 0.9, axis)
    gradients = k.backward(x, gamma, gy, m, inv_std, residual, axis)
    return (y, m, inv_std, mean, var, *gradients)


@sample("batch_normalization")
def empty_batch(k, a, dtype):
    x, p = a(rand(0, 3)), a(rand(3))
    y, mean, inv_std, residual = k.forward(x, p, p, None, 0.01, 0.9, (0,))
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


@sample("group_normalization", (2, (4, 5, 3)), (1, (2, 300)), (3, (3, 2, 2)), (5, (0, 3)))
def groups_of_channels(k, a, dtype, groups, shape):
    channels = 6 if groups < 5 else 5
    shape = (shape[0], channels, *shape[1:])
    x, gy, gamma, beta = (
        a(2 * rand(*shape) + 3),
        a(rand(*shape)),
        a(rand(channels)),
        a(rand(channels)),
    )
    y, *saved = k.forward(x, gamma, beta, groups, 0.01)
    return (y, *saved, *k.backward(x, gamma, gy, *saved))


@sample("local_response_normalization", (5, 0.75), (3, 0.5), (4, 0.6), (1, 1.0), (99, 0.75))
def response(k, a, dtype, n, beta):
    x, gy = a(rand(2, 7, 3, 2)), a(rand(2, 7, 3, 2))
    parameters = ResponseParameters(n, 2.0, 0.1, beta)
    y, residual = k.forward(x, parameters)
    return y, k.backward(x, y, gy, residual, parameters)


@sample("embedding", (None, "i"), (-1, "l"), (2, "h"))
def embedding(k, a, dtype, ignored, integer):
    W = a(rand(5, 4))
    x = a(np.array([[0, 2, -1], [4, 2, 2]]), integer)
    y = k.forward(x, W, ignored)
    return y, k.backward(x, a(rand(2, 3, 4)), (5, 4), ignored)


@sample("scatter_add")
def scatter(k, a, dtype):
    """Rows, elements and parts of an array; some of them several times."""
    array = a(np.array([[1, 1], [2, -1]]), "i")
    mask = a(np.array([True, False, True, True]), "?")
    indexes = [[0, 2, 2], (array,), array[:0], slice(1, 3), mask, (array, a(np.array([0, 2]), "l"))]
    indexes += [([0, 0, 3], slice(1, None)), (Ellipsis, a(np.array([1, 1, 1]), "l")), (None, array)]
    results = []
    for index in indexes:
        target = a(rand(4, 3))
        k.add_at(target, index, a(rand(*target[index].shape)))
        results.append(target)
    target = a(rand(3, 4))
    k.add_at(target.T, [0, 2, 2], a(rand(3, 3)))
    return [*results, target]


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


#: (y_min, x_min, y_max, x_max): inside, over the border, less than a pixel, outside, upside down.
REGIONS = [
    [1, 1, 6, 6],
    [0, 2, 7, 8.5],
    [5, 5, 5.3, 5],
    [6, 7, 12, 14],
    [20, 1, 22, 3],
    [3, 3, 1, 1],
]


def pooled_regions(k, a, scale, ratio=(None, None)):
    grid = RegionGrid((3, 2), scale, ratio)
    x = a(spread(2, 3, 9, 8))
    rois, images = a(np.array(REGIONS)), a(np.array([0, 1, -1, 0, 1, 0]), "l")
    regions = Regions(rois, images, grid)
    y, chosen = k.forward(x, regions)
    gy = a(rand(*y.shape))
    gx = k.backward(gy, chosen, regions, (2, 3, 9, 8))
    gathered = k.gather(x, chosen, regions)
    return [r for r in (y, chosen, gx, gathered) if r is not None]


@sample("roi_max_pooling_2d", (1.0,), (0.5,))
def largest_pixels(k, a, dtype, scale):
    return pooled_regions(k, a, scale)


@sample("roi_average_pooling_2d", (1.0,), (0.5,))
def means_of_pixels(k, a, dtype, scale):
    return pooled_regions(k, a, scale)


@sample("roi_max_align_2d", (1.0, (None, None)), (0.5, (2, None)), (0.7, (1, 3)))
def largest_samples(k, a, dtype, scale, ratio):
    return pooled_regions(k, a, scale, ratio)


@sample("roi_average_align_2d", (1.0, (None, None)), (0.5, (2, None)), (0.7, (1, 3)))
def means_of_samples(k, a, dtype, scale, ratio):
    return pooled_regions(k, a, scale, ratio)


@sample("spatial_transformer_sampler", dtypes="fd")
def sampler(k, a, dtype):
    x, gy = a(rand(2, 3, 5, 6)), a(rand(2, 3, 4, 3))
    grid = a(2.6 * np.random.random_sample((2, 2, 4, 3)) - 1.3)
    return (k.forward(x, grid), *k.backward(x, grid, gy))


@sample("spatial_transformer_sampler", dtypes="e")
def half_sampler(k, a, dtype):
    grid = a(1.8 * np.random.random_sample((2, 2, 4, 3)) - 0.9)
    return (k.forward(a(rand(2, 3, 5, 6)), grid),)


@sample(
    "axes_sum",
    ((3, 4, 5), 1, False),
    ((3, 4, 5), (0, 1), True),
    ((3, 4, 5), (-1,), False),
    ((3, 4, 5), (0, 2), False),
    ((3, 4, 5), None, False),
    ((), None, True),
    ((700, 40), 0, False),
    ((3, 700), 1, True),
    ((0, 3), 0, False),
    ((2, 1, 3), 1, False),
    ((9, 8000), 1, False),
    ((4000, 2), 0, False),
)
def axes_sum(k, a, dtype, shape, axis, keepdims):
    return [k.forward(a(rand(*shape)), axis, keepdims)]


@sample("axes_sum", dtypes="f")
def axes_sum_of_views(k, a, dtype):
    x = a(rand(6, 5, 4))
    views = [
        x.transpose(2, 0, 1),
        x[::2],
        x[:, ::-1],
        x[0].T,
        x[:, :1, 0],
    ]
    return [k.forward(view, axis, False) for view in views for axis in range(view.ndim)]


@sample(
    "loss_mean",
    ((7,), "i", None),
    ((3, 4), "l", None),
    ((700,), "b", None),
    ((7,), "i", 3),
    ((7,), "i", 0),
    ((0,), "i", None),
    ((70000,), "i", None),
)
def loss_mean(k, a, dtype, shape, labels, count):
    losses = a(np.random.random_sample(shape))
    t = a(np.random.randint(-1, 3, shape), labels)
    loss, coefficient = k.forward(losses, t, -1, count)
    return [loss, (a(np.zeros(())) + coefficient).astype(losses.dtype)]
