"""Iterator that reads examples in other processes."""

from __future__ import annotations

import multiprocessing
import os
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from chainer.core.typing import DatasetLike
from chainer.core.utils.start_method import default_start_method
from chainer.links.loaded_state import load_optional
from chainer.training.iterators.iteration_state import Segment
from chainer.training.iterators.multithread_iterator import example_indexes
from chainer.training.iterators.order_samplers import OrderSamplerLike, example_seeds, random_key
from chainer.training.iterators.prefetch_iterator import PrefetchIterator
from chainer.training.iterators.worker_pool import WorkerDied, WorkerPool

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class TimeoutWarning(RuntimeWarning):
    """Reading a batch takes longer than ``dataset_timeout``."""


class MultiprocessIterator(PrefetchIterator):
    """Dataset iterator that loads examples in parallel.

    This is an implementation of :class:`~chainer.dataset.Iterator` that loads examples with worker
    processes. It uses the standard :mod:`multiprocessing` module to parallelize the loading. The
    dataset is sent to the worker processes in the standard way: inherited where the start method is
    ``fork``, else using pickle. ``multiprocessing.set_start_method``, called before the iterator is
    made, decides on the start method; the default is ``fork`` on Linux, in all versions of Python,
    and ``spawn`` elsewhere. The first :meth:`next` starts the processes.

    Note that this iterator effectively prefetches the examples for the next batch asynchronously
    after the current batch is returned.

    Arrays come back through shared memory. An exception of the dataset is raised by :meth:`next`,
    with the traceback of the worker. Before each example a worker seeds ``numpy.random`` and
    ``random`` by a seed of the iterator, the epoch and the position, so that random augmentation
    depends neither on the number of processes nor on chance: a run that is resumed in the middle
    sees the very examples that it would have seen without the interruption.

    Call :meth:`finalize`, or use the iterator in a ``with`` statement, to end the processes. They
    also end when the iterator is garbage, and when the main process ends, even if it is killed.

    This iterator saves ``-1`` instead of ``None`` in snapshots since some serializers do not
    support ``None``.

    Args:
        dataset (Dataset): Dataset to iterate.
        batch_size (int): Number of examples within each batch.
        repeat, shuffle (bool): As for :class:`~chainer.iterators.SerialIterator`.
        n_processes (int): Number of worker processes. If it is ``None`` or 0, the number of CPUs
            that this process may use.
        n_prefetch (int): Number of prefetch batches, at least one.
        shared_mem (int): The size of using shared memory per data, in bytes. If ``None``, size is
            adjusted automatically. If 0, examples come through pipes.
        order_sampler (callable): Makes the order of each epoch instead, see
            :class:`~chainer.iterators.OrderSampler`.
        dataset_timeout (float): Seconds of waiting for a batch after which
            :class:`MultiprocessIterator.TimeoutWarning` is issued. ``None`` to disable the warning.
            Turn it into an error by ``warnings.simplefilter('error',
            MultiprocessIterator.TimeoutWarning)``.
        maxtasksperchild (int): Number of pieces of a batch a worker process reads before it is
            replaced by a fresh one, against datasets that leak memory. ``None`` for never.

    Raises:
        ValueError: If ``batch_size``, ``maxtasksperchild`` or ``dataset_timeout`` is not positive,
            or ``n_processes`` or ``shared_mem`` is negative.

    Example:
        >>> data = list(range(6))
        >>> iterator = chainer.iterators.MultiprocessIterator(data, 3, shuffle=False)
        >>> with iterator:
        ...     next(iterator)
        [0, 1, 2]
    """

    TimeoutWarning = TimeoutWarning

    _worker_attributes = ("_finalized", "_pool", "_pool_finalizer")

    def __init__(
        self,
        dataset: DatasetLike,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int = 1,
        shared_mem: int | None = None,
        order_sampler: OrderSamplerLike | None = None,
        dataset_timeout: float | None = 30.0,
        maxtasksperchild: int | None = None,
    ) -> None:
        for name, value, least in (
            ("n_processes", n_processes, 0),
            ("shared_mem", shared_mem, 0),
            ("maxtasksperchild", maxtasksperchild, 1),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")
        if dataset_timeout is not None and not dataset_timeout > 0:
            raise ValueError(f"dataset_timeout must be positive or None, got {dataset_timeout}")
        # As in earlier releases, anything below one batch counts as one.
        self.n_prefetch = max(1, n_prefetch)
        # Release 7 reads one batch more, which waits until the queue has a place. The order of an
        # epoch is drawn then, so random numbers of the program depend on it.
        n_ahead = self.n_prefetch + 1
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_ahead)
        self.n_processes = n_processes or _usable_cpus()
        self.shared_mem = shared_mem
        self.dataset_timeout = dataset_timeout
        self._maxtasksperchild = maxtasksperchild
        # Asked for here: other code that makes processes or locks of multiprocessing, such as tqdm,
        # fixes the default of Python.
        self._start_method = default_start_method()
        # Seed of the examples: workers cannot draw from the generator of this process.
        self._random_key = random_key()
        self._finalized = False
        self._pool: WorkerPool | None = None
        self._pool_finalizer: weakref.finalize[Any, Any] | None = None

    def _submit(self, segments: list[Segment]) -> list[int]:
        pool = self._pool or self._start_pool()
        indexes: list[int] = []
        seeds: list[int] = []
        for segment in segments:
            in_segment = example_indexes(segment)
            indexes += in_segment
            seeds += example_seeds(self._random_key, segment.epoch, segment.start, len(in_segment))
        # One piece for each process: fewer would leave some idle, more would cost messages.
        size = self._piece_size()
        return [
            pool.submit(indexes[start : start + size], seeds[start : start + size])
            for start in range(0, len(indexes), size)
        ]

    # Rounded up, so that the last process has less to do than the others.
    def _piece_size(self) -> int:
        return -(-self.batch_size // self.n_processes)

    def _start_pool(self) -> WorkerPool:
        buffer_size = self.shared_mem and self.shared_mem * self._piece_size()
        self._pool = WorkerPool(
            *(multiprocessing.get_context(self._start_method), self.dataset, self.n_processes),
            *(buffer_size, self._maxtasksperchild),
        )
        self._pool_finalizer = weakref.finalize(self, self._pool.close)
        return self._pool

    def _collect(self, handle: list[int]) -> list[Any]:
        pool = self._pool
        assert pool is not None, "a batch was submitted without a pool"
        batch: list[Any] = []
        try:
            for number in handle:
                batch += pool.result(number, self.dataset_timeout, self._warn_of_timeout)
        except WorkerDied:
            # The other workers have pieces of batches that will not be complete.
            self._end_workers()
            raise
        return batch

    def _warn_of_timeout(self) -> None:
        warnings.warn(
            f"a worker process has taken more than {self.dataset_timeout} seconds "
            "(dataset_timeout) to read its part of a batch. It may be in a deadlock, for instance "
            "after a library that uses threads was imported before the process was forked",
            TimeoutWarning,
            stacklevel=6,
        )

    def _cancel(self, handle: list[int]) -> None:
        if self._pool is not None:
            for number in handle:
                self._pool.cancel(number)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal state of the iterator and the seed of the examples.

        Args:
            serializer: Serializer or deserializer.
        """
        super().serialize(serializer)
        # Files of earlier releases and of the other iterators do not have the seed.
        self._random_key = load_optional(serializer, "random_key", self._random_key.copy())

    def reset(self) -> None:
        """Goes back to the beginning; shuffles again if the iterator shuffles.

        Raises:
            NotImplementedError: If the iterator was finalized.
        """
        if self._finalized:
            # Programs that reuse an iterator catch this error and make a new one.
            raise NotImplementedError(
                "reset() of a finalized MultiprocessIterator is not supported; make a new one"
            )
        super().reset()

    def finalize(self) -> None:
        """Ends the worker processes. The iterator may be used again, which starts new ones.

        Only :meth:`reset` is refused from now on.
        """
        self._finalized = True
        self._end_workers()

    def _end_workers(self) -> None:
        self._discard()
        end_pool, self._pool_finalizer = self.__dict__.get("_pool_finalizer"), None
        self._pool = None
        if end_pool is not None:
            end_pool()


def _usable_cpus() -> int:
    # In a container this is less than the number of processors of the machine.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
