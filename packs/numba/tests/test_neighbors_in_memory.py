"""Bits do not depend on where arrays lie: LLVM compares addresses before it runs vector code."""

import math

import chainer
import chainer.functions as F
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("any_size", "with_numba")

FUNCTIONS = {
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "softmax of positions": lambda x: F.softmax(F.reshape(x, (*x.shape, 1)), axis=0),
    "cross entropy": lambda x: F.softmax_cross_entropy(x, np.arange(len(x)) % 3),
    "cross entropy, scores dropped": lambda x: F.softmax_cross_entropy(
        x, np.arange(len(x)) % 3, cache_score=False
    ),
    "prelu": lambda x: F.prelu(x, np.full(x.shape[1:], 0.25, "f")),
    "prelu of channels": lambda x: F.prelu(F.reshape(x, (2, 3, -1)), np.full(3, 0.25, "f")),
    "swish": lambda x: F.swish(x, np.full(x.shape[1:], 0.5, "f")),
    "swish of channels": lambda x: F.swish(F.reshape(x, (2, 3, -1)), np.full(3, 0.5, "f")),
    "layer normalization": lambda x: F.layer_normalization(x, *_scales(x.shape[1])),
    "group normalization": lambda x: F.group_normalization(
        F.reshape(x, (2, 3, -1)), 3, *_scales(3)
    ),
    "batch normalization": lambda x: F.batch_normalization(x, *_scales(x.shape[1])),
    "normalization of channels": lambda x: F.batch_normalization(
        F.reshape(x, (2, 3, -1)), *_scales(3)
    ),
    "gelu": F.gelu,
    "softplus": F.softplus,
    "elu": F.elu,
    "crelu": F.crelu,
    "lstm": lambda x: sum(F.lstm(x[:, :1], F.tile(x[:, :1], (1, 4)))),
    "maxima": lambda x: F.max_pooling_1d(F.reshape(x, (2, 3, -1)), 3, 1),
    "averages": lambda x: F.average_pooling_1d(F.reshape(x, (2, 3, -1)), 3, 1),
    "linear": lambda x: F.linear(x, _array((7, x.shape[1])), np.zeros(7, "f")),
}


def _array(shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype("f")


def _scales(size):
    return _array((2, size)) + 1


class Pool:
    """Memory in which arrays lie one after the other, with a gap."""

    def __init__(self, gap):
        self._memory = np.zeros(1 << 22, np.float32)
        self._next = -self._memory.ctypes.data % 64 // 4
        self._gap = gap
        self._numpy = np.empty

    def empty(self, shape, dtype=float, order="C"):
        if np.dtype(dtype) != np.float32 or order != "C":
            return self._numpy(shape, dtype, order)
        size = math.prod(shape) if isinstance(shape, tuple) else int(shape)
        start = self._next
        self._next = start + size + self._gap
        return self._memory[start : start + size].reshape(shape)


def results(function, pool, data):
    """Returns the bytes of the output and of the gradient, with arrays of a pool."""
    x = pool.empty(data.shape, np.float32)
    x[...] = data
    x = chainer.Variable(x)
    y = function(x)
    F.sum(y * y).backward()
    return y.array.tobytes(), x.grad.tobytes()


@pytest.mark.parametrize("columns", [4, 20, 37])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_do_not_depend_on_the_place_of_arrays(name, columns, monkeypatch):
    data = _array((6, columns)) * 3
    function = FUNCTIONS[name]
    results(function, Pool(0), data)  # compiled before numpy.empty is another function
    found = []
    for gap in (4096, 0, 1, 4, 7, 8, 12, 16, 31):
        pool = Pool(gap)
        with monkeypatch.context() as patch:
            patch.setattr(np, "empty", pool.empty)
            found.append(results(function, pool, data))
    assert set(found) == {found[0]}
