"""Memory of large arrays that is used again when they are freed."""

from __future__ import annotations

import functools

import numpy

#: Size of an array, in bytes, up to which the C library of Linux learns to keep freed memory: its
#: limit is 32 MiB with what it adds.
_LARGEST = (32 << 20) - (64 << 10)


@functools.cache
def keep_freed_memory() -> None:
    """Lets the C library keep the memory of freed arrays of up to 32 MiB for the next ones.

    The one of GNU returns the memory of large arrays to the system, which clears each page when it
    is used again: of a batch of 64 images (3x64x64) this is more than half of the time. It stops
    doing so up to the size of the largest array that was ever freed in this way. So one is freed
    here, of which no page is touched. Whether a training is fast then does not depend on what the
    program has freed before. Up to 64 MiB of free memory stay with the process.

    Other C libraries, and one that is configured by ``MALLOC_MMAP_THRESHOLD_`` or
    ``MALLOC_TRIM_THRESHOLD_``, do not change.
    """
    numpy.empty(_LARGEST, numpy.uint8)
