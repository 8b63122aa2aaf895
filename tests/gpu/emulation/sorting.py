"""Takes the place of ``cupy.cuda.thrust``: sorting, by NumPy, of memory that is the host's.

All sorts are stable; values that are not numbers come last.
"""

from __future__ import annotations

import ctypes
import math

import numpy

available = True
_DTYPES = frozenset("?bBhHiIlLqQefdFD")


def get_build_version():
    return 300102


def _view(address, dtype, shape):
    dtype, shape = numpy.dtype(dtype), tuple(map(int, shape))
    if dtype.char not in _DTYPES:
        raise TypeError(str(dtype))
    count = math.prod(shape)
    if count == 0:
        return numpy.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(int(address))
    return numpy.frombuffer(memory, dtype, count).reshape(shape)


def sort(dtype, data_start, keys_start, shape):
    """Sorts the rows of an array; the keys are work memory."""
    _view(data_start, dtype, shape).sort(axis=-1, kind="stable")


def lexsort(dtype, idx_start, keys_start, k, n):
    """Fills an array with the order of columns by their last row, then the row before."""
    keys = _view(keys_start, dtype, (k, n))
    _view(idx_start, numpy.uintp, (n,))[...] = numpy.lexsort(keys)


def argsort(dtype, idx_start, data_start, keys_start, shape):
    """Fills an array with the order of the rows of another, which is sorted, too."""
    data = _view(data_start, dtype, shape)
    order = numpy.argsort(data, axis=-1, kind="stable")
    data[...] = numpy.take_along_axis(data, order, axis=-1)
    _view(idx_start, numpy.uintp, shape)[...] = order
