"""Rules that rearrange views give leaves gradients of their own."""

import numpy as np
import pytest

import chainer
from chainer import functions as F

CASES = {
    "swapaxes": lambda x: F.swapaxes(x, 0, 2),
    "pad": lambda x: F.pad(x, 1, "constant"),
    "wide pad": lambda x: F.pad(x, 9, "constant"),
    "transpose": lambda x: F.transpose(x, (2, 0, 1)),
    "reshape": lambda x: F.reshape(x, (3, 8)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_not_shared(name):
    x = chainer.Variable(np.zeros((2, 3, 4), np.float32))
    y = CASES[name](x)
    gy = y.grad = np.arange(y.size, dtype=np.float32).reshape(y.shape)
    y.backward()
    (expected,) = chainer.grad([y], [x], [chainer.Variable(gy)], enable_double_backprop=True)
    np.testing.assert_array_equal(x.grad, expected.array)
    assert not np.shares_memory(x.grad, gy)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_pad_modes(mode):
    x = chainer.Variable(np.arange(4, dtype=np.float64))
    y = F.pad(x, (2, 1), mode)
    gy = y.grad = np.array([1.0, 2, 4, 8, 16, 32, 64])
    y.backward()
    origin = np.pad(np.arange(4), (2, 1), mode)
    expected = np.bincount(origin, weights=gy)
    np.testing.assert_array_equal(x.grad, expected)
