"""Iterator that reads examples in threads."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from chainer.core.typing import DatasetLike
from chainer.training.iterators.iteration_state import Segment
from chainer.training.iterators.order_samplers import OrderSamplerLike
from chainer.training.iterators.prefetch_iterator import PrefetchIterator

#: Names of the threads begin with it.
_THREAD_NAME = "MultithreadIterator"


class MultithreadIterator(PrefetchIterator):
    """Dataset iterator that loads examples in parallel.

    This is an implementation of :class:`~chainer.dataset.Iterator` that loads examples with worker
    threads. It uses the standard :mod:`threading` module to parallelize the loading. Threads run in
    parallel only where the dataset releases the global interpreter lock, as reading files and
    decoding images does.

    Note that this iterator effectively prefetches the examples for the next batch asynchronously
    after the current batch is returned.

    This iterator saves ``-1`` instead of ``None`` in snapshots since some serializers do not
    support ``None``. A resumed run sees the very examples that it would have seen without the
    interruption.

    Args:
        dataset: Dataset to iterate. It must allow to be indexed by several threads at once.
        batch_size (int): Number of examples within each batch.
        repeat, shuffle (bool): As for :class:`~chainer.iterators.SerialIterator`.
        n_threads (int): Number of worker threads.
        order_sampler (callable): Makes the order of each epoch instead, see
            :class:`~chainer.iterators.OrderSampler`.

    Raises:
        ValueError: If ``batch_size`` or ``n_threads`` is not positive.

    Example:
        >>> data = list(range(6))
        >>> with chainer.iterators.MultithreadIterator(data, 3, shuffle=False) as iterator:
        ...     print(next(iterator), next(iterator), iterator.epoch)
        ...
        [0, 1, 2] [3, 4, 5] 1
    """

    # The name under which earlier releases save the order.
    _order_name = "_order"

    _worker_attributes = ("_executor",)

    def __init__(
        self,
        dataset: DatasetLike,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_threads: int = 1,
        order_sampler: OrderSamplerLike | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_prefetch=1)
        if n_threads < 1:
            raise ValueError(f"n_threads must be positive, got {n_threads}")
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def _submit(self, segments: list[Segment]) -> list[Future[list[Any]]]:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.n_threads, _THREAD_NAME)
            weakref.finalize(self, self._executor.shutdown, wait=False, cancel_futures=True)
        indexes = [index for segment in segments for index in example_indexes(segment)]
        # A few pieces for each thread: little overhead, and no thread waits long for another.
        size = max(1, len(indexes) // (4 * self.n_threads))
        return [
            self._executor.submit(_read, self.dataset, indexes[start : start + size])
            for start in range(0, len(indexes), size)
        ]

    def _collect(self, handle: list[Future[list[Any]]]) -> list[Any]:
        return [example for future in handle for example in future.result()]

    def _cancel(self, handle: list[Future[list[Any]]]) -> None:
        for future in handle:
            future.cancel()

    def finalize(self) -> None:
        """Ends the threads. The iterator may be used again, which starts new ones."""
        self._discard()
        executor, self._executor = self.__dict__.get("_executor"), None
        if executor is not None:
            # The garbage collector may call this method in any thread. One of the executor cannot
            # wait for itself.
            is_own = threading.current_thread().name.startswith(_THREAD_NAME)
            executor.shutdown(wait=not is_own, cancel_futures=True)


def example_indexes(segment: Segment) -> list[int]:
    """Returns the indexes of the examples of a segment."""
    if isinstance(segment.indexes, slice):
        return list(range(segment.indexes.start, segment.indexes.stop))
    return segment.indexes.tolist()


def _read(dataset: DatasetLike, indexes: list[int]) -> list[Any]:
    return [dataset[index] for index in indexes]
