"""Splitting work into blocks that need little memory and stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator


def chunks(count: int, bytes_each: int, most_bytes: int = 1 << 18) -> Iterator[slice]:
    """Yields the slices that split ``count`` items into blocks.

    Args:
        count: Number of items.
        bytes_each: Memory that the work on an item takes.
        most_bytes: Memory that the work on a block may take; but a block has at least one item.
    """
    size = max(1, min(count, most_bytes // max(bytes_each, 1)))
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def chunk_bytes(nbytes: int, parts: int) -> int:
    """Returns the memory a block may take next to an array, so that it hardly adds to the peak.

    It is the array's memory divided by ``parts``, but 4 to 64 KiB: smaller blocks are slow, larger
    ones leave the cache.
    """
    return min(max(nbytes // parts, 1 << 12), 1 << 16)
