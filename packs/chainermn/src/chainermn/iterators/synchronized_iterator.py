"""Iterators that draw the same order in all processes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.iterators import ShuffleOrderSampler
from chainermn.communicators.communicator_base import CommunicatorBase


def create_synchronized_iterator(actual_iterator: Any, communicator: CommunicatorBase) -> Any:
    """Makes an iterator draw the same order in all processes. Collective.

    All processes need the same dataset. Afterwards nothing is communicated.

    Args:
        actual_iterator (~chainer.dataset.Iterator): Iterator with an attribute ``order_sampler``,
            such as a :class:`~chainer.iterators.SerialIterator`. It is changed.
        communicator (CommunicatorBase): Communicator.

    Returns:
        The same iterator.

    Raises:
        ValueError: If the iterator has no order sampler.
    """
    if not hasattr(actual_iterator, "order_sampler"):
        raise ValueError(
            "actual_iterator must have an attribute 'order_sampler', which "
            f"{type(actual_iterator).__name__} does not have"
        )
    seed = numpy.random.randint(0, 2**32 - 1, dtype=numpy.uint32)
    seed = communicator.bcast_obj(int(seed))
    actual_iterator.order_sampler = ShuffleOrderSampler(numpy.random.RandomState(seed))
    actual_iterator.reset()
    return actual_iterator
