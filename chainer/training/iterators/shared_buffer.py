"""Passing examples from a worker process to the main process through shared memory."""

from __future__ import annotations

import itertools
import mmap
import os
import pickle
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, cast

import numpy

from chainer.training.iterators.buffer_pool import BufferPool

_ALIGNMENT = 64

_numbers = itertools.count()


class Offer(NamedTuple):
    """Shared memory of a worker, as described to it with each task.

    Attributes:
        name: Name of the memory; another one for each memory of this process.
        size: Number of bytes; 0 for no memory.
        comes: Whether a descriptor of the memory follows the message.
    """

    name: str
    size: int
    comes: bool


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
        packed: Result of :func:`pack`.
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

    The memory never has a file: a worker gets its descriptor through the pipe. So the system gives
    the memory back as soon as both processes have ended, even if all of them are killed at once.

    Args:
        size: Number of bytes; 0 for none.
    """

    def __init__(self, size: int) -> None:
        self._map: mmap.mmap | None = None
        self._view: memoryview | None = None
        self._descriptor: int | None = None
        self._name = ""
        self.failed = False
        #: Size that was asked for, in bytes.
        self.wanted = size
        if size:
            self._allocate(size)

    @property
    def view(self) -> memoryview | None:
        """The memory."""
        return self._view

    def offer(self) -> Offer:
        """Returns what the worker needs to attach the memory; :meth:`send` is to follow."""
        size = 0 if self._view is None else len(self._view)
        return Offer(self._name, size, self._descriptor is not None)

    def send(self, pipe: Connection[Any, Any]) -> None:
        """Sends the descriptor of the memory to the worker, once."""
        if self._descriptor is not None:
            with socket.socket(fileno=os.dup(pipe.fileno())) as end:
                socket.send_fds(end, [b"m"], [self._descriptor])
            self._close_descriptor()

    def grow(self, size: int) -> None:
        """Replaces the memory by a larger one, unless it is as large as that."""
        if size <= self.wanted:
            return
        self.close()
        self.wanted = size
        if not self.failed:
            self._allocate(size + size // 4)

    def _allocate(self, size: int) -> None:
        self._name = f"chainer-{os.getpid()}-{next(_numbers)}"
        try:
            self._map, self._descriptor = _allocated(self._name, size)
        except OSError as error:
            self.failed = True
            warnings.warn(
                f"{size} bytes of shared memory cannot be allocated ({error}); "
                "MultiprocessIterator sends examples through pipes instead, which is slower. "
                "shared_mem=0 does so without this warning",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        self._view = memoryview(self._map)
        self._view[:] = bytes(size)  # takes the pages now, not in the worker

    def for_another_worker(self) -> SharedBuffer:
        """Returns memory of the same size for the worker that replaces the one of this memory."""
        size = 0 if self.view is None else len(self.view)
        self.close()
        buffer = SharedBuffer(0 if self.failed else size)
        buffer.failed = buffer.failed or self.failed
        buffer.wanted = self.wanted
        return buffer

    def _close_descriptor(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def close(self) -> None:
        """Gives the memory back."""
        self._close_descriptor()
        if self._view is not None and self._map is not None:
            self._view.release()
            self._map.close()
        self._view = self._map = None


def _allocated(name: str, size: int) -> tuple[mmap.mmap, int | None]:
    """Returns new memory and a descriptor of it; None on Windows, where the name is enough."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size, tagname=name), None
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        # Without space this fails; writing to the memory would kill the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size), descriptor
    except BaseException:
        os.close(descriptor)
        raise


class AttachedBuffer:
    """The shared memory as a worker sees it: the two buffers that were used last."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}
        self._view: memoryview | None = None

    def attach(self, offer: Offer, pipe: Connection[Any, Any]) -> memoryview | None:
        """Returns the memory that is offered, which may change from task to task."""
        if self._view is not None:
            self._view.release()
            self._view = None
        if offer.size == 0:
            return None
        memory = self._maps.pop(offer.name, None)
        if memory is None:
            if len(self._maps) == 2:
                # The one that was used longest ago is the one that was replaced.
                self._maps.pop(next(iter(self._maps))).close()
            memory = _attached(offer, pipe)
        self._maps[offer.name] = memory
        self._view = memoryview(memory)
        return self._view


def _attached(offer: Offer, pipe: Connection[Any, Any]) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, offer.size, tagname=offer.name)
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        _, (descriptor,), _, _ = socket.recv_fds(end, 1, 1)
    try:
        return mmap.mmap(descriptor, offer.size)
    finally:
        os.close(descriptor)
