"""Products with rows of weights: of float32, bfloat16 and int8, from several places at once.

LLVM makes vectors of the plain loop, too. But nothing of it says that the memory of a weight is
read once, in order, and the processor computes and waits in turns. And one place at a time keeps
the memory less busy than a few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainer_numba.launching import compiled, inlined, summing
from chainer_numba.vector_math import bits_to_float, power_of_two
from chainer_numba.vectors import (
    FLOATS,
    INDEX,
    INT32,
    INTEGERS,
    LANES,
    PASSES_CACHES,
    Row,
    each,
    multiply_add,
    repeated,
    sum_of_lanes,
)

f, _wide = numpy.float32, numpy.float64

#: Columns of a block, which is computed at once.
BLOCK = 64

#: Rows that are read in turns, each from another quarter of the matrix.
PLACES = 4

#: How many bytes ahead of its use the memory of a row is fetched. Four places need less than one.
#: What is fetched past the caches has to stay in the first level until it is used: on AMD's Zen 3
#: 256 to 768 bytes are alike, and float32 takes 7 % more time with 1024.
_AHEAD = 512 if PASSES_CACHES else 1024

#: The same for rows of bfloat16, each of which is read from two places. On a Xeon with AVX-512 the
#: products of a token take 2 to 9 % less time with 2048 bytes than with 1024, and those of int8 1 %
#: more.
_AHEAD_OF_BFLOAT16 = 512 if PASSES_CACHES else 2048

#: Vectors of a block from a row: builder, row, index of the column, number of columns.
Widened = Callable[[Any, Row, Any, Any], list[Any]]

_BYTE = ir.IntType(8)
_LOWER, _UPPER = ir.VectorType(_BYTE, BLOCK), ir.VectorType(_BYTE, BLOCK // 2)
_CODES = ir.VectorType(_BYTE, LANES)


def _float32(builder: Any, row: Row, place: Any, columns: Any) -> list[Any]:
    starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
    for start in starts:
        row.fetch_ahead(start, _AHEAD)
    return [row.vector(start, FLOATS) for start in starts]


def _float32_in_cache(builder: Any, row: Row, place: Any, columns: Any) -> list[Any]:
    # The next token reads it again, from the third level: past the caches it would be gone.
    return [row.vector(builder.add(place, INDEX(i)), FLOATS) for i in range(0, BLOCK, LANES)]


def _int8(builder: Any, row: Row, place: Any, columns: Any) -> list[Any]:
    row.fetch_ahead(place, _AHEAD)
    starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
    codes = [row.vector(start, _CODES) for start in starts]
    return [builder.sitofp(builder.sext(code, INTEGERS), FLOATS) for code in codes]


def _bfloat16(builder: Any, row: Row, place: Any, columns: Any) -> list[Any]:
    """Returns numbers of 12 bits, see chainer-models, in the order of :data:`_ORDER`."""
    more = builder.add(columns, builder.lshr(place, INDEX(1)))
    row.fetch_ahead(place, _AHEAD_OF_BFLOAT16)
    # These lines are asked for twice, which costs less than a branch.
    row.fetch_ahead(more, _AHEAD_OF_BFLOAT16)
    lower, both = row.vector(place, _LOWER), row.vector(more, _UPPER)
    # The sign goes to the first bit of a byte, the rest stays at its end.
    four = _bytes(4)
    halves = (both, builder.shl(both, four)), (builder.lshr(both, four), both)
    first, second = (
        builder.or_(builder.and_(rest, _bytes(7)), builder.and_(sign, _bytes(0x80)))
        for rest, sign in halves
    )
    upper = _shuffled(builder, first, second, list(range(BLOCK)))
    vectors: list[Any] = []
    for half in (0, 8):
        # Processors interleave bytes within 16 of them.
        starts = range(half, BLOCK, 16)
        order = [i + part for q in starts for i in range(q, q + 8) for part in (0, BLOCK)]
        words = builder.bitcast(_shuffled(builder, lower, upper, order), INTEGERS)
        for bits in (
            builder.shl(words, each(INTEGERS, 16)),
            builder.and_(words, each(INTEGERS, 0xFFFF0000)),
        ):
            vectors.append(builder.bitcast(bits, FLOATS))
    return vectors


def _bytes(value: int) -> Any:
    return ir.Constant(_UPPER, [ir.Constant(_BYTE, value)] * _UPPER.count)


def _shuffled(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    kind = ir.VectorType(INT32, len(order))
    return builder.shuffle_vector(a, b, ir.Constant(kind, [ir.Constant(INT32, i) for i in order]))


def _products_of(rows: int, widened: Widened) -> Any:
    """Returns a function that multiplies the whole blocks of some rows with a vector.

    Its arguments are the codes, the index of the first row, the distance of one row to the next,
    the vectors, the index of the vector, and the array to write, in which the products have the
    places of their rows.
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
            steps = builder.udiv(vector.length, INDEX(BLOCK))
            with cgutils.for_range(builder, steps) as loop:
                place = builder.mul(loop.index, INDEX(BLOCK))
                starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
                factors = [vector.vector(start, FLOATS) for start in starts]
                for row, memory in zip(matrix, sums, strict=True):
                    total = builder.load(memory)
                    numbers = widened(builder, row, place, vector.length)
                    for number, factor in zip(numbers, factors, strict=True):
                        total = multiply_add(builder, number, factor, total)
                    builder.store(total, memory)
            for index, memory in zip(indexes, sums, strict=True):
                result.put(index, sum_of_lanes(builder, builder.load(memory)))
            return context.get_dummy_value()

        return signature, build

    return products


