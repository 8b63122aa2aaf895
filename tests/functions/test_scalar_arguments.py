"""Numbers of NumPy as arguments: they count as those of Python, also for dtypes."""

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable

FLOATS = {
    "clip": lambda x, number: F.clip(x, number(-0.5), number(0.5)),
    "clip, lower": lambda x, number: F.clip(x, number(-0.5), None),
    "clipped_relu": lambda x, number: F.clipped_relu(x, number(0.75)),
    "leaky_relu": lambda x, number: F.leaky_relu(x, number(0.25)),
    "huber_loss": lambda x, number: F.huber_loss(x, x.array * 2, number(0.5), reduce="no"),
    "elu": lambda x, number: F.elu(x, number(0.5)),
    "selu": lambda x, number: F.selu(x, number(1.5), number(1.25)),
    "softplus": lambda x, number: F.softplus(x, number(2)),
    "normalize": lambda x, number: F.normalize(x, number(0.5)),
    "operators": lambda x, number: (x * number(2) + number(1)) ** number(2) / number(3),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("double", [False, True])
def test_floats(name, dtype, number, double):
    results = []
    for convert in (float, number):
        x = Variable(np.array([[-1, -0.25, 0.25], [0.5, 1, 2]], dtype))
        y = FLOATS[name](x, convert)
        assert y.dtype == dtype
        y.grad = np.ones_like(y.array)
        y.backward(enable_double_backprop=double)
        results.append((y.array, x.grad))
    np.testing.assert_array_equal(*[y for y, _ in results])
    np.testing.assert_array_equal(*[gx for _, gx in results])


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INTS = {
    "softmax": lambda i: F.softmax(X, axis=i(1)),
    "log_softmax": lambda i: F.log_softmax(X, axis=i(2)),
    "normalize": lambda i: F.normalize(X, axis=(i(1), i(2))),
    "tensordot, axes": lambda i: F.tensordot(X, X, axes=(i(1), i(1))),
    "tensordot, lists of axes": lambda i: F.tensordot(X, X, axes=([i(0), i(1)], [i(0), i(1)])),
    "tensordot, number": lambda i: F.tensordot(X, X.T, axes=i(1)),
    "sum": lambda i: F.sum(X, axis=i(1)),
    "max": lambda i: F.max(X, axis=(i(0), i(-1))),
    "average": lambda i: F.average(X, axis=i(1), weights=np.ones(3, np.float32)),
    "argmax": lambda i: F.argmax(X, axis=i(1)),
    "cumsum": lambda i: F.cumsum(X, axis=i(1)),
    "cumprod": lambda i: F.cumprod(X, axis=i(1)),
    "squeeze": lambda i: F.squeeze(X[None], axis=(i(0),)),
    "concat": lambda i: F.concat([X, X], axis=i(1)),
    "split_axis": lambda i: F.split_axis(X, 2, axis=i(2))[1],
    "crelu": lambda i: F.crelu(X, axis=i(1)),
    "swapaxes": lambda i: F.swapaxes(X, i(0), i(1)),
    "rollaxis": lambda i: F.rollaxis(X, i(2), i(0)),
    "roi_pooling_2d": lambda i: F.roi_pooling_2d(
        X[None], np.array([[0, 0, 0, 3, 2]], np.float32), i(2), i(2), 1.0
    ),
    "batch_normalization": lambda i: F.batch_normalization(
        X, np.ones(4, np.float32), np.zeros(4, np.float32), axis=(i(0), i(1))
    ),
    "depth2space": lambda i: F.depth2space(X.reshape(1, 4, 2, 3), i(2)),
    "space2depth": lambda i: F.space2depth(X.reshape(1, 1, 4, 6), i(2)),
}


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("number", [np.int64, np.int8])
def test_ints(name, number):
    np.testing.assert_array_equal(INTS[name](number).array, INTS[name](int).array)


@pytest.mark.parametrize("name", [name for name in INTS if name != "average"])
@pytest.mark.parametrize("number", [float, str, lambda i: [[i]]])
def test_other_than_ints(name, number):
    with pytest.raises((TypeError, ValueError), match=r"(?i)\bint|\binteger"):
        INTS[name](number)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: F.clip(X, "0", 1), "x_min"),
        (lambda: F.clip(X, 0, X), "x_max"),
        (lambda: F.clipped_relu(X, None), "z"),
        (lambda: F.leaky_relu(X, "0.1"), "slope"),
        (lambda: F.huber_loss(X, X, [1.0]), "delta"),
    ],
)
def test_other_than_numbers(call, name):
    with pytest.raises(TypeError, match=f"{name} must be a number, got "):
        call()
