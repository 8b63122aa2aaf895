"""Products with rows of weights in bfloat16, int8 and float32, by vectors and from several places.

LLVM makes vectors of the plain loop, too. But nothing of it says that the memory of a weight is
read once, in order, and the processor computes and waits in turns. And one place at a time keeps
the memory less busy than a few of them.
"""

from __future__ import annotations

from typing import Any

import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainer_numba.launching import inlined, summing
from chainer_numba.vectors import (
    FLOATS,
    INDEX,
    INTEGERS,
    LANES,
    LINE,
    Row,
    each,
    multiply_add,
    sum_of_lanes,
)

f = numpy.float32
_HALF = numpy.uint32(16)

#: Rows that are read in turns, each from another quarter of the matrix.
PLACES = 4

#: How many bytes ahead of its use the memory of a row is fetched. Four places need less than one.
_AHEAD = 1024

#: Vectors of one step: the numbers at even columns, and at odd columns.
_PAIR = 2


def _widened(builder: Any, row: Row, place: Any, dtype: Any) -> list[Any]:
    """Returns two vectors of float32 from a row, from a column on.

    Those of bfloat16 are the even and the odd columns: both are halves of the same words, for which
    one instruction each is enough.
    """
    if dtype.bitwidth == 16:
        words = row.vector(place, INTEGERS)
        low = builder.shl(words, each(INTEGERS, 16))
        high = builder.and_(words, each(INTEGERS, 0xFFFF0000))
        return [builder.bitcast(half, FLOATS) for half in (low, high)]
    places = place, builder.add(place, INDEX(LANES))
    if dtype == types.float32:
        return [row.vector(at, FLOATS) for at in places]
    narrow = ir.VectorType(ir.IntType(dtype.bitwidth), LANES)
    codes = [row.vector(at, narrow) for at in places]
    return [builder.sitofp(builder.sext(code, INTEGERS), FLOATS) for code in codes]


def _products_of(rows: int) -> Any:
    """Returns a function that multiplies some rows with a vector, without the last columns.

    Its arguments are the codes, the index of the first row, the distance of one row to the next,
    the vectors (of bfloat16 in the order of :func:`_arranged`), the index of the vector, and the
    array to write, in which the products have the places of their rows.
    """

    @intrinsic
    def products(
        typingctx: Any, codes: Any, first: Any, apart: Any, x: Any, n: Any, y: Any
    ) -> tuple[Any, Any]:
        signature = types.void(codes, first, apart, x, n, y)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            indexes = [
                builder.add(arguments[1], builder.mul(arguments[2], INDEX(k))) for k in range(rows)
            ]
            matrix = [Row(context, builder, kinds[0], arguments[0], i) for i in indexes]
            vector = Row(context, builder, kinds[3], arguments[3], arguments[4])
            result = Row(context, builder, kinds[5], arguments[5], arguments[4])
            sums = [cgutils.alloca_once_value(builder, each(FLOATS, 0.0)) for _ in range(rows)]
            size = codes.dtype.bitwidth // 8
            step = _PAIR * LANES
            steps = builder.udiv(matrix[0].length, INDEX(step))
            with cgutils.for_range(builder, steps) as loop:
                place = builder.mul(loop.index, INDEX(step))
                odd = builder.add(place, INDEX(LANES))
                factors = [vector.vector(at, FLOATS) for at in (place, odd)]
                for row, memory in zip(matrix, sums, strict=True):
                    for line in range(0, step * size, LINE):
                        row.fetch_ahead(builder.add(place, INDEX(line // size)), _AHEAD)
                    total = builder.load(memory)
                    for number, factor in zip(
                        _widened(builder, row, place, codes.dtype), factors, strict=True
                    ):
                        total = multiply_add(builder, number, factor, total)
                    builder.store(total, memory)
            for index, memory in zip(indexes, sums, strict=True):
                result.put(index, sum_of_lanes(builder, builder.load(memory)))
            return context.get_dummy_value()

        return signature, build

    return products


#: Without the first parameter, which the decorator fills in.
_one_row: Any = _products_of(1)
_some_rows: Any = _products_of(PLACES)


@inlined
def _whole(columns):
    """Returns the number of columns that :func:`_products_of` takes."""
    return columns // (_PAIR * LANES) * (_PAIR * LANES)


@inlined
def _all_rows(start, stop, x, codes, y):
    apart = (stop - start) // PLACES
    for n in range(len(x)):
        for i in range(start, start + apart):
            _some_rows(codes, i, apart, x, n, y)
        for i in range(start + apart * PLACES, stop):
            _one_row(codes, i, 0, x, n, y)


@inlined
def _arranged(x):
    """Returns vectors whose even columns precede the odd ones in each step."""
    y = numpy.empty_like(x)
    for n in range(len(x)):
        for j in range(0, _whole(x.shape[1]), _PAIR * LANES):
            for k in range(LANES):
                y[n, j + k] = x[n, j + 2 * k]
                y[n, j + LANES + k] = x[n, j + 2 * k + 1]
    return y


@summing
def bfloat16_product(part, start, stop, x, codes, y):
    _all_rows(start, stop, _arranged(x), codes, y)
    for j in range(_whole(x.shape[1]), x.shape[1]):
        for i in range(start, stop):
            bits = numpy.uint32(numpy.uint32(codes[i, j]) << _HALF)
            for n in range(len(x)):
                y[n, i] += bits.view(f) * x[n, j]


@summing
def int8_product(part, start, stop, x, codes, scales, y):
    _all_rows(start, stop, x, codes, y)
    for i in range(start, stop):
        for n in range(len(x)):
            total = y[n, i]
            for j in range(_whole(x.shape[1]), x.shape[1]):
                total += f(codes[i, j]) * x[n, j]
            y[n, i] = total * scales[i]


@summing
def float32_product(part, start, stop, x, weight, y):
    _all_rows(start, stop, x, weight, y)
    for i in range(start, stop):
        for n in range(len(x)):
            for j in range(_whole(x.shape[1]), x.shape[1]):
                y[n, i] += weight[i, j] * x[n, j]
