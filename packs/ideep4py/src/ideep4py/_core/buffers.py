"""Aligned memory, reused: freed buffers are kept by size and handed out again.

A fresh multi-megabyte buffer costs a page fault for every 4 KiB at its first use, which for a
memory-bound primitive is more than the primitive itself. A training loop asks for the same sizes
in every iteration, so exact sizes are kept. A buffer is a cffi ``void *`` that returns itself to
the pool when the last reference (an array, a NumPy view of it) is dropped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ideep4py._core.library import NULL, ffi, lib

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

_SMALL = 16384
_PAGE = 4096
_HUGE = 4 << 20
_COLOR = 512
_MADV_HUGEPAGE = 14
_gc = ffi.gc
_new_small = ffi.new_allocator(should_clear_after_alloc=False)
_BYTES = ffi.typeof("char[]")  # as an object: cffi would parse the name at every call


def _default_limit() -> int:
    text = os.environ.get("IDEEP4PY_CACHE_BYTES", "")
    if not text:
        return 1 << 30
    if not text.isdigit():
        raise ValueError(f"IDEEP4PY_CACHE_BYTES must be a number of bytes, got {text!r}")
    return int(text)


class _SizeClass:
    """The free buffers of one size."""

    __slots__ = ("free", "release", "size")

    def __init__(self, size: int, release: Callable[[_SizeClass, Any], None]) -> None:
        self.size = size
        self.free: list[Any] = []
        self.release = partial(release, self)  # a call less than a lambda


class Pool:
    """Free buffers by size, at most ``limit`` bytes of them.

    Thread-safe: lists are popped and appended atomically; the lock guards the byte count and
    eviction. It is re-entrant because a garbage collection inside may release a buffer.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.cached = 0
        self._color = 0
        self._classes: dict[int, _SizeClass] = {}
        self._lock = threading.RLock()
        # Kept here: buffers may be freed after the interpreter has cleared this module.
        self._free = lib.free

    def allocate(self, nbytes: int) -> Any:
        """Returns a buffer of at least ``nbytes`` bytes (at least one). Its contents are undefined.

        Aligned to 64 bytes, small ones to 16.
        """
        if nbytes <= _SMALL:
            return _new_small(_BYTES, nbytes or 1)
        size = -(-nbytes // _PAGE) * _PAGE
        found = self._classes.get(size)
        if found is None:
            found = self._classes.setdefault(size, _SizeClass(size, self._release))
        try:
            raw = found.free.pop()
        except IndexError:
            raw = self._new(size)
        else:
            with self._lock:
                self.cached -= size
        return _gc(raw, found.release)

    def _new(self, size: int) -> Any:
        box = ffi.new("void **")
        alignment = 2 << 20 if size >= _HUGE else _PAGE
        total = size + _PAGE
        if lib.posix_memalign(box, alignment, total):
            self.trim()
            if lib.posix_memalign(box, alignment, total):
                raise MemoryError(f"ideep4py: cannot allocate {size} bytes")
        if size >= _HUGE:
            lib.madvise(box[0], total, _MADV_HUGEPAGE)  # only a hint: it may fail
        # Buffers start at different offsets within their pages. Otherwise a load waits for an
        # earlier store to the same offset of another page (4K aliasing), which costs elementwise
        # operations up to 30%.
        self._color = (self._color + 1) % (_PAGE // _COLOR)
        return ffi.cast("char *", box[0]) + self._color * _COLOR

    @staticmethod
    def _base(raw: Any, cast: Any = ffi.cast, page: int = _PAGE) -> Any:
        """Returns the address that was allocated: the start of the page of the buffer."""
        return cast("void *", int(cast("uintptr_t", raw)) & -page)

    def _release(self, size_class: _SizeClass, raw: Any) -> None:
        size = size_class.size
        with self._lock:
            keep = size <= self.limit
            if keep:
                if self.cached + size > self.limit:
                    self._evict(self.limit - size, spare=size_class)
                keep = self.cached + size <= self.limit
            if keep:
                self.cached += size
                size_class.free.append(raw)
        if not keep:
            self._free(self._base(raw))

    def _evict(self, target: int, spare: _SizeClass | None = None) -> None:
        """Frees buffers until at most ``target`` bytes are kept, the oldest size classes first."""
        for size_class in list(self._classes.values()):
            if size_class is spare:
                continue
            while size_class.free and self.cached > target:
                self._free(self._base(size_class.free.pop()))
                self.cached -= size_class.size
            if self.cached <= target:
                return

    def trim(self) -> None:
        """Gives every free buffer back to the operating system."""
        with self._lock:
            self._evict(0)
            for size in [s for s, c in self._classes.items() if not c.free]:
                del self._classes[size]


_pool = Pool(_default_limit())
allocate = _pool.allocate


def cached_bytes() -> int:
    """Bytes in free buffers kept for reuse."""
    return _pool.cached


def release_cached_memory() -> None:
    """Frees the buffers that are kept for reuse (up to ``IDEEP4PY_CACHE_BYTES``, default 1 GiB)."""
    _pool.trim()


def copy_bytes(source: AnyArray, nbytes: int) -> Any:
    """A new buffer with the first ``nbytes`` bytes of ``source``."""
    target = allocate(nbytes)
    if nbytes:
        lib.memcpy(target, source, nbytes)
    return target


__all__ = ["NULL", "Pool", "allocate", "cached_bytes", "copy_bytes", "release_cached_memory"]
