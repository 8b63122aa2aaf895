"""Passing examples from a worker process to the main process through shared memory."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple, cast

import numpy

from chainer.training.iterators.buffer_pool import BufferPool

_ALIGNMENT = 64
_DIRECTORY = "/dev/shm"


class Packed(NamedTuple):
    """Examples on their way.

    Attributes:
        head: The pickled examples without the contents of their arrays.
        sizes: Number of bytes of each array.
        contents: Contents of the arrays; None where they are in the shared buffer, or all empty.
    """

    head: bytes
    sizes: list[int]
    contents: list[bytes] | None

    @property
    def total(self) -> int:
        """Number of bytes the arrays take in a shared buffer."""
        return sum(-size % _ALIGNMENT + size for size in self.sizes)


def _windows(buffer: memoryview, sizes: list[int]) -> Iterator[memoryview]:
    start = 0
    for size in sizes:
        yield buffer[start : start + size]
        start += -size % _ALIGNMENT + size


def pack(examples: list[Any], shared: memoryview | None) -> Packed:
    """Packs examples (in the worker process).

    Args:
        examples: Examples: anything that can be pickled.
        shared: Shared buffer, which the contents of arrays are written to if it is large enough.
    """
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(examples, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    packed = Packed(head, [view.nbytes for view in raw], None)
    if packed.total > (0 if shared is None else len(shared)):
        return packed._replace(contents=[bytes(view) for view in raw])
    if shared is not None:
        for window, view in zip(_windows(shared, packed.sizes), raw):
            window[:] = view
    return packed


def unpack(packed: Packed, shared: memoryview | None, pool: BufferPool) -> list[Any]:
    """Unpacks examples (in the main process). Their arrays share nothing with the buffer.

    Args:
        packed: What :func:`pack` returned.
        shared: Shared buffer, or None if there was none.
        pool: Source of the memory of the arrays.
    """
    if packed.contents is not None:
        # Arrays made of bytes are read-only, unlike those a dataset returns.
        return pickle.loads(packed.head, buffers=map(bytearray, packed.contents))
    copy = pool.take(packed.total)
    if shared is not None and packed.total:
        copy[:] = numpy.frombuffer(shared, numpy.uint8, packed.total)
    return pickle.loads(packed.head, buffers=_windows(memoryview(cast("Any", copy)), packed.sizes))


class SharedBuffer:
    """Shared memory that belongs to one worker, owned by the main process.

    Args:
        size: Number of bytes; 0 for none.
    """

    def __init__(self, size: int) -> None:
        self._memory: SharedMemory | None = None
        self.failed = False
        #: Size that was asked for, in bytes.
        self.wanted = size
        self._named = False
        if size:
            self._allocate(size)

    @property
    def name(self) -> str | None:
        """Name by which the worker finds the memory; None if there is none."""
        return None if self._memory is None else self._memory.name

    @property
    def view(self) -> memoryview | None:
        """The memory."""
        return None if self._memory is None else self._memory.buf

    def grow(self, size: int) -> None:
        """Replaces the memory by a larger one, unless it is as large as that."""
        if size <= self.wanted:
            return
        self.close()
        self.wanted = size
        if not self.failed:
            self._allocate(size + size // 4)

    def _allocate(self, size: int) -> None:
        if os.path.isdir(_DIRECTORY):
            status = os.statvfs(_DIRECTORY)
            if status.f_bavail * status.f_frsize < 2 * size:
                # Writing to shared memory beyond the limit would kill the process.
                self.failed = True
                warnings.warn(
                    f"{_DIRECTORY} has no space for {size} bytes of shared memory; "
                    "MultiprocessIterator sends examples through pipes instead, which is slower. "
                    "Make it larger (--shm-size of a container), or set shared_mem=0",
                    RuntimeWarning,
                    stacklevel=2,
                )
                return
        self._memory = SharedMemory(create=True, size=size)
        view: Any = self._memory.buf
        view[:] = bytes(len(view))  # takes the pages now, not in the worker
        self._named = True

    def remove_name(self) -> None:
        """Removes the file of the memory, which the worker has attached.

        Without a file the system gives the memory back as soon as both processes have ended, even
        if all of them, the resource tracker included, are killed at once.
        """
        if self._memory is not None and self._named:
            self._memory.unlink()
            self._named = False

    def for_another_worker(self) -> SharedBuffer:
        """Returns memory of the same size for the worker that replaces the one of this memory."""
        size = 0 if self.view is None else len(self.view)
        self.close()
        buffer = SharedBuffer(0 if self.failed else size)
        buffer.failed = buffer.failed or self.failed
        buffer.wanted = self.wanted
        return buffer

    def close(self) -> None:
        """Gives the memory back."""
        self.remove_name()
        if self._memory is not None:
            self._memory.close()
            self._memory = None


class AttachedBuffer:
    """The shared memory as a worker sees it: the two buffers that were used last."""

    def __init__(self) -> None:
        self._memories: list[SharedMemory] = []

    def attach(self, name: str | None) -> memoryview | None:
        """Returns the memory of the name, which may change from task to task."""
        if name is None:
            return None
        for memory in self._memories:
            if memory.name == name:
                # The one that was used longest ago is the one that is replaced.
                self._memories.remove(memory)
                self._memories.append(memory)
                return memory.buf
        if len(self._memories) == 2:
            self._memories.pop(0).close()
        # The main process owns it; only since Python 3.13 the tracker can be told so. Before, all
        # processes share one tracker, which forgets it when the main process gives it back.
        untracked: dict[str, Any] = {"track": False} if sys.version_info >= (3, 13) else {}
        self._memories.append(SharedMemory(name=name, **untracked))
        return self._memories[-1].buf
