"""Memory that arrays give back stays with the process: part of ``chainer.config.accelerate``.

The C library of Linux returns freed memory to the operating system early. The next training step
then takes the same pages again, which the system first has to clear. In a graph network with
messages of 1.3 MB that was a fifth of the step.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy

#: The largest block after whose end glibc takes memory of this size from its heap, and keeps twice
#: as much of it (``DEFAULT_MMAP_THRESHOLD_MAX`` on 64-bit systems).
_LARGEST = 32 << 20

#: Bytes that the C library and NumPy may need beside the data.
_HEAD = 1 << 16


def keep_freed_memory(setting: Any) -> None:
    """Makes the C library keep up to 64 MB of freed memory, if the switch for speed is on.

    It is what a program arrives at that has freed an array of 32 MB: glibc learns from the sizes of
    freed blocks. Variables such as ``MALLOC_TRIM_THRESHOLD_`` keep their effect. Other C libraries
    learn nothing. The block is never written, so that it takes no memory.

    Args:
        setting: Value of ``chainer.config.accelerate``.
    """
    if setting == "auto":
        _free_large_block()


@functools.cache  # once is enough
def _free_large_block() -> None:
    numpy.empty(_LARGEST - _HEAD, numpy.uint8)
