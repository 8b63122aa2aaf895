"""Sums of float32 arrays that travel with 16 bits.

MPI cannot add float16 or bfloat16. A process therefore gets its part of every other's array in 16
bits, adds up in float32, and sends the rounded sum to all. Each value is rounded twice, whatever
the number of processes, and half the bytes travel.
"""

from __future__ import annotations

from typing import Any

import numpy

HostArray = numpy.ndarray[Any, Any]


def to_16_bits(array: HostArray, dtype: str) -> HostArray:
    """Rounds float32 to 16 bits, to nearest even.

    Args:
        array: float32 array of one dimension.
        dtype: ``float16`` or ``bfloat16``.

    Returns:
        uint16 array: The bits.
    """
    if dtype == "float16":
        with numpy.errstate(
            over="ignore"
        ):  # becomes infinite, as in any cast; loss scaling sees it
            return array.astype(numpy.float16).view(numpy.uint16)
    bits = array.view(numpy.uint32)
    # bfloat16 is the upper half of float32. Adding just under half of the last kept bit, and that
    # bit itself, rounds to nearest even.
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16
    # The addition would carry a NaN of small payload over to infinity.
    return numpy.where(numpy.isnan(array), numpy.uint32(0x7FC0), rounded).astype(numpy.uint16)


def to_float32(bits: HostArray, dtype: str) -> HostArray:
    """Returns the float32 values of 16 bits; see :func:`to_16_bits`."""
    if dtype == "float16":
        return bits.view(numpy.float16).astype(numpy.float32)
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def parts(size: int, count: int) -> list[int]:
    """Returns the lengths of ``count`` nearly equal parts of ``size`` elements."""
    return [size * (i + 1) // count - size * i // count for i in range(count)]


def mean(mpi: Any, mpi_comm: Any, array: HostArray, dtype: str) -> None:
    """Replaces a float32 array by its mean over all processes, in place. Collective.

    Args:
        mpi: The module ``mpi4py.MPI``.
        mpi_comm: Communicator of mpi4py.
        array: float32 array of one dimension, of the same length in all processes.
        dtype: ``float16`` or ``bfloat16``: what travels.
    """
    rank, size = mpi_comm.Get_rank(), mpi_comm.Get_size()
    counts = parts(array.size, size)
    own = counts[rank]
    received = numpy.empty(own * size, numpy.uint16)
    mpi_comm.Alltoallv(
        [to_16_bits(array, dtype), counts, mpi.UINT16_T], [received, [own] * size, mpi.UINT16_T]
    )
    total = to_float32(received, dtype).reshape(size, own).sum(axis=0)
    total *= numpy.float32(1 / size)
    result = numpy.empty(array.size, numpy.uint16)
    mpi_comm.Allgatherv([to_16_bits(total, dtype), mpi.UINT16_T], [result, counts, mpi.UINT16_T])
    # Also the own part has been rounded, so that all processes have the same values.
    array[...] = to_float32(result, dtype)
