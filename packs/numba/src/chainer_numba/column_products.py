"""Products of few vectors with a weight whose transpose is contiguous, in the order of memory.

Files of some models, such as GPT-2, have the weights of linear layers transposed: numbers that
belong to one input are side by side. So the product is a sum of rows in memory, each times an
element of the vector. The sums of all columns stay in the cache, and the weight is read once, from
a few places at once, as in :mod:`chainer_numba.packed_rows`. Threads share the rows in memory: each
reads whole rows, one after the other.

Each sum of ``K`` products is rounded at most ``K`` times, and once more with a bias. So the error
is at most ``(K + 1) * 2 ** -24`` times the sum of the absolute values of all terms. The order of
the additions depends on ``K`` only: bits depend neither on the number of threads nor on what other
vectors there are.
"""

from __future__ import annotations

from typing import Any

import numpy
from chainer.typing import Array
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainer_numba.launching import compiled, config, launch
from chainer_numba.vectors import (
    FLOATS,
    INDEX,
    LANES,
    PASSES_CACHES,
    Row,
    multiply_add,
    repeated,
)

#: Columns of a block: its sums stay in registers while a row of each place is added.
BLOCK = 64

#: Groups of rows that threads share, always as many, so that bits do not depend on the number of
#: threads. All products of GPT-2 small that are transposed (340 MB) take 12.5 to 13.0 milliseconds
#: on one thread with 1, 2, 4 or 8 groups, and 12.4, 8.9, 8.6 and 8.5 on two. If two threads share
#: the columns instead, each reads half a row and skips the other half, and they take 12.3: as long
#: as one thread (AMD EPYC with AVX2, quiet, in turns).
GROUPS = 4

#: Rows that are added in turns, each from another quarter of a group: memory is read in order in
#: each of them. Neighboring rows would leave each place after a row. The same products take 14.2 to
#: 14.4 milliseconds with 2 places, 12.5 with 4 or 6 and 13.4 with 8, and with 4 and 8 neighboring
#: rows 16.0 and 15.1 (AMD EPYC with AVX2, in turns).
PLACES = 4

#: How many blocks ahead of its use the memory of a row is fetched. On AMD's Zen 3 two to four took
#: 5 to 15 % more time than one. Elsewhere it is as far as for :mod:`chainer_numba.packed_rows`.
_BLOCKS_AHEAD = 1 if PASSES_CACHES else 4

#: Columns that all vectors are multiplied with before the next ones are read: with a row of each
#: place they take a quarter of the first level of the cache.
_NEAR = 512


def _sums_of(rows: int, fetches: bool) -> Any:
    """Returns a function that adds some rows, times elements of a vector, to sums of columns.

    Its arguments are the matrix, the index of the first row, the distance of one row to the next,
    the first column and the one after the last, the vectors, the index of the vector, and the sums,
    which are in the places of their columns.

    Args:
        rows: Number of rows.
        fetches: Whether memory is fetched ahead of its use.
    """

    @intrinsic
    def sums(
        typingctx: Any,
        matrix: Any,
        first: Any,
        apart: Any,
        start: Any,
        stop: Any,
        x: Any,
        n: Any,
        y: Any,
    ) -> tuple[Any, Any]:
        signature = types.void(matrix, first, apart, start, stop, x, n, y)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            matrix, first, apart, start, stop, x, n, y = arguments
            kinds = signature.args
            indexes = [builder.add(first, builder.mul(apart, INDEX(k))) for k in range(rows)]
            places = [Row(context, builder, kinds[0], matrix, i) for i in indexes]
            vector = Row(context, builder, kinds[5], x, n)
            totals = Row(context, builder, kinds[7], y, n)
            numbers = [vector.at(i) for i in indexes]
            factors = [repeated(builder, number) for number in numbers]
            blocks = builder.sdiv(builder.sub(stop, start), INDEX(BLOCK))
            with cgutils.for_range(builder, blocks) as loop:
                place = builder.add(start, builder.mul(loop.index, INDEX(BLOCK)))
                starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
                sums = [totals.vector(at, FLOATS) for at in starts]
                for row, factor in zip(places, factors, strict=True):
                    if fetches:
                        for at in starts:
                            row.fetch_ahead(builder.add(at, INDEX(_BLOCKS_AHEAD * BLOCK)), 0)
                    terms = [row.vector(at, FLOATS) for at in starts]
                    sums = [
                        multiply_add(builder, term, factor, total)
                        for term, total in zip(terms, sums, strict=True)
                    ]
                for at, total in zip(starts, sums, strict=True):
                    totals.put_vector(at, total)
            rest = builder.add(start, builder.mul(blocks, INDEX(BLOCK)))
            with cgutils.for_range_slice(builder, rest, stop, INDEX(1), ir.IntType(64)) as loop:
                at = loop[0]
                total = totals.at(at)
                # The same order of additions and the same rounding as in a block.
                for row, number in zip(places, numbers, strict=True):
                    total = multiply_add(builder, row.at(at), number, total)
                totals.put(at, total)
            return context.get_dummy_value()

        return signature, build

    return sums


