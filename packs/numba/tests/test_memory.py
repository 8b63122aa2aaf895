"""The kernels need no more memory than the reference."""

from __future__ import annotations

import gc
import tracemalloc

import chainer
import chainer.functions as F
import numpy as np
import pytest

#: Python objects: threads, tables of addresses, and the arguments of compiled functions.
OBJECTS = 16 << 10


def array(*shape):
    return np.random.randn(*shape).astype(np.float32)


def vectors(n):
    return np.ones(n, np.float32), np.zeros(n, np.float32)


def regions():
    corners = np.random.rand(20, 2).astype(np.float32) * 10
    return np.concatenate([corners, corners + 10], axis=1), np.arange(20, dtype=np.int32) % 2


def numbered_regions():
    corners, images = regions()
    return np.concatenate([images[:, None].astype(np.float32), corners], axis=1)


X, IMAGES, STATE = array(128, 512), array(2, 16, 32, 32), array(128, 128)
LABELS = np.arange(128, dtype=np.int32)
FUNCTIONS = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "sigmoid": F.sigmoid,
    "elu": F.elu,
    "softplus": F.softplus,
    "hard_sigmoid": F.hard_sigmoid,
    "clipped_relu": F.clipped_relu,
    "crelu": F.crelu,
    "dropout": F.dropout,
    "prelu": lambda x: F.prelu(x, np.ones(512, np.float32)),
    "swish": lambda x: F.swish(x, np.ones(512, np.float32)),
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "cross entropy": lambda x: F.softmax_cross_entropy(x, LABELS),
    "sum": lambda x: F.sum(x * x, axis=0),
    "linear": lambda x: F.linear(x, array(1024, 512), np.ones(1024, np.float32)),
    "layer normalization": lambda x: F.layer_normalization(x, *vectors(512)),
    "batch normalization": lambda x: F.batch_normalization(x, *vectors(512)),
    "scatter_add": lambda x: F.scatter_add(x, (LABELS,), array(128, 512)),
    "lstm": lambda x: F.lstm(STATE, x),
    "slstm": lambda x: F.slstm(STATE, STATE, x, x * 2),
}
IMAGE_FUNCTIONS = {
    "batch normalization": lambda x: F.batch_normalization(x, *vectors(16)),
    "group normalization": lambda x: F.group_normalization(x, 4, *vectors(16)),
    "response normalization": F.local_response_normalization,
    "max pooling": lambda x: F.max_pooling_2d(x, 2),
    "average pooling": lambda x: F.average_pooling_2d(x, 2),
    "unpooling": lambda x: F.unpooling_2d(x, 2, cover_all=False),
    "roi pooling": lambda x: F.roi_pooling_2d(x, numbered_regions(), 7, 7, 1.0),
    "roi max pooling": lambda x: F.roi_max_pooling_2d(x, *regions(), 7, 1.0),
    "roi average pooling": lambda x: F.roi_average_pooling_2d(x, *regions(), 7, 1.0),
    "roi average align": lambda x: F.roi_average_align_2d(x, *regions(), 7, 1.0, 2),
    "roi max align": lambda x: F.roi_max_align_2d(x, *regions(), 7, 1.0, 2),
}
CASES = {
    **{name: (function, X) for name, function in FUNCTIONS.items()},
    **{f"{name} of images": (function, IMAGES) for name, function in IMAGE_FUNCTIONS.items()},
}


def peak(kernels, function, values):
    """Returns the peak of a forward and a backward pass, in bytes; inputs and seeds are not in."""
    with chainer.using_config("kernels", kernels):
        for measured in (False, True):  # the first pass compiles
            np.random.seed(0)
            x = chainer.Variable(values)
            outputs = function(x)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            seeds = [np.ones_like(y.array) for y in outputs]
            del outputs
            x.cleargrad()
            gc.collect()
            if measured:
                tracemalloc.start()
            try:
                outputs = function(x)
                outputs = outputs if isinstance(outputs, tuple) else (outputs,)
                for y, seed in zip(outputs, seeds):
                    y.grad = seed
                outputs[0].backward()
                found = tracemalloc.get_traced_memory()[1] if measured else 0
            finally:
                tracemalloc.stop()
    return found


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("name", CASES)
def test_forward_and_backward_need_no_more_memory_than_the_reference(name):
    function, values = CASES[name]
    expected = peak((), function, values)
    assert expected > 100_000  # else the test could not tell arrays from objects
    assert peak(("numba",), function, values) <= expected + OBJECTS
