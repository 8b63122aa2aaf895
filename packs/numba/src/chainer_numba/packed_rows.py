"""Products with rows of weights in bfloat16 and int8, by vectors and with memory fetched ahead.

LLVM makes vectors of the plain loop, too. But nothing of it says that the memory of a weight is
read once, in order, and the processor computes and waits in turns.
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
_ZERO, _HALF = f(0), numpy.uint32(16)

#: Vectors that are added up apart, as an addition takes the time of several loads.
SUMS = 4


def _widened(builder: Any, codes: Any, is_integer: bool) -> Any:
    """Returns a vector of codes as float32."""
    if is_integer:
        return builder.sitofp(builder.sext(codes, INTEGERS), FLOATS)
    bits = builder.shl(builder.zext(codes, INTEGERS), each(INTEGERS, 16))
    return builder.bitcast(bits, FLOATS)


@intrinsic
def whole_vectors(typingctx: Any, codes: Any, i: Any, x: Any, n: Any) -> tuple[Any, Any]:
    """Returns the product of a row of codes with a vector, without the last columns.

    Its arguments are the codes and the index of the row, and the vectors and the index of the
    vector. ``columns % LANES`` columns are left.
    """
    signature = types.float32(codes, i, x, n)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, vector = (
            Row(context, builder, signature.args[k], arguments[k], arguments[k + 1]) for k in (0, 2)
        )
        size = codes.dtype.bitwidth
        narrow = ir.VectorType(ir.IntType(size), LANES)
        sums = [cgutils.alloca_once_value(builder, each(FLOATS, 0.0)) for _ in range(SUMS)]

        def add(place: Any, memory: Any) -> None:
            numbers = _widened(builder, row.vector(place, narrow), codes.dtype.signed)
            x = vector.vector(place, FLOATS)
            builder.store(multiply_add(builder, numbers, x, builder.load(memory)), memory)

        block = INDEX(SUMS * LANES)
        n_blocks = builder.udiv(row.length, block)
        with cgutils.for_range(builder, n_blocks) as step:
            start = builder.mul(step.index, block)
            for k, memory in enumerate(sums):
                place = builder.add(start, INDEX(k * LANES))
                if k * LANES * size // 8 % LINE == 0:
                    row.fetch_ahead(place)
                add(place, memory)
        done = builder.mul(n_blocks, block)
        rest = builder.udiv(builder.sub(row.length, done), INDEX(LANES))
        with cgutils.for_range(builder, rest) as step:
            add(builder.add(done, builder.mul(step.index, INDEX(LANES))), sums[0])
        total = builder.load(sums[0])
        for memory in sums[1:]:
            total = builder.fadd(total, builder.load(memory))
        return sum_of_lanes(builder, total)

    return signature, build


#: Without the first parameter, which the decorator fills in.
_product_of_vectors: Any = whole_vectors


@inlined
def _last(columns):
    return columns // LANES * LANES


@summing
def bfloat16_product(part, start, stop, x, codes, y):
    for i in range(start, stop):
        row = codes[i]
        for n in range(len(x)):
            total = _product_of_vectors(codes, i, x, n)
            for j in range(_last(len(row)), len(row)):
                bits = numpy.uint32(numpy.uint32(row[j]) << _HALF)
                total += bits.view(f) * x[n, j]
            y[n, i] = total


@summing
def int8_product(part, start, stop, x, codes, scales, y):
    for i in range(start, stop):
        row = codes[i]
        for n in range(len(x)):
            total = _product_of_vectors(codes, i, x, n)
            for j in range(_last(len(row)), len(row)):
                total += f(row[j]) * x[n, j]
            y[n, i] = total * scales[i]
