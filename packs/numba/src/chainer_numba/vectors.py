"""Vectors of float32 that LLVM is given, for loops which it does not divide well by itself."""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils

#: Numbers of a vector of float32: one register of AVX-512. LLVM divides vectors where registers are
#: shorter.
LANES = 16

#: Bytes of a line of the cache.
LINE = 64

#: How many bytes ahead of its use memory is fetched, of the same matrix. Processors fetch ahead by
#: themselves, but not across pages, and not far enough where each line takes some arithmetic: a
#: product with int8 weights waited for half of its time. From 4 to 16 KB all are alike.
AHEAD = 16384

#: Most bytes that are fetched into the first level of the cache; more go into the second.
_NEAR = 2048

#: Whether lines that are fetched into the first level stay out of the others (``prefetchnta``). A
#: weight is read once for a token, and leaves the cache to what else the token needs. On AMD's
#: processors the third level keeps what the second one drops, so that it saves writing there, too:
#: with Zen 3 the weights of GPT-2 small took 7 % less time, a token 8 %. On a Xeon with AVX-512 the
#: same instruction halved the speed.
PASSES_CACHES = llvmlite.binding.get_host_cpu_name().startswith("znver")

INDEX, INT32 = ir.IntType(64), ir.IntType(32)
_FLOAT, _BYTE = ir.FloatType(), ir.IntType(8)
FLOATS = ir.VectorType(_FLOAT, LANES)
INTEGERS = ir.VectorType(INT32, LANES)


def each(kind: Any, value: Any) -> Any:
    """Returns a constant vector of equal elements.

    Args:
        kind: Type of the vector.
        value: The element.
    """
    return ir.Constant(kind, [ir.Constant(kind.element, value)] * LANES)


def repeated(builder: Any, number: Any) -> Any:
    """Returns a vector of equal elements that are known when the code runs.

    Args:
        builder: Builder of the code.
        number: The element, of float32.
    """
    empty = ir.Constant(FLOATS, ir.Undefined)
    first = builder.insert_element(empty, number, INT32(0))
    return builder.shuffle_vector(first, empty, each(INTEGERS, 0))


def multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns ``a * b + c``, by one instruction where there is one.

    Args:
        builder: Builder of the code.
        a: Vector or number of float32.
        b: Vector or number of float32.
        c: Vector or number of float32.
    """
    kind = ir.FunctionType(c.type, [c.type] * 3)
    suffix = f"v{LANES}f32" if c.type == FLOATS else "f32"
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.{suffix}")
    return builder.call(function, [a, b, c])


def sum_of_lanes(builder: Any, vector: Any) -> Any:
    """Returns the sum of the elements of a vector.

    Args:
        builder: Builder of the code.
        vector: Vector of float32.
    """
    kind = ir.FunctionType(_FLOAT, [_FLOAT, FLOATS])
    name = f"llvm.vector.reduce.fadd.v{LANES}f32"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    # Without the flag the lanes would be added one after the other.
    return builder.call(function, [ir.Constant(_FLOAT, -0.0), vector], fastmath=("reassoc",))


class Row:
    """A row of a contiguous matrix, in the code that is being built.

    Args:
        context: Context of the target.
        builder: Builder of the code.
        kind: Numba's type of the matrix.
        matrix: The matrix.
        index: Index of the row.

    Attributes:
        length: Number of columns.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, matrix: Any, index: Any) -> None:
        array = context.make_array(kind)(context, builder, matrix)
        self._builder = builder
        self.length = cgutils.unpack_tuple(builder, array.shape)[1]
        self._begin = builder.gep(array.data, [builder.mul(index, self.length)])

    def at(self, index: Any) -> Any:
        """Returns an element.

        Args:
            index: Index of the column.
        """
        return self._builder.load(self._builder.gep(self._begin, [index]))

    def vector(self, index: Any, kind: Any) -> Any:
        """Returns the elements from a column on.

        Args:
            index: Index of the column.
            kind: Type of the vector.
        """
        place = self._builder.gep(self._begin, [index])
        found = self._builder.load(self._builder.bitcast(place, kind.as_pointer()))
        # Rows begin anywhere; by default vectors are taken for aligned.
        found.align = 1
        return found

    def put(self, index: Any, number: Any) -> None:
        """Writes an element.

        Args:
            index: Index of the column.
            number: The element.
        """
        self._builder.store(number, self._builder.gep(self._begin, [index]))

    def put_vector(self, index: Any, vector: Any) -> None:
        """Writes the elements from a column on.

        Args:
            index: Index of the column.
            vector: The elements.
        """
        place = self._builder.gep(self._begin, [index])
        stored = self._builder.store(vector, self._builder.bitcast(place, vector.type.as_pointer()))
        stored.align = 1

    def fetch_ahead(self, index: Any, distance: int = AHEAD) -> None:
        """Fetches the line of the cache that is used a while after an element.

        Behind the end of a matrix this is harmless: fetching memory that is not there is ignored.

        Args:
            index: Index of the column.
            distance: Bytes between the element and the line.
        """
        builder, text = self._builder, _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [text, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        element = builder.bitcast(builder.gep(self._begin, [index]), text)
        place = builder.gep(element, [INDEX(distance)])
        level = (0 if PASSES_CACHES else 3) if distance <= _NEAR else 2
        # To be read; data, not instructions. 0 means past the caches, 3 into all levels.
        builder.call(function, [place, INT32(0), INT32(level), INT32(1)])
