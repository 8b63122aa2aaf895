"""Views of memory."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_value


def _as_strided(x, shape, strides, storage_offset=0):
    y = np.empty(shape)
    memory = x.ravel()
    for index in np.ndindex(*shape):
        y[index] = memory[storage_offset + np.dot(index, strides).astype(int)]
    return y


def _of_own_memory(F, x, **geometry):
    # The formula does not know of memory: the function gets an array that is not a view.
    return F.as_strided(F.flatten(x) * 1, **geometry)


def _error(match, **geometry):
    return invalid_value(match, np.ones(4, np.float32), **geometry)


SPECS = (
    OpSpec(
        "as_strided",
        reference=_as_strided,
        call=_of_own_memory,
        covers=("as_strided",),
        requires=("strides",),
        samples=lambda draw: [
            Sample(draw((4,)), shape=(3, 2), strides=(1, 1), storage_offset=0),
            Sample(draw((2, 3)), shape=(3, 2), strides=(1, 3)),
            Sample(draw((5,)), shape=(2, 2), strides=(0, -2), storage_offset=3),
            Sample(draw((4,)), shape=(), strides=(), storage_offset=2),
            Sample(draw(()), shape=(3,), strides=(0,), kind="zero-dim"),
            Sample(draw((0, 3)), shape=(0,), strides=(1,), kind="empty"),
        ],
        errors=lambda draw: [
            _error("too small index was specified: -1", shape=(2,), strides=(-1,)),
            # Allocations of devices may be larger than the array.
            _error("too large index was specified: 99999", shape=(100000,), strides=(1,)),
            _error("must be the same length", shape=(2,), strides=(1, 1)),
            _error("shape must not be negative", shape=(-1,), strides=(1,)),
        ],
    ),
)
