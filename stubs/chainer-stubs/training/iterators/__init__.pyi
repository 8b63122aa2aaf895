# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.iterators import (
    buffer_pool as buffer_pool,
    dali_iterator as dali_iterator,
    iteration_state as iteration_state,
    more_samplers as more_samplers,
    multiprocess_iterator as multiprocess_iterator,
    multithread_iterator as multithread_iterator,
    order_samplers as order_samplers,
    prefetch_iterator as prefetch_iterator,
    serial_iterator as serial_iterator,
    shared_buffer as shared_buffer,
    worker as worker,
    worker_pool as worker_pool,
)
from chainer.training.iterators.dali_iterator import DaliIterator as DaliIterator
from chainer.training.iterators.more_samplers import (
    BucketOrderSampler as BucketOrderSampler,
    WeightedOrderSampler as WeightedOrderSampler,
)
from chainer.training.iterators.multiprocess_iterator import (
    MultiprocessIterator as MultiprocessIterator,
)
from chainer.training.iterators.multithread_iterator import (
    MultithreadIterator as MultithreadIterator,
)
from chainer.training.iterators.order_samplers import (
    OrderSampler as OrderSampler,
    ShuffleOrderSampler as ShuffleOrderSampler,
)
from chainer.training.iterators.serial_iterator import SerialIterator as SerialIterator

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
