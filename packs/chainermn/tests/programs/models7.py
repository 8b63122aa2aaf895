"""The communicator, a model and its examples for comparisons with release 7.8.1."""

import chainermn
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators

comm = chainermn.create_communicator("naive")
rank, size = comm.rank, comm.size
last, following, before = size - 1, (rank + 1) % size, (rank - 1) % size


def error(call, *arguments, **keywords):
    """Returns the name of the class of the exception."""
    try:
        call(*arguments, **keywords)
    except Exception as exception:
        return type(exception).__name__
    return "no error"


def array(*shape, **keywords):
    dtype = np.dtype(keywords.get("dtype", "f"))
    return (np.arange(int(np.prod(shape))).reshape(shape) + 10 * rank).astype(dtype)


class Net(chainer.Chain):
    def __init__(self, dtype=np.float32):
        super().__init__()
        with self.init_scope(), chainer.using_config("dtype", dtype):
            self.first = L.Linear(3, 4, initialW=np.arange(12).reshape(4, 3).astype(dtype) / 10)
            self.norm = L.BatchNormalization(4)
            self.second = L.Linear(4, 2, initialW=np.ones((2, 4), dtype))

    def forward(self, x):
        return self.second(F.relu(self.norm(self.first(x))))


def batch(count=6, dtype="f"):
    state = np.random.RandomState(rank)
    return state.randn(count, 3).astype(dtype), state.randint(0, 2, count).astype("i")


def iterator_of(count=5):
    data = [tuple(example) for example in zip(*batch(count))]
    return iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
