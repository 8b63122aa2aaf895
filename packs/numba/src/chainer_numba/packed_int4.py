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

#: Bytes of a vector of codes, and numbers of a vector of float32: one register of AVX-512. LLVM
#: divides them where registers are shorter. Half of a group must be a multiple of it.
LANES = 16

_INDEX, _NUMBER, _FLOAT, _BYTE = ir.IntType(64), ir.IntType(32), ir.FloatType(), ir.IntType(8)
_FLOATS = ir.VectorType(_FLOAT, LANES)
_NUMBERS = ir.VectorType(_NUMBER, LANES)
_BYTES = ir.VectorType(_BYTE, LANES)


def _each(kind: Any, value: Any) -> Any:
    """Returns a constant vector of equal elements."""
    return ir.Constant(kind, [ir.Constant(kind.element, value)] * LANES)


def _intrinsic(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, arguments)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32")


class _Row:
    """A row of a contiguous matrix, in the code that is being built.

    Args:
        context: Context of the target.
        builder: Builder of the code.
        kind: Numba's type of the matrix.
        matrix: The matrix.
        index: Index of the row.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, matrix: Any, index: Any) -> None:
        array = context.make_array(kind)(context, builder, matrix)
        self._builder = builder
        self.length = cgutils.unpack_tuple(builder, array.shape)[1]
        self._begin = builder.gep(array.data, [builder.mul(index, self.length)])

    def at(self, index: Any) -> Any:
        """Returns an element."""
        return self._builder.load(self._builder.gep(self._begin, [index]))

    def vector(self, index: Any, kind: Any) -> Any:
        """Returns the elements from an index on."""
        place = self._builder.gep(self._begin, [index])
        found = self._builder.load(self._builder.bitcast(place, kind.as_pointer()))
        # Rows begin anywhere; by default vectors are taken for aligned.
        found.align = 1
        return found


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
            _Row(context, builder, kinds[k], arguments[k], arguments[at])
            for k, at in ((0, 1), (2, 1), (3, 5), (4, 5))
        )
        multiply_add = _intrinsic(builder, "fmuladd", _FLOATS, [_FLOATS, _FLOATS, _FLOATS])
        total = cgutils.alloca_once_value(builder, _each(_FLOATS, 0.0))
        low_sum, high_sum = (cgutils.alloca_once(builder, _FLOATS) for _ in range(2))
        half = builder.udiv(code_row.length, scale_row.length)
        steps = builder.udiv(half, ir.Constant(_INDEX, LANES))
        with cgutils.for_range(builder, scale_row.length) as groups:
            builder.store(_each(_FLOATS, 0.0), low_sum)
            builder.store(_each(_FLOATS, 0.0), high_sum)
            start = builder.mul(groups.index, half)
            with cgutils.for_range(builder, steps) as step:
                place = builder.add(start, builder.mul(step.index, ir.Constant(_INDEX, LANES)))
                both = builder.zext(code_row.vector(place, _BYTES), _NUMBERS)
                low = builder.and_(both, _each(_NUMBERS, 15))
                high = builder.lshr(both, _each(_NUMBERS, 4))
                for number, row, memory in (
                    (low, low_row, low_sum),
                    (high, high_row, high_sum),
                ):
                    factor, x = builder.uitofp(number, _FLOATS), row.vector(place, _FLOATS)
                    new = builder.call(multiply_add, [factor, x, builder.load(memory)])
                    builder.store(new, memory)
            first = builder.insert_element(
                ir.Constant(_FLOATS, ir.Undefined),
                scale_row.at(groups.index),
                ir.Constant(_NUMBER, 0),
            )
            scale = builder.shuffle_vector(
                first, ir.Constant(_FLOATS, ir.Undefined), _each(_NUMBERS, 0)
            )
            inner = builder.fadd(builder.load(low_sum), builder.load(high_sum))
            builder.store(builder.call(multiply_add, [inner, scale, builder.load(total)]), total)
        add_lanes = _intrinsic(builder, "vector.reduce.fadd", _FLOAT, [_FLOAT, _FLOATS])
        # Without the flag the lanes would be added one after the other.
        zero = ir.Constant(_FLOAT, -0.0)
        return builder.call(add_lanes, [zero, builder.load(total)], fastmath=("reassoc",))

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