# Without the first parameter, which the decorator fills in.
_one: Any = _sums_of(1, fetches=True)
_some: Any = _sums_of(PLACES, fetches=True)
_one_again: Any = _sums_of(1, fetches=False)
_some_again: Any = _sums_of(PLACES, fetches=False)


def column_product(x: Array, matrix: Array, bias: Array, y: Array) -> None:
    """Writes ``x`` times ``matrix``, plus a bias.

    Args:
        x: Vectors of float32.
        matrix: The transpose of the weight, a C-contiguous matrix.
        bias: The bias. An empty one means none.
        y: The array to write.
    """
    sums = numpy.empty((GROUPS, *y.shape), numpy.float32)
    if config.NUMBA_NUM_THREADS == 1:
        # Without a call: a token that is decoded needs four of these products for each layer.
        _sums_of_groups(0, 0, GROUPS, x, matrix, bias, sums, y)
        return
    parts = launch(_sums_of_groups, GROUPS, len(x) * matrix.size, x, matrix, bias, sums, y)
    if parts > 1:
        _add_groups(sums, bias, y)


@compiled
def _add_groups(sums, bias, y):
    """Writes the sum of all groups, plus a bias."""
    rows, columns = y.shape
    for n in range(rows):
        a, b, c, d = sums[0, n], sums[1, n], sums[2, n], sums[3, n]
        for j in range(columns):
            y[n, j] = (a[j] + b[j]) + (c[j] + d[j])
        if len(bias):
            for j in range(columns):
                y[n, j] += bias[j]


@compiled
def _sums_of_groups(part, start, stop, x, matrix, bias, sums, y):
    """Writes the sums of the groups ``start`` to ``stop``, and ``y`` if these are all."""
    terms, columns = matrix.shape
    vectors = len(x)
    # A single vector needs no row again.
    near = columns if vectors <= 1 else _NEAR
    for group in range(start, stop):
        first, after = terms * group // GROUPS, terms * (group + 1) // GROUPS
        apart = (after - first) // PLACES
        total = sums[group]
        total[:] = 0
        for k in range(first, first + apart):
            # A step of 0 is an error, even without columns.
            for low in range(0, columns, max(near, 1)):
                high = min(low + near, columns)
                for n in range(vectors):
                    if n:
                        _some_again(matrix, k, apart, low, high, x, n, total)
                    else:
                        _some(matrix, k, apart, low, high, x, n, total)
        for k in range(first + apart * PLACES, after):
            for n in range(vectors):
                if n:
                    _one_again(matrix, k, 0, 0, columns, x, n, total)
                else:
                    _one(matrix, k, 0, 0, columns, x, n, total)
    if start == 0 and stop == GROUPS:
        _add_groups(sums, bias, y)
