"""Peak memory of forward and backward, in units of the memory of inputs and outputs.

Functions whose arrays between could be much larger than those. ``benchmarks/`` compares all
functions with an earlier release.
"""

import gc
import tracemalloc

import numpy as np
import pytest

import chainer
import chainer.functions as F


def random(*shape):
    return np.random.RandomState(0).standard_normal(shape).astype(np.float32)


def integers(high, *shape):
    return np.random.RandomState(0).randint(0, high, shape).astype(np.int32)


class Loss(chainer.FunctionNode):
    """Scalar whose gradients are new arrays, as those of the losses of a training are."""

    def forward(self, ys):
        self.shapes = [(y.shape, y.dtype) for y in ys]
        return (np.zeros((), np.float32),)

    def backward(self, indexes, gys):
        return tuple(chainer.Variable(np.ones(*self.shapes[i])) for i in indexes)


IMAGES = random(8, 64, 14, 14)
ROIS = np.array([[n % 8, n % 3, n % 5, 8 + n % 4, 7 + n % 6] for n in range(128)], np.float32)
SAMPLES = integers(1000, 512, 6)


def n_step_rnn(hx, *xs):
    ws, bs = [random(128, 128)] * 2, [random(128)] * 2
    return F.concat(F.n_step_rnn(1, 0.0, hx, [ws], [bs], xs)[1], axis=0)


#: Function, its arguments, and the most it may take.
ROWS = {
    "roi_pooling_2d": (lambda x: F.roi_pooling_2d(x, ROIS, 7, 7, 1.0), [IMAGES], 1.5),
    "get_item rows": (lambda x: x[integers(64, 2000)], [random(64, 200)], 1.04),
    "get_item long rows": (lambda x: x[integers(64, 2000)], [random(64, 300)], 1.04),
    "get_item columns": (lambda x: x[:, integers(64, 200)], [random(2000, 64)], 1.04),
    "scatter_add": (
        lambda a, b: F.scatter_add(a, integers(64, 2000), b),
        [random(64, 200), random(2000, 200)],
        1.02,
    ),
    "local_convolution_2d": (
        F.local_convolution_2d,
        [random(8, 8, 22, 22), random(8, 20, 20, 8, 3, 3)],
        1.06,
    ),
    "negative_sampling": (
        lambda x, W: F.negative_sampling(x, integers(1000, 512), W, SAMPLES.reshape, 5),
        [random(512, 64), random(1000, 64)],
        2.2,
    ),
    "embed_id": (lambda W: F.embed_id(integers(500, 5000), W), [random(500, 100)], 1.04),
    "embed_id few": (lambda W: F.embed_id(integers(5000, 200), W), [random(5000, 100)], 1.02),
    "concat": (lambda *xs: F.concat(xs), [random(500, 100)] * 4, 0.6),
    "stack": (lambda *xs: F.stack(xs), [random(500, 100)] * 12, 0.6),
    "pad_sequence": (lambda *xs: F.pad_sequence(xs), [random(500, 100)] * 12, 0.6),
    "leaky_relu": (F.leaky_relu, [random(500, 100)], 1.7),
    "clipped_relu": (F.clipped_relu, [random(500, 100)], 1.2),
    "slstm": (F.slstm, [random(256, 64)] * 2 + [random(256, 256)] * 2, 1.95),
    "hinge": (
        lambda x: F.hinge(x, integers(100, 500)),
        [random(500, 100)],
        1.45,
    ),
    "unpooling_2d": (lambda x: F.unpooling_2d(x, 2), [random(16, 64, 20, 20)], 1.04),
    "n_step_rnn": (n_step_rnn, [random(1, 32, 128), *[random(32, 128)] * 20], 2.95),
    "softmax": (F.softmax, [random(500, 100)], 1.7),
    "depth2space": (lambda x: F.depth2space(x, 2), [random(16, 64, 20, 20)], 1.04),
    "linear_interpolate": (F.linear_interpolate, [random(500, 100)] * 3, 1.04),
    "bilinear": (F.bilinear, [random(64, 64), random(64, 64), random(64, 64, 8)], 7.7),
    "lstm": (F.lstm, [random(256, 64), random(256, 256)], 2.1),
    "spatial_transformer_sampler": (
        F.spatial_transformer_sampler,
        [random(32, 8, 28, 28), np.clip(random(32, 2, 28, 28), -1, 1)],
        2.2,
    ),
}


def peak_of(function, arrays):
    """Returns the largest sum of the memory that was allocated, and that of inputs and outputs."""
    xs = [chainer.Variable(array) for array in arrays]

    def outputs():
        ys = function(*xs)
        return ys if isinstance(ys, tuple) else (ys,)

    ends = sum(array.nbytes for array in [*arrays, *(y.array for y in outputs())])
    peaks = []
    for _ in range(4):  # the first one imports modules and fills caches
        for x in xs:
            x.cleargrad()
        gc.collect()
        tracemalloc.start()
        try:
            Loss().apply(outputs())[0].backward()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert all(x.grad is not None for x in xs)
    # Threads that other tests have left may allocate memory, too.
    return min(peaks), ends


@pytest.mark.parametrize("name", ROWS)
def test_peak(name):
    function, arrays, limit = ROWS[name]
    peak, ends = peak_of(function, arrays)
    assert peak <= limit * ends
