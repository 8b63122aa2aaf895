"""Addresses of the data of many arrays, read by one compiled function.

Asking an array for its address takes Python half a microsecond, as long as updating 500 parameters.
A compiled loop reads it from the object itself: the fields of an array object are part of NumPy's
binary interface (``PyArrayObject_fields`` in ``numpy/ndarraytypes.h``), which extension modules
rely on. :func:`missing` tells whether they are where they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numba
import numpy
from chainer.typing import Array
from numba import extending, types

from chainer_numba.launching import compiled, inlined

# Offsets of fields behind the head of an object, on machines with 64-bit pointers.
_HEAD = object.__basicsize__
_DATA, _NDIM, _SHAPE, _DTYPE, _FLAGS = _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48
#: C-contiguous and aligned; writable.
_DENSE, _WRITABLE = 0x101, 0x400

# For type checkers, what Numba compiles has no types.
carray: Any = numba.carray  # pyright: ignore[reportPrivateImportUsage]
intrinsic: Any = extending.intrinsic

_FLOAT32 = numpy.dtype(numpy.float32)


@intrinsic
def pointer(typingctx: Any, address: Any) -> Any:
    """Returns the pointer to an address, for ``carray``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.uintp), generate


@inlined
def vector_at(address, low, high):
    """Returns elements of the float32 vector at an address."""
    return carray(pointer(address + numpy.uintp(4 * low)), (high - low,), numpy.float32)


@inlined
def _word(address):
    return carray(pointer(address), (1,), numpy.uintp)[0]


@inlined
def _short_word(address):
    return carray(pointer(address), (1,), numpy.int32)[0]


@inlined
def address_of(identity):
    """Returns the address of the data of the array object with an identity (``id``)."""
    return _word(numpy.uintp(identity) + numpy.uintp(_DATA))


@compiled
def _describe(pointers, dtype, read_only, ends):
    """Replaces objects by the addresses of their data; returns the first row that is refused."""
    total = 0
    rows, columns = pointers.shape
    for row in range(rows):
        size = 0
        for column in range(columns):
            at = pointers[row, column]
            if _word(at + numpy.uintp(_DTYPE)) != dtype:
                return row
            flags = _short_word(at + numpy.uintp(_FLAGS))
            wanted = _DENSE if column == read_only else _DENSE | _WRITABLE
            if flags & wanted != wanted:
                return row
            shape = _word(at + numpy.uintp(_SHAPE))
            count = 1
            for axis in range(_short_word(at + numpy.uintp(_NDIM))):
                count *= _word(shape + numpy.uintp(8 * axis))
            if column == 0:
                size = count
            elif count != size:
                return row
            pointers[row, column] = _word(at + numpy.uintp(_DATA))
        total += size
        ends[row] = total
    return rows


class Table:
    """Addresses of the arrays of several updates.

    Args:
        rows: The arrays of each update: float32, contiguous, of one shape, and alive as long as the
            table is used. All but the second one are writable.

    Attributes:
        pointers: Addresses, shape ``(rows, arrays of a row)``.
        ends: Number of elements of the rows up to each, that one included.

    Raises:
        ValueError: If an array is not as described.
    """

    __slots__ = ("ends", "pointers")

    def __init__(self, rows: Sequence[Sequence[Array]]) -> None:
        count, width = len(rows), len(rows[0])
        objects = numpy.fromiter(map(id, chain.from_iterable(rows)), numpy.uintp, count * width)
        self.pointers = objects.reshape(count, width)
        self.ends = numpy.empty(count, numpy.intp)
        found = _describe(self.pointers, id(_FLOAT32), 1, self.ends)
        if found < count:
            got = ", ".join(f"{a.dtype} {a.shape}" for a in rows[found])
            raise ValueError(
                f"arrays of an update must be writable, contiguous, of float32 and of one shape; "
                f"got {got}"
            )


def _layout_known() -> bool:
    if numpy.dtype(numpy.uintp).itemsize != 8:
        return False
    probe = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    pointers, ends = numpy.array([[id(probe)]], numpy.uintp), numpy.zeros(1, numpy.intp)
    found = _describe(pointers, id(_FLOAT32), 1, ends)
    return bool(found == 1 and pointers[0, 0] == probe.ctypes.data and ends[0] == 6)


def missing() -> str | None:
    """Returns why the fields of array objects cannot be read, or None."""
    if not _layout_known():
        return "array objects of this NumPy are not laid out as chainer-numba expects"
    return None
