# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.iterators import *
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

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
