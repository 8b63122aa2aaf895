"""Host memory that is used again and again for the examples of successive batches."""

from __future__ import annotations

import threading
from typing import Any, cast

import numpy

from chainer.core.typing import HostArray

#: Buffers that wait to be used again. More would only be kept by a program that keeps batches.
_MAX_SPARE = 8


class BufferPool:
    """Source of memory that comes back by itself when no array uses it any more.

    Memory of the size of a batch is new from the operating system each time it is allocated, which
    clears every page at its first use. That takes longer than copying the examples.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spare: list[HostArray] = []

    def take(self, size: int) -> HostArray:
        """Returns an array of bytes with any contents.

        Args:
            size: Number of bytes.
        """
        with self._lock:
            # The newest first, which may still be in the cache of the processor.
            for i in reversed(range(len(self._spare))):
                # Much larger buffers are left for larger batches.
                if size <= self._spare[i].size <= 2 * size:
                    buffer = self._spare.pop(i)
                    break
            else:
                buffer = numpy.empty(size, numpy.uint8)
        lease: Any = _Lease(self, buffer)
        return numpy.asarray(lease)[:size]

    def give_back(self, buffer: HostArray) -> None:
        """Keeps a buffer for the next time."""
        # The garbage collector may call this in a thread that holds the lock. Then the buffer is
        # simply freed, because waiting for the lock would never end.
        if self._lock.acquire(blocking=False):
            if len(self._spare) == _MAX_SPARE:
                del self._spare[0]
            self._spare.append(buffer)
            self._lock.release()

    def __reduce__(self) -> tuple[type[BufferPool], tuple[()]]:
        return BufferPool, ()


class _Lease:
    """Owner of a buffer while arrays use it: they refer to it as their base."""

    def __init__(self, pool: BufferPool, buffer: HostArray) -> None:
        self._pool = pool
        self._buffer = buffer
        self.__array_interface__ = cast("dict[str, Any]", buffer.__array_interface__)

    def __del__(self) -> None:
        self._pool.give_back(self._buffer)
