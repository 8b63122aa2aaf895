"""Compilation of loops, and the threads that run them.

A compiled loop has the signature ``loop(part, start, stop, *arguments)``. It processes the rows (or
elements) from ``start`` to ``stop`` and writes to no others. ``part`` is the number of the part;
loops that sum write their partial sum to that index. So the same compiled function serves one
thread and many, and results depend on nothing but the number of threads. The threads come from
:mod:`chainer_numba.workers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy
from chainer.typing import Array

from chainer_numba.native_threads import ARE_THERE
from chainer_numba.workers import run_parts

#: Numba's settings. NUMBA_NUM_THREADS is the number of processors, unless the environment sets it.
config: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]

#: Least number of elements per thread, for a cheap loop. One thread processes them in 10
#: microseconds. A call on several threads takes 3 to 5 microseconds longer than on one
#: (:mod:`chainer_numba.native_threads`), and waits for no thread that has not started. A captured
#: step of an LSTM (35 steps of 20 rows, AMD EPYC with AVX2, two threads, variants in turn) took
#: 27.5 milliseconds with 1 << 18, 26.0 with 1 << 17, 20.8 with 1 << 16 and 22.5 with 1 << 15. The
#: graph network of ``python -m benchmarks fast`` took as long with each of them. A thread of Python
#: starts 30 to 50 microseconds later: 1 << 19 elements of a relu take as long on one as on two.
ELEMENTS_OF_THREAD = 1 << 16 if ARE_THERE else 1 << 18

#: Elements from which an array is larger than the cache, so that its place in cache lines matters.
_MANY = 1 << 16

# LLVM compares the addresses of arrays before it runs vector instructions, and gives up where that
# takes more than 8 comparisons: four arrays. Loops here have up to nine. An unknown option would
# end the process, so the option is set only in versions that are known to have it.
if llvmlite.binding.llvm_version_info[0] <= 20:
    llvmlite.binding.set_option("", "-runtime-memory-check-threshold=64")


def compiled(function: Callable[..., Any]) -> Any:
    """Decorator: compiles a loop when it is called first, and keeps the code on disk.

    Products and sums may be contracted (fused multiply-add); nothing else is rearranged, so that
    NaN and infinities come out as IEEE 754 defines.
    """
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function)


def summing(function: Callable[..., Any]) -> Any:
    """Decorator: as :func:`compiled`, for loops whose sums may be taken in any order.

    A loop that adds up must not write to an array, too. LLVM would compare addresses first, and
    take another order where two arrays are neighbors in memory: bits would differ from call to
    call.
    """
    flags = {"contract", "reassoc"}
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags)(function)


def exact(function: Callable[..., Any]) -> Any:
    """Decorator: as :func:`compiled`, for loops that round as NumPy does, in every bit."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorator: a function that loops call for each element."""
    return numba.njit(error_model="numpy", fastmath={"contract"}, inline="never")(function)


def parts_of(count: int, elements: int) -> int:
    """Returns the number of parts into which a call is divided.

    Args:
        count: Number of rows. A row belongs to one part.
        elements: Number of elements that the call processes. Kernels give a multiple of it where an
            element takes more time than in a cheap loop.
    """
    if elements < 2 * ELEMENTS_OF_THREAD:
        return 1
    return max(min(config.NUMBA_NUM_THREADS, count, elements // ELEMENTS_OF_THREAD), 1)


def launch_aligned(loop: Any, elements: int, first: Array, *arguments: Any) -> None:
    """Runs a loop over vectors on as many threads as pay off, aligned to cache lines.

    Args:
        loop: The compiled loop.
        elements: See :func:`parts_of`.
        first: The first vector. The others are assumed to be aligned alike, as large arrays of
            NumPy are. Where they are not, the loop is slower but right.
        arguments: Further arguments of the loop.
    """
    # A vector instruction takes twice the time where its data spans two cache lines. Smaller arrays
    # are in the cache, where looking up the address costs as much as it saves.
    count = first.size
    ahead = -first.__array_interface__["data"][0] % 64 // 4 if count >= _MANY else 0
    if ahead:
        loop(0, 0, ahead, first, *arguments)
    launch(loop, count, elements, first, *arguments, offset=ahead)


def launch(loop: Any, count: int, elements: int, *arguments: Any, offset: int = 0) -> int:
    """Runs a loop on as many threads as pay off.

    Args:
        loop: The compiled loop.
        count: Number of its rows.
        elements: See :func:`parts_of`.
        arguments: Further arguments of the loop.
        offset: The first row.

    Returns:
        int: Number of parts.
    """
    # Small calls come first, without a call: a token that is decoded needs hundreds of them.
    parts = 1
    if elements >= 2 * ELEMENTS_OF_THREAD:  # as parts_of()
        parts = min(config.NUMBA_NUM_THREADS, count, elements // ELEMENTS_OF_THREAD)
    if parts <= 1:
        loop(0, offset, count, *arguments)
        return 1
    # Many elements are divided at multiples of 16, so that each part starts a cache line.
    step = 16 if offset or count >= _MANY else 1
    rest = count - offset
    bounds = [offset]
    for i in range(1, parts):  # without the call of a comprehension: products share each step
        bounds.append(offset + rest * i // parts // step * step)
    bounds.append(count)
    run_parts(loop, bounds, arguments)
    return parts


def flat(x: Array) -> Array:
    """Returns an array to read as a contiguous float32 vector; a view where possible.

    Args:
        x: Array of float32, or of float16, which is converted.
    """
    return dense(x).reshape(-1)


def dense(x: Array) -> Array:
    """Returns an array to read as a contiguous float32 array of the same shape.

    Args:
        x: As for :func:`flat`.
    """
    if x.dtype != numpy.float32 or not x.flags.carray:
        # Loops are compiled for writable arrays only: read-only ones are another type in Numba.
        x = numpy.array(x, numpy.float32, order="C")
    return x


def all_dense(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Returns :func:`dense` of some arrays, without a call for each of them in the usual case.

    Args:
        arrays: As for :func:`flat`.
    """
    for x in arrays:
        if x.dtype != numpy.float32 or not x.flags.carray:
            return tuple([dense(x) for x in arrays])
    return arrays


def result(y: Array, like: Array) -> Array:
    """Returns an output in the shape and dtype of an input.

    Args:
        y: Output of float32.
        like: The input.
    """
    return y.reshape(like.shape).astype(like.dtype, copy=False)
