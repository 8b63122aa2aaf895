"""Parts of matrix products as vector instructions: tiles of the result that stay in registers.

Compilers do not find these forms in plain loops: they use vectors of 256 bits where the processor
has 512, and forget the registers. So the instructions are written down here, in LLVM's language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import extending
from numba.core import cgutils, types

# For type checkers, what Numba compiles has no types.
intrinsic: Any = extending.intrinsic

_FEATURES = llvmlite.binding.get_host_cpu_features()

#: Whether the processor has instructions for which these tiles were measured.
IS_SUITABLE = bool(_FEATURES.get("avx2") and _FEATURES.get("fma"))

#: Numbers in a vector register, and rows and vectors of a tile of sums. Sums, a row of factors and
#: one other number have to fit into 32 registers of AVX-512, or 16 of AVX2.
LANES, ROWS = (16, 8) if _FEATURES.get("avx512f") else (8, 4)
VECTORS = 3

#: How far ahead a matrix is asked for: rows of a tile of sums, and numbers of each row where it is
#: transposed. Measured with AVX2 only, and not used elsewhere: products of 20 rows with a weight of
#: 800 x 200 numbers take 87 instead of 92 microseconds, gradients of the rows 79 instead of 88, and
#: smaller weights as long as without. An LSTM step by step, whose 2 megabytes of weights replace
#: each other in the cache, takes 0.97 of its time, Python included (AMD EPYC, one thread, quiet, in
#: turns).
ROWS_AHEAD, NUMBERS_AHEAD = (0, 0) if LANES == 16 else (16, 32)

#: Numbers in a line of the cache.
LINE = 16

#: Rows and columns of a tile of scalar products. A tile has as many elements as a vector has lanes,
#: so that one vector takes all sums.
DOT_COLUMNS = 4
DOT_ROWS = LANES // DOT_COLUMNS

_float, _double, _bool = ir.FloatType(), ir.DoubleType(), ir.IntType(1)
_int32, _int64 = ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_float, LANES)
_NUMBER = types.int64
# float32 has 4 bytes. Rows begin anywhere, so that vectors are not aligned to their own size.
_ALIGNMENT = 4

_Value = Any
_Builder = Any


def _vector_of(element: _Value) -> _Value:
    """Returns the vector of a type, whose bytes fill a register."""
    return _vector if element == _float else ir.VectorType(_double, LANES // 2)


def _name_of(kind: _Value) -> str:
    return f"v{kind.count}{'f32' if kind.element == _float else 'f64'}"


def _pick(lanes: Sequence[int]) -> _Value:
    return ir.Constant(ir.VectorType(_int32, len(lanes)), list(lanes))


def _spread(build: _Builder, number: _Value, lanes: int = LANES) -> _Value:
    """Returns a vector with one number in all lanes."""
    undefined = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
    first = build.insert_element(undefined, number, _int32(0))
    return build.shuffle_vector(first, undefined, _pick([0] * lanes))


def _mask(build: _Builder, count: _Value, lanes: int = LANES) -> _Value:
    """Returns which lanes are before a count."""
    numbers = ir.Constant(ir.VectorType(_int64, lanes), list(range(lanes)))
    return build.icmp_signed("<", numbers, _spread(build, count, lanes))


def _load(
    build: _Builder, pointer: _Value, mask: _Value | None = None, vector: _Value = _vector
) -> _Value:
    source = build.bitcast(pointer, vector.as_pointer())
    if mask is None:
        loaded = build.load(source)
        loaded.align = _ALIGNMENT
        return loaded
    kind = ir.FunctionType(vector, [source.type, _int32, mask.type, vector])
    name = f"llvm.masked.load.{_name_of(vector)}.p0"
    function = cgutils.get_or_insert_function(build.module, kind, name)
    return build.call(function, [source, _int32(_ALIGNMENT), mask, _zeros(vector)])


def _store(build: _Builder, value: _Value, pointer: _Value, mask: _Value | None = None) -> None:
    target = build.bitcast(pointer, value.type.as_pointer())
    if mask is None:
        build.store(value, target).align = _ALIGNMENT
        return
    kind = ir.FunctionType(ir.VoidType(), [value.type, target.type, _int32, mask.type])
    name = f"llvm.masked.store.{_name_of(value.type)}.p0"
    function = cgutils.get_or_insert_function(build.module, kind, name)
    build.call(function, [value, target, _int32(_ALIGNMENT), mask])


def _expect(build: _Builder, pointer: _Value) -> None:
    """Asks for a line of memory that is read soon.

    It comes to the first level of the cache and not to the second one, where it would replace what
    Python needs between two products. An address that does not exist raises no error.
    """
    pointer = build.bitcast(pointer, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, _int32, _int32, _int32])
    function = cgutils.get_or_insert_function(build.module, kind, "llvm.prefetch.p0")
    build.call(function, [pointer, _int32(0), _int32(0), _int32(1)])


def _zeros(vector: _Value = _vector) -> _Value:
    return ir.Constant(vector, [0.0] * vector.count)


def _multiply_add(build: _Builder, a: _Value, b: _Value, c: _Value) -> _Value:
    kind = ir.FunctionType(a.type, [a.type] * 3)
    function = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.{_name_of(a.type)}")
    return build.call(function, [a, b, c])


def _smaller(build: _Builder, a: _Value, b: _Value) -> _Value:
    return build.select(build.icmp_signed("<", a, b), a, b)


def _repeated(
    build: _Builder,
    start: Sequence[_Value],
    stop: _Value,
    step: int,
    body: Callable[[_Value, list[_Value]], list[_Value]],
) -> list[_Value]:
    """Writes a loop that carries values in registers.

    Args:
        build: Builder of instructions.
        start: Values before the loop.
        stop: The counter goes from 0 to this number.
        step: Step of the counter.
        body: Makes the values after a step of the counter and the values before it.

    Returns:
        The values after the loop.
    """
    before = build.block
    inside, after = build.append_basic_block("inside"), build.append_basic_block("after")
    build.cbranch(build.icmp_signed(">", stop, _int64(0)), inside, after)
    build.position_at_end(inside)
    counter = build.phi(_int64)
    carried = [build.phi(value.type) for value in start]
    following = body(counter, list(carried))
    more = build.add(counter, _int64(step))
    counter.add_incoming(_int64(0), before)
    counter.add_incoming(more, build.block)
    for phi, first, value in zip(carried, start, following, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, build.block)
    last = build.block
    build.cbranch(build.icmp_signed("<", more, stop), inside, after)
    build.position_at_end(after)
    results = [build.phi(value.type) for value in start]
    for phi, first, value in zip(results, start, following, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, last)
    return results


def _matrix(context: Any, build: _Builder, kind: Any, value: _Value) -> tuple[_Value, _Value]:
    """Returns the pointer of a C-contiguous matrix, and the length of its rows."""
    array = context.make_array(kind)(context, build, value)
    return array.data, cgutils.unpack_tuple(build, array.shape)[1]


def _exchanged(build: _Builder, a: _Value, b: _Value, step: int) -> tuple[_Value, _Value]:
    """Exchanges the lanes of two vectors that differ in one bit of their number."""
    low = [i if not i & step else LANES + (i ^ step) for i in range(LANES)]
    high = [i ^ step if not i & step else LANES + i for i in range(LANES)]
    return build.shuffle_vector(a, b, _pick(low)), build.shuffle_vector(a, b, _pick(high))


def sums_tile(most_rows: int, vectors: int, expects: bool = False) -> Any:
    """Makes the function of a tile of a product, as a sum over outer products.

    The function is ``tile(a, a_row, a_term, i, rows, b, j_b, terms, start, s_row, c, j, columns)``:
    it writes ``sum(a[i + r, k] * b[k, j_b + l] for k)`` to ``c[i + r, j + l]`` for ``rows`` rows
    and ``columns`` columns. Elements of the vector ``a`` have the distances ``a_row`` and
    ``a_term`` in a row's and a term's direction. Sums start with
    ``start[s_row * (i + r) + j + l]``, or with zero if ``s_row`` is negative. Rows of ``b`` are
    read to the end of the tile, also where ``c`` has fewer columns. All arrays are of float32, or
    of float64, of which a vector has half as many.

    Args:
        most_rows: Rows of the tile.
        vectors: Vectors of a row of the tile.
        expects: Whether the tile asks for rows of ``b`` before it reads them. Tiles of further rows
            of ``a`` find them in the cache.
    """

    def generate(context: Any, build: _Builder, signature: Any, arguments: Any) -> _Value:
        kinds = signature.args
        vector = _vector_of(context.get_value_type(kinds[10].dtype))
        lanes = vector.count
        a_row, a_term, i, rows = arguments[1:5]
        j_b, terms, s_row, j, columns = (arguments[at] for at in (6, 7, 9, 11, 12))
        a = context.make_array(kinds[0])(context, build, arguments[0]).data
        b, b_row = _matrix(context, build, kinds[5], arguments[5])
        start = context.make_array(kinds[8])(context, build, arguments[8]).data
        c, c_row = _matrix(context, build, kinds[10], arguments[10])
        # Rows that do not exist are computed as the last one, and not written.
        last = build.sub(rows, _int64(1))
        all_rows = [build.add(i, _smaller(build, _int64(r), last)) for r in range(most_rows)]
        factors = [build.gep(a, [build.mul(row, a_row)]) for row in all_rows]
        offsets = [_int64(lanes * v) for v in range(vectors)]
        masks = [_mask(build, build.sub(columns, offset), lanes) for offset in offsets]
        tile = [(r, v) for r in range(most_rows) for v in range(vectors)]

        no_start = build.block
        reading, ready = build.append_basic_block("reading"), build.append_basic_block("ready")
        build.cbranch(build.icmp_signed("<", s_row, _int64(0)), ready, reading)
        build.position_at_end(reading)
        read: list[Any] = []
        for r, v in tile:
            row = build.gep(start, [build.add(build.mul(all_rows[r], s_row), j)])
            read.append(_load(build, build.gep(row, [offsets[v]]), masks[v], vector))
        build.branch(ready)
        build.position_at_end(ready)
        sums: list[Any] = []
        for value in read:
            phi = build.phi(vector)
            phi.add_incoming(_zeros(vector), no_start)
            phi.add_incoming(value, reading)
            sums.append(phi)

        def term(k: _Value, sums: list[Any]) -> list[Any]:
            row = build.gep(b, [build.add(build.mul(k, b_row), j_b)])
            others = [_load(build, build.gep(row, [at]), None, vector) for at in offsets]
            if expects and ROWS_AHEAD:
                later = build.gep(row, [build.mul(b_row, _int64(ROWS_AHEAD))])
                for line in range(0, lanes * vectors, LINE):
                    _expect(build, build.gep(later, [_int64(line)]))
            position = build.mul(k, a_term)
            numbers = [build.load(build.gep(at, [position])) for at in factors]
            factor = [_spread(build, number, lanes) for number in numbers]
            return [
                _multiply_add(build, factor[r], others[v], total)
                for (r, v), total in zip(tile, sums, strict=True)
            ]

        sums = _repeated(build, sums, terms, 1, term)

        def write(masks: Sequence[Any]) -> None:
            for r in range(most_rows):
                with build.if_then(build.icmp_signed("<", _int64(r), rows)):
                    row = build.gep(c, [build.add(build.mul(all_rows[r], c_row), j)])
                    for v in range(vectors):
                        value = sums[r * vectors + v]
                        _store(build, value, build.gep(row, [offsets[v]]), masks[v])

        # Some processors take long to write part of a vector.
        is_whole = build.icmp_signed(">=", columns, _int64(lanes * vectors))
        with build.if_else(is_whole) as (all_columns, some_columns):
            with all_columns:
                write([None] * vectors)
            with some_columns:
                write(masks)
        return context.get_dummy_value()

    @intrinsic
    def tile(typing, a, a_row, a_term, i, rows, b, j_b, terms, start, s_row, c, j, columns):
        n = _NUMBER
        return types.void(a, n, n, n, n, b, n, n, start, n, c, n, n), generate

    return tile


@intrinsic
def dots_tile(typing, a, b, c, i, rows, j, columns):
    """Writes the scalar products of a few rows of ``a`` and of ``b`` to a tile of ``c``."""

    def generate(context: Any, build: _Builder, signature: Any, arguments: Any) -> _Value:
        a_array, b_array, c_array, i, rows, j, columns = arguments
        a, terms = _matrix(context, build, signature.args[0], a_array)
        b, _ = _matrix(context, build, signature.args[1], b_array)
        c, c_row = _matrix(context, build, signature.args[2], c_array)

        def pointers(matrix: _Value, first: _Value, count: _Value, most: int) -> list[_Value]:
            last = build.sub(count, _int64(1))
            all_rows = [build.add(first, _smaller(build, _int64(r), last)) for r in range(most)]
            return [build.gep(matrix, [build.mul(row, terms)]) for row in all_rows]

        left = pointers(a, i, rows, DOT_ROWS)
        right = pointers(b, j, columns, DOT_COLUMNS)

        def terms_at(k: _Value, sums: list[Any], mask: _Value | None = None) -> list[Any]:
            others = [_load(build, build.gep(at, [k]), mask) for at in right]
            result: list[Any] = []
            for r, at in enumerate(left):
                own = _load(build, build.gep(at, [k]), mask)
                for q, other in enumerate(others):
                    total = sums[r * DOT_COLUMNS + q]
                    result.append(_multiply_add(build, own, other, total))
            return result

        whole = build.and_(terms, _int64(-LANES))
        sums = _repeated(build, [_zeros()] * LANES, whole, LANES, terms_at)
        sums = terms_at(whole, sums, _mask(build, build.sub(terms, whole)))
        # Pairs of vectors are added lane by lane until one vector has the total of each.
        step = LANES // 2
        while step:
            half = len(sums) // 2
            pairs = zip(sums[:half], sums[half:], strict=True)
            sums = [build.fadd(*_exchanged(build, x, y, step)) for x, y in pairs]
            step //= 2
        (totals,) = sums
        for r in range(DOT_ROWS):
            lanes = [r * DOT_COLUMNS + q for q in range(DOT_COLUMNS)]
            part = build.shuffle_vector(totals, totals, _pick(lanes))
            target = build.gep(c, [build.add(build.mul(build.add(i, _int64(r)), c_row), j)])
            with build.if_then(build.icmp_signed("<", _int64(r), rows)):
                is_whole = build.icmp_signed(">=", columns, _int64(DOT_COLUMNS))
                with build.if_else(is_whole) as (all_columns, some_columns):
                    with all_columns:
                        _store(build, part, target)
                    with some_columns:
                        for q in range(DOT_COLUMNS):
                            with build.if_then(build.icmp_signed("<", _int64(q), columns)):
                                number = build.extract_element(part, _int32(q))
                                build.store(number, build.gep(target, [_int64(q)]))
        return context.get_dummy_value()

    n = _NUMBER
    return types.void(a, b, c, n, n, n, n), generate


@intrinsic
def transpose_tile(typing, a, i, k, c, row, j):
    """Writes a square of ``a`` from row ``i`` and column ``k`` transposed to ``c[row, j]``."""

    def generate(context: Any, build: _Builder, signature: Any, arguments: Any) -> _Value:
        a_array, i, k, c_array, row, j = arguments
        a, a_row = _matrix(context, build, signature.args[0], a_array)
        c, c_row = _matrix(context, build, signature.args[3], c_array)

        def place(matrix: _Value, length: _Value, first: _Value, r: int, column: _Value) -> _Value:
            position = build.mul(build.add(first, _int64(r)), length)
            return build.gep(matrix, [build.add(position, column)])

        square = [_load(build, place(a, a_row, i, r, k)) for r in range(LANES)]
        if NUMBERS_AHEAD:
            for r in range(LANES):
                _expect(build, build.gep(place(a, a_row, i, r, k), [_int64(NUMBERS_AHEAD)]))
        step = LANES // 2
        while step:
            for r in range(LANES):
                if not r & step:
                    pair = _exchanged(build, square[r], square[r + step], step)
                    # The other lanes belong to the transposed row.
                    square[r], high = pair
                    square[r + step] = high
            step //= 2
        for r in range(LANES):
            _store(build, square[r], place(c, c_row, row, r, j))
        return context.get_dummy_value()

    n = _NUMBER
    return types.void(a, n, n, c, n, n), generate


@intrinsic
def copy_tile(typing, b, k, j, columns, c):
    """Copies part of row ``k`` of ``b``, from column ``j`` on, to row ``k`` of ``c``."""

    def generate(context: Any, build: _Builder, signature: Any, arguments: Any) -> _Value:
        b_array, k, j, columns, c_array = arguments
        b, b_row = _matrix(context, build, signature.args[0], b_array)
        c, c_row = _matrix(context, build, signature.args[4], c_array)
        source = build.gep(b, [build.add(build.mul(k, b_row), j)])
        target = build.gep(c, [build.mul(k, c_row)])
        for v in range(VECTORS):
            offset = _int64(LANES * v)
            mask = _mask(build, build.sub(columns, offset))
            _store(
                build,
                _load(build, build.gep(source, [offset]), mask),
                build.gep(target, [offset]),
            )
        return context.get_dummy_value()

    n = _NUMBER
    return types.void(b, n, n, n, c), generate


@intrinsic
def add_row(typing, a, to, b, of, j, columns):
    """Adds part of row ``of`` of ``b``, from column ``j`` on, to row ``to`` of ``a``.

    A loop over the elements would compare the addresses of both rows each time.
    """

    def generate(context: Any, build: _Builder, signature: Any, arguments: Any) -> _Value:
        a_array, to, b_array, of, j, columns = arguments
        a, a_row = _matrix(context, build, signature.args[0], a_array)
        b, b_row = _matrix(context, build, signature.args[2], b_array)
        target = build.gep(a, [build.add(build.mul(to, a_row), j)])
        source = build.gep(b, [build.add(build.mul(of, b_row), j)])

        def add(k: _Value, mask: _Value | None = None) -> None:
            at = build.gep(target, [k])
            other = _load(build, build.gep(source, [k]), mask)
            _store(build, build.fadd(_load(build, at, mask), other), at, mask)

        def add_vector(k: _Value, carried: list[Any]) -> list[Any]:
            add(k)
            return carried

        whole = build.and_(columns, _int64(-LANES))
        _repeated(build, [], whole, LANES, add_vector)
        rest = build.sub(columns, whole)
        with build.if_then(build.icmp_signed(">", rest, _int64(0))):
            add(whole, _mask(build, rest))
        return context.get_dummy_value()

    n = _NUMBER
    return types.void(a, n, b, n, n, n), generate
