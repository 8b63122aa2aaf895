"""NaN, infinities, float16, strides and read-only memory: the numbers of the reference."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("any_size")

FUNCTIONS = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "sigmoid": F.sigmoid,
    "elu": F.elu,
    "elu of 0.5": lambda x: F.elu(x, 0.5),
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate=True),
    "softplus": lambda x: F.softplus(x, 2.0),
    "hard_sigmoid": F.hard_sigmoid,
    "clipped_relu": F.clipped_relu,
    "crelu": F.crelu,
    "softmax": F.softmax,
    "softmax of the first axis": lambda x: F.softmax(x, axis=0),
    "log_softmax": F.log_softmax,
    "log_softmax of the first axis": lambda x: F.log_softmax(x, axis=0),
    "sum": lambda x: F.sum(x, axis=1),
    "sum of the first axis": lambda x: F.sum(x, axis=0),
    "max_pooling_1d": lambda x: F.max_pooling_1d(x[None], 3, 2, 1),
    "average_pooling_1d": lambda x: F.average_pooling_1d(x[None], 3, 2, 1),
    "lstm": lambda x: F.lstm(x[:, :4] * 0.5, x[:, :16]),
    "cross entropy": lambda x: F.softmax_cross_entropy(
        x, np.array([0, -1, 4, 2, 5, 3, 1], np.int32), reduce="no"
    ),
    "layer normalization": lambda x: F.layer_normalization(
        x, np.full(17, 2, x.dtype), np.ones(17, x.dtype)
    ),
}


def both(kernels, function, array):
    x = chainer.Variable(array)
    with chainer.using_config("kernels", kernels), np.errstate(all="ignore"):
        outputs = function(x)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        sum(F.sum(y * weights(y)) for y in outputs).backward()
    return [y.array for y in outputs] + [x.grad]


def weights(y):
    """Gradients of an output, from 1 to 2: none is much larger than the differences of two.

    The gradient of a softmax subtracts their mean. With weights up to 118 it had the roundings of
    numbers of that size, and one in 70 draws missed a tolerance for numbers of size 1.
    """
    return (1 + np.arange(y.size).reshape(y.shape) / max(y.size, 1)).astype(y.dtype)


def check(name, array, rtol):
    expected = both((), FUNCTIONS[name], array)
    actual = both(("numba",), FUNCTIONS[name], array)
    for a, b in zip(actual, expected):
        assert a.dtype == b.dtype
        scale = np.max(abs(b[np.isfinite(b)]), initial=1)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * float(scale))


def sample(dtype=np.float32):
    return (np.random.randn(7, 17) * 3).astype(dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_strided_and_read_only_arrays(name):
    array = np.random.randn(17, 14).astype(np.float32).T[::2]
    array.flags.writeable = False
    check(name, array, 1e-5)
    array = sample()
    array.flags.writeable = False
    check(name, array, 1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float16_is_computed_in_float32_and_rounded_once(name):
    check(name, sample(np.float16), 2e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name, value):
    array = sample()
    array[2, 3] = value
    array[4] = value
    check(name, array, 1e-5)


def test_labels_out_of_range_are_refused(with_numba):
    x = sample()
    for label in (17, -18):
        with pytest.raises(IndexError, match=f"index {label} is out of bounds"):
            F.softmax_cross_entropy(x, np.full(7, label, np.int32))
    expected = both((), lambda x: F.softmax_cross_entropy(x, np.full(7, 14, np.int32)), x)
    actual = both(("numba",), lambda x: F.softmax_cross_entropy(x, np.full(7, -3, np.int32)), x)
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_rows_out_of_range_are_refused(with_numba):
    W = chainer.Variable(sample())
    y = F.embed_id(np.array([0, 6], np.int32), W)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_array_equal(W.grad[[0, 6]], 1)
    np.testing.assert_array_equal(W.grad[1:6], 0)
    a = np.zeros((3, 2), np.float32)
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        F.scatter_add(a, (np.array([0, 3]),), np.ones((2, 2), np.float32))


def test_a_seed_gives_the_same_masks():
    x = np.ones((300, 301), np.float32)
    masks = []
    for kernels in ((), ("numba",)):
        np.random.seed(0)
        with chainer.using_config("kernels", kernels):
            masks.append(F.dropout(x, 0.3).array)
    np.testing.assert_array_equal(*masks)