@intrinsic
def _weighted_sum(
    typingctx: Any, weights: Any, n: Any, matrix: Any, start: Any, y: Any
) -> tuple[Any, Any]:
    """Writes a block of columns of the sum of all rows of a matrix, each times its weight.

    ``weights`` and ``y`` have a row for each sum, of which ``n`` is the index.
    """
    signature = types.void(weights, n, matrix, start, y)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        weights, n, matrix, start, y = arguments
        kinds = signature.args
        factors = Row(context, builder, kinds[0], weights, n)
        result = Row(context, builder, kinds[4], y, n)
        starts = [builder.add(start, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
        # They stay in registers: sums that go to memory and back for each row took five times as
        # long where the memory was at some addresses (AMD's Zen 3).
        sums = [cgutils.alloca_once_value(builder, each(FLOATS, 0.0)) for _ in starts]
        with cgutils.for_range(builder, factors.length) as loop:
            row = Row(context, builder, kinds[2], matrix, loop.index)
            factor = repeated(builder, factors.at(loop.index))
            for at, memory in zip(starts, sums, strict=True):
                number = row.vector(at, FLOATS)
                builder.store(multiply_add(builder, number, factor, builder.load(memory)), memory)
        for at, memory in zip(starts, sums, strict=True):
            result.put_vector(at, builder.load(memory))
        return context.get_dummy_value()

    return signature, build


# For type checkers, which do not know that the decorator fills in the first parameter.
_sum_of_rows: Any = _weighted_sum

# Without the first parameter, which the decorator fills in.
_one_of_float32: Any = _products_of(1, _float32)
_some_of_float32: Any = _products_of(PLACES, _float32)
_one_in_cache: Any = _products_of(1, _float32_in_cache)
_some_in_cache: Any = _products_of(PLACES, _float32_in_cache)
_one_of_int8: Any = _products_of(1, _int8)
_some_of_int8: Any = _products_of(PLACES, _int8)
_one_of_bfloat16: Any = _products_of(1, _bfloat16)
_some_of_bfloat16: Any = _products_of(PLACES, _bfloat16)


@summing
def float32_product(part, start, stop, x, weight, y):
    apart = (stop - start) // PLACES
    for n in range(len(x)):
        for i in range(start, start + apart):
            _some_of_float32(weight, i, apart, x, n, y)
        for i in range(start + apart * PLACES, stop):
            _one_of_float32(weight, i, 0, x, n, y)
        for j in range(x.shape[1] // BLOCK * BLOCK, x.shape[1]):
            for i in range(start, stop):
                y[n, i] += weight[i, j] * x[n, j]


@compiled
def products_of_rows(x, matrix, y):
    """Writes the products of vectors with the rows of a matrix of whole blocks.

    The matrix has few rows, which are read again soon: attention to 40 keys takes as long if they
    are fetched ahead, past the caches or into them.
    """
    count = len(matrix)
    apart = count // PLACES
    for n in range(len(x)):
        for i in range(apart):
            _some_in_cache(matrix, i, apart, x, n, y)
        for i in range(apart * PLACES, count):
            _one_in_cache(matrix, i, 0, x, n, y)


@compiled
def weighted_sums(weights, matrix, y):
    """Writes sums of the rows of a matrix of whole blocks, each row times its weight.

    ``weights`` and ``y`` have a row for each sum.
    """
    for n in range(len(y)):
        for start in range(0, y.shape[1], BLOCK):
            _sum_of_rows(weights, n, matrix, start, y)


@summing
def int8_product(part, start, stop, x, codes, scales, y):
    apart = (stop - start) // PLACES
    for n in range(len(x)):
        for i in range(start, start + apart):
            _some_of_int8(codes, i, apart, x, n, y)
        for i in range(start + apart * PLACES, stop):
            _one_of_int8(codes, i, 0, x, n, y)
        for i in range(start, stop):
            total = y[n, i]
            for j in range(x.shape[1] // BLOCK * BLOCK, x.shape[1]):
                total += f(codes[i, j]) * x[n, j]
            y[n, i] = total * scales[i]


#: The order in which the numbers of a block come: 16 columns are two times four pairs; even and
#: odd columns are vectors apart.
_ORDER = [
    16 * sixteen + 8 * half + 2 * pair + odd
    for half in range(2)
    for odd in range(2)
    for sixteen in range(BLOCK // 16)
    for pair in range(4)
]


@intrinsic
def _arranged_blocks(
    typingctx: Any, x: Any, n: Any, first: Any, second: Any, y: Any
) -> tuple[Any, Any]:
    """Writes the whole blocks of a vector times two factors, in the order of :data:`_ORDER`.

    ``x`` and ``y`` have a row for each vector, of which ``n`` is the index.
    """
    signature = types.void(x, n, first, second, y)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        vector = Row(context, builder, kinds[0], arguments[0], arguments[1])
        result = Row(context, builder, kinds[4], arguments[4], arguments[1])
        factors = [repeated(builder, arguments[k]) for k in (2, 3)]
        with cgutils.for_range(builder, builder.udiv(vector.length, INDEX(BLOCK))) as loop:
            place = builder.mul(loop.index, INDEX(BLOCK))
            starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
            parts: list[Any] = []
            for start in starts:
                number = vector.vector(start, FLOATS)
                for factor in factors:
                    number = builder.fmul(number, factor)
                parts.append(number)
            double = list(range(2 * LANES))
            lower = _shuffled(builder, parts[0], parts[1], double)
            upper = _shuffled(builder, parts[2], parts[3], double)
            for k, start in enumerate(starts):
                order = _ORDER[LANES * k : LANES * (k + 1)]
                result.put_vector(start, _shuffled(builder, lower, upper, order))
        return context.get_dummy_value()

    return signature, build


# Without the first parameter, which the decorator fills in.
_arrange_blocks: Any = _arranged_blocks


@inlined
def _largest_exponent(x):
    """Returns the largest biased exponent of a vector, which is 255 with infinity and NaN."""
    bits = x.view(numpy.int32)
    largest = numpy.int32(0)
    for j in range(len(x)):
        largest = max(largest, bits[j] & numpy.int32(0x7FFFFFFF))
    return largest >> 23


@inlined
def _arrange(x, n, exponent, y):
    """Writes a vector, times a power of two, in the order in which the numbers of a block come."""
    # The power may be too large for float32, its root is not.
    half = exponent >> 1
    first, second = power_of_two(half), power_of_two(exponent - half)
    _arrange_blocks(x, n, first, second, y)
    for j in range(x.shape[1] // BLOCK * BLOCK, x.shape[1]):
        block, inner = j // BLOCK * BLOCK, j % BLOCK
        vector = inner % 16 // 8 * 2 + inner % 2
        place = block + vector * LANES + inner // 16 * 4 + inner % 8 // 2
        y[n, place] = x[n, j] * first * second


@inlined
def _code(codes, j, columns):
    """Returns the number of a column in a row of codes; its factors are the scale and 2 ** 112."""
    byte, t = codes[columns + j // BLOCK * (BLOCK // 2) + j % (BLOCK // 2)], j % BLOCK
    upper = numpy.uint32(byte & 15 if t < BLOCK // 2 else byte >> 4)
    bits = numpy.uint32(codes[j]) | (upper & 7) << 8 | (upper & 8) << 12
    return bits_to_float(numpy.int32(bits << 16))


@summing
def _unbounded_product(start, stop, x, codes, scales, places, remainders, y):
    """Multiplies with a vector that has infinite numbers or NaN.

    A number of a weight is the sum of a code and a remainder. The code may be 0, and zero times
    infinity is NaN, where the product of the sum is infinite.
    """
    columns = codes.shape[1] // 3 * 2
    row = numpy.empty(len(x), f)
    for i in range(start, stop):
        for j in range(len(x)):
            row[j] = _code(codes[i], j, columns) * f(2.0**112) * scales[i]
        for k in range(places.shape[1]):
            row[places[i, k]] += remainders[i, k]
        total = f(0)
        for j in range(len(x)):
            total += row[j] * x[j]
        y[i] = total


@summing
def bfloat16_product(part, start, stop, x, codes, scales, places, remainders, y):
    # Rows are filled up to whole blocks.
    arranged = numpy.zeros((len(x), codes.shape[1] // 3 * 2), f)
    apart = (stop - start) // PLACES
    for n in range(len(x)):
        largest = _largest_exponent(x[n])
        if largest == 255:
            _unbounded_product(start, stop, x[n], codes, scales, places, remainders, y[n])
            continue
        # Numbers of 12 bits are taken for tiny ones of float32: products with others than large
        # numbers would be rounded.
        exponent = 227 - largest
        _arrange(x, n, exponent, arranged)
        for i in range(start, start + apart):
            _some_of_bfloat16(codes, i, apart, arranged, n, y)
        for i in range(start + apart * PLACES, stop):
            _one_of_bfloat16(codes, i, 0, arranged, n, y)
        # The least exponent of float32 means one that is 15 below the exponent of the scale.
        back = _wide(2.0) ** (112 - exponent)
        for i in range(start, stop):
            y[n, i] = f(_wide(y[n, i]) * (_wide(scales[i]) * back))
        for i in range(start, stop):
            for k in range(places.shape[1]):
                y[n, i] += remainders[i, k] * x[n, places[i, k]]
