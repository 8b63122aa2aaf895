"""Splitting work into chunks that need little memory and fit into the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator


def chunks(count: int, bytes_each: int, most_bytes: int = 1 << 18) -> Iterator[slice]:
    """Yields the slices that split items into chunks.

    Args:
        count: Number of items.
        bytes_each: Memory that the work on one item takes, in bytes.
        most_bytes: Memory that the work on a chunk may take, in bytes. The default, 256 KiB, fits
            into the second-level cache of common processors. A chunk has at least one item.
    """
    size = max(1, min(count, most_bytes // max(bytes_each, 1)))
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def chunk_bytes(nbytes: int, parts: int) -> int:
    """Returns the memory for a chunk of work on an array, so that it hardly adds to the peak.

    Args:
        nbytes: Memory of the array, in bytes.
        parts: A chunk may take ``1 / parts`` of that memory.

    Returns:
        int: 4 KiB to 64 KiB. Smaller chunks are slow, because each costs a few calls; larger ones
            do not fit into the cache.
    """
    return min(max(nbytes // parts, 1 << 12), 1 << 16)
