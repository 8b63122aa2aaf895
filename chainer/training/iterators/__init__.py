"""Iterators, which cut minibatches out of datasets (``chainer.iterators``).

``MODULES`` is the table of public names: module -> names in it.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

#: Imported at first use: worker processes need modules that most programs do not.
MODULES = {
    "dali_iterator": ("DaliIterator",),
    "multiprocess_iterator": ("MultiprocessIterator",),
    "multithread_iterator": ("MultithreadIterator",),
    "more_samplers": ("BucketOrderSampler", "WeightedOrderSampler"),
    "order_samplers": ("OrderSampler", "ShuffleOrderSampler"),
    "serial_iterator": ("SerialIterator",),
}

__getattr__, __dir__ = lazy_module(globals(), registry=registries.iterators)
