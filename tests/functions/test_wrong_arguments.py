"""What functions say about arguments of a wrong value, whatever their inputs."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable
from chainer.utils.type_check import InvalidType

X = np.ones((3, 4), np.float32)
IMAGE = np.ones((1, 4, 5, 5), np.float32)
W = np.ones((4, 4, 3, 3), np.float32)
T = np.zeros(3, np.int32)

WINDOWS = {
    "convolution_2d": lambda **kw: F.convolution_2d(IMAGE, W, **kw),
    "convolution_nd": lambda **kw: F.convolution_nd(IMAGE, W, **kw),
    "deconvolution_2d": lambda **kw: F.deconvolution_2d(IMAGE, W, **kw),
    "deconvolution_nd": lambda **kw: F.deconvolution_nd(IMAGE, W, **kw),
    "depthwise_convolution_2d": lambda **kw: F.depthwise_convolution_2d(IMAGE, W, **kw),
    "dilated_convolution_2d": lambda **kw: F.dilated_convolution_2d(IMAGE, W, **kw),
    "max_pooling_2d": lambda **kw: F.max_pooling_2d(IMAGE, 2, **kw),
    "max_pooling_nd": lambda **kw: F.max_pooling_nd(IMAGE, 2, **kw),
    "average_pooling_2d": lambda **kw: F.average_pooling_2d(IMAGE, 2, **kw),
    "average_pooling_nd": lambda **kw: F.average_pooling_nd(IMAGE, 2, **kw),
    "unpooling_2d": lambda **kw: F.unpooling_2d(IMAGE, 2, **kw),
    "im2col": lambda **kw: F.im2col(IMAGE, 3, **kw),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stride": 0}, "stride must be positive, got 0"),
        ({"stride": (1, -1)}, r"stride must be positive, got \(1, -1\)"),
        ({"stride": 1.5}, "stride must be an int or a pair of ints, got 1.5"),
        ({"pad": -1}, "pad must be at least 0, got -1"),
        ({"pad": (1, 2, 3)}, "pad must be an int or a pair of ints"),
    ],
    ids=str,
)
def test_windows(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        WINDOWS[name](**arguments)


@pytest.mark.parametrize(
    "function", [F.max_pooling_2d, F.average_pooling_2d, F.max_pooling_nd, F.unpooling_2d]
)
def test_windows_of_no_size(function):
    with pytest.raises(ValueError, match="ksize must be positive, got 0"):
        function(IMAGE, 0)


@pytest.mark.parametrize("name", ["convolution_2d", "deconvolution_2d", "convolution_nd"])
def test_no_groups(name):
    with pytest.raises(ValueError, match="groups must be positive, got 0"):
        WINDOWS[name](groups=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.average(X, axis=2), IndexError, "ndim > 2\nActual: 2 <= 2"),
        (lambda: F.average(X, axis=(0, -3)), InvalidType, "ndim > 2\nActual: 2 <= 2"),
        (lambda: F.average(X, -3, np.ones(3, "f")), IndexError, "ndim > 2\nActual: x.ndim == 2"),
        (lambda: F.cumsum(X, axis="a"), TypeError, "axis must be int or None, got 'a'"),
        (lambda: F.expand_dims(X, None), TypeError, "axis must be int, got None"),
        (lambda: F.expand_dims(X, 1.5), TypeError, "axis must be int, got 1.5"),
        (lambda: F.fft((X, X, X)), ValueError, "real and the imaginary part, got 3 elements"),
        (lambda: F.ifft(X), ValueError, "real and the imaginary part, got 3 elements"),
        (lambda: F.gumbel_softmax(X, tau=0.0), ValueError, "tau must not be zero"),
        (lambda: F.hinge(X, T, norm="L3"), NotImplementedError, "'L1' or 'L2', got 'L3'"),
        (lambda: F.triplet(X, X, X, margin=-1), ValueError, "positive value. Actual: -1"),
        (lambda: F.repeat(X, -1, 0), ValueError, r"zero or larger, got \(-1,\)"),
        (
            lambda: F.n_step_gru(1, 0.0, None, [], [], [], foo=1),
            TypeError,
            "unexpected keyword argument 'foo'",
        ),
        (lambda: Variable(X) // Variable(X.astype("d")), InvalidType, "float32 != float64"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_numpy_integers_are_sizes():
    two, one = np.int64(2), np.int32(1)
    y = F.max_pooling_2d(IMAGE, two, stride=(one, two), pad=one)
    assert y.shape == F.max_pooling_2d(IMAGE, 2, (1, 2), 1).shape


def test_number_of_labels_is_that_of_all_of_t():
    t = np.array([0, 1, 5], np.int32)
    precision, recall, score, support = F.classification_summary(X, t, ignore_label=5)
    assert precision.shape == recall.shape == score.shape == (6,)
    assert support.array.tolist() == [1, 1, 0, 0, 0, 0]
