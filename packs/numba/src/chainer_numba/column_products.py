"""Products of few vectors with a weight whose transpose is contiguous, in the order of memory.

Files of some models, such as GPT-2, have the weights of linear layers transposed: numbers that
belong to one input are side by side. So the product is a sum of rows in memory, each times an
element of the vector. The sums of all columns stay in the cache, and the weight is read once, from
a few places at once, as in :mod:`chainer_numba.packed_rows`.

Each sum of ``K`` products is rounded at most ``K`` times, and once more with a bias. So the error
is at most ``(K + 1) * 2 ** -24`` times the sum of the absolute values of all terms. The order of
the additions depends on ``K`` only: bits depend neither on the number of threads nor on what other
vectors there are.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainer_numba.launching import compiled
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

#: Rows that are added in turns, each from another quarter of the matrix: memory is read in order in
#: each of them. Neighboring rows would leave each place after a row. All products of GPT-2 small
#: that are transposed (340 MB) take 14.2 to 14.4 milliseconds with 2 places, 12.5 with 4 or 6 and
#: 13.4 with 8, and with 4 and 8 neighboring rows 16.0 and 15.1 (AMD EPYC with AVX2, in turns).
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
    the first column and the one after the last, how many numbers are between the last one and the
    next that is read, the vectors, the index of the vector, and the sums, which are in the places
    of their columns.

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
        skipped: Any,
        x: Any,
        n: Any,
        y: Any,
    ) -> tuple[Any, Any]:
        signature = types.void(matrix, first, apart, start, stop, skipped, x, n, y)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            matrix, first, apart, start, stop, skipped, x, n, y = arguments
            kinds = signature.args
            indexes = [builder.add(first, builder.mul(apart, INDEX(k))) for k in range(rows)]
            places = [Row(context, builder, kinds[0], matrix, i) for i in indexes]
            vector = Row(context, builder, kinds[6], x, n)
            totals = Row(context, builder, kinds[8], y, n)
            numbers = [vector.at(i) for i in indexes]
            factors = [repeated(builder, number) for number in numbers]
            blocks = builder.sdiv(builder.sub(stop, start), INDEX(BLOCK))
            last = builder.sub(blocks, INDEX(_BLOCKS_AHEAD + 1))
            with cgutils.for_range(builder, blocks) as loop:
                place = builder.add(start, builder.mul(loop.index, INDEX(BLOCK)))
                starts = [builder.add(place, INDEX(LANES * k)) for k in range(BLOCK // LANES)]
                is_last = builder.icmp_signed(">", loop.index, last)
                ahead = builder.select(is_last, skipped, INDEX(0))
                sums = [totals.vector(at, FLOATS) for at in starts]
                for row, factor in zip(places, factors, strict=True):
                    if fetches:
                        _fetch_next(builder, row, starts, ahead)
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


def _fetch_next(builder: Any, row: Row, starts: list[Any], ahead: Any) -> None:
    """Fetches a block that is used soon, ``ahead`` numbers farther than it would be in a row."""
    farther = builder.add(ahead, INDEX(_BLOCKS_AHEAD * BLOCK))
    for at in starts:
        row.fetch_ahead(builder.add(at, farther), 0)


# Without the first parameter, which the decorator fills in.
_one: Any = _sums_of(1, fetches=True)
_some: Any = _sums_of(PLACES, fetches=True)
_one_again: Any = _sums_of(1, fetches=False)
_some_again: Any = _sums_of(PLACES, fetches=False)


@compiled
def column_product(part, start, stop, x, matrix, bias, y):
    """Writes blocks ``start`` to ``stop`` of columns of ``x`` times ``matrix``, plus a bias.

    An empty ``bias`` means none.
    """
    terms, columns = matrix.shape
    first, after = start * BLOCK, min(stop * BLOCK, columns)
    vectors, apart = len(x), terms // PLACES
    if not vectors or first == after:
        return
    y[:, first:after] = 0
    # A single vector needs no row again.
    near = after - first if vectors == 1 else _NEAR
    for k in range(apart):
        for low in range(first, after, near):
            high = min(low + near, after)
            # The next row of a part begins after the columns of the others.
            skipped = columns - (after - first) if high == after else 0
            _some(matrix, k, apart, low, high, skipped, x, 0, y)
            for n in range(1, vectors):
                _some_again(matrix, k, apart, low, high, 0, x, n, y)
    for k in range(apart * PLACES, terms):
        _one(matrix, k, 0, first, after, 0, x, 0, y)
        for n in range(1, vectors):
            _one_again(matrix, k, 0, first, after, 0, x, n, y)
    if len(bias):
        for n in range(vectors):
            for j in range(first, after):
                y[n, j] += bias[j]
