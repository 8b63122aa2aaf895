"""Products with weights of 4 bits, by vectors that LLVM is given instead of a loop.

A loop over a group of 64 numbers is too short for the compiler: it sums the lanes of its vectors
after each group, which takes as long as the products. Here the sums of a group stay in lanes, are
multiplied by its scale there, and the lanes are added once for a row.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from chainer_numba.launching import summing
from chainer_numba.vectors import (
    FLOATS,
    INDEX,
    INTEGERS,
    LANES,
    Row,
    each,
    multiply_add,
    repeated,
    sum_of_lanes,
)

_BYTES = ir.VectorType(ir.IntType(8), LANES)


@intrinsic
def scaled_row(
    typingctx: Any, codes: Any, i: Any, scales: Any, even: Any, odd: Any, n: Any
) -> tuple[Any, Any]:
    """Returns the product of a row of codes, times their scales, with a vector.

    Its arguments are the codes and the index of the row, the scales of the groups, and the vector:
    its numbers at even and odd columns, as matrices of which it is row ``n``.
    """
    signature = types.float32(codes, i, scales, even, odd, n)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        code_row, scale_row, low_row, high_row = (
            Row(context, builder, kinds[k], arguments[k], arguments[at])
            for k, at in ((0, 1), (2, 1), (3, 5), (4, 5))
        )
        total = cgutils.alloca_once_value(builder, each(FLOATS, 0.0))
        low_sum, high_sum = (cgutils.alloca_once(builder, FLOATS) for _ in range(2))
        half = builder.udiv(code_row.length, scale_row.length)
        steps = builder.udiv(half, INDEX(LANES))
        with cgutils.for_range(builder, scale_row.length) as groups:
            builder.store(each(FLOATS, 0.0), low_sum)
            builder.store(each(FLOATS, 0.0), high_sum)
            start = builder.mul(groups.index, half)
            with cgutils.for_range(builder, steps) as step:
                place = builder.add(start, builder.mul(step.index, INDEX(LANES)))
                # Some lines are asked for more than once, which costs less than a branch.
                code_row.fetch_ahead(place)
                both = builder.zext(code_row.vector(place, _BYTES), INTEGERS)
                low = builder.and_(both, each(INTEGERS, 15))
                high = builder.lshr(both, each(INTEGERS, 4))
                for number, row, memory in (
                    (low, low_row, low_sum),
                    (high, high_row, high_sum),
                ):
                    factor, x = builder.uitofp(number, FLOATS), row.vector(place, FLOATS)
                    new = multiply_add(builder, factor, x, builder.load(memory))
                    builder.store(new, memory)
            scale = repeated(builder, scale_row.at(groups.index))
            inner = builder.fadd(builder.load(low_sum), builder.load(high_sum))
            builder.store(multiply_add(builder, inner, scale, builder.load(total)), total)
        return sum_of_lanes(builder, builder.load(total))

    return signature, build


#: Without the first parameter, which the decorator fills in.
row_product: Any = scaled_row


@summing
def int4_vector_product(part, start, stop, even, odd, sums, codes, scales, minima, y):
    for i in range(start, stop):
        for n in range(len(even)):
            total = row_product(codes, i, scales, even, odd, n)
            for g in range(scales.shape[1]):
                total += sums[n, g] * minima[i, g]
            y[n, i] = total


def serves(group: int) -> bool:
    """Returns whether groups of a length consist of whole vectors.

    Args:
        group: Numbers in a group.
    """
    return group % (2 * LANES) == 0
