"""Steps of recurrent layers that no kernel declares: products and elementwise calls, step by step.

A step is a list of instructions, which one compiled function carries out for all steps. So no code
is compiled for a network. Weights are packed once for all steps, and the arrays of a step stay in
the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array
from numba import extending, types

from chainer_numba import vector_math, vector_math64
from chainer_numba.arrays_in_memory import carray, pointer
from chainer_numba.launching import compiled, parts_of
from chainer_numba.lstm_steps import bounds_of_rows
from chainer_numba.products import (
    PANEL,
    aligned,
    multiply_packed,
    pack_columns,
    pack_elements,
    pack_rows,
    panels_of,
)
from chainer_numba.step_calls import ELEMENTWISE, PRODUCTS
from chainer_numba.step_layouts import Layouts, RowCall, Rows
from chainer_numba.supports import MIN_ELEMENTS
from chainer_numba.vector_code import IS_SUITABLE, ROWS
from chainer_numba.workers import run_parts

if TYPE_CHECKING:
    from chainer.kernel import ArraySpec, Recurrence, StepCall

    Arrays = Mapping[str, Sequence[Any]]
    Specs = Mapping[str, Sequence[ArraySpec | None]]

f, d = numpy.dtype(numpy.float32), numpy.dtype(numpy.float64)
unsigned = numpy.uintp

_PRODUCT = 0

#: Multiplications that take as long as an element of a cheap loop, as for LSTM.
_MULTIPLICATIONS = 4

#: Numbers of a weight that is large. Packing it takes as long as the products with hundreds of rows
#: save: a GRU of 800 units took 1.05 to 1.23 times as long with 48 to 96 rows of all steps, as long
#: with 384 and 0.84 times as long with 400. One of 200 to 600 units took 0.79 to 0.97 times as long
#: with 16 to 160 rows in four steps or more, and 1.2 times as long with 24 in three (AVX2, one
#: thread, forward and backward).
_LARGE = 1 << 19

#: Rows up to which all steps in one call were measured.
_MOST_ROWS = 256


def _one(x: Any) -> Any:
    """Returns one, of the type of a number."""


def _exp(x: Any) -> Any:
    """Returns the exponential."""


def _tanh(x: Any) -> Any:
    """Returns the hyperbolic tangent."""


def _sigmoid(x: Any) -> Any:
    """Returns the logistic function."""


@extending.overload(_one)
def _typed_one(x):
    return (lambda x: numpy.float32(1)) if x == types.float32 else (lambda x: 1.0)


def _define(function: Any, of_float32: Any, of_float64: Any) -> None:
    """Lets compiled code call one of two functions, by the type of the number."""

    @extending.overload(function)
    def _(x):
        return (lambda x: of_float32(x)) if x == types.float32 else (lambda x: of_float64(x))


_define(_exp, vector_math.exp, vector_math64.exp)
_define(_tanh, vector_math.tanh, vector_math64.tanh)
_define(_sigmoid, vector_math.sigmoid, vector_math64.sigmoid)


@compiled
def _block(address, first, rows, columns, like):
    """Returns the matrix that starts with an element behind an address."""
    at = address + unsigned(like.itemsize * first)
    return carray(pointer(at), (rows, columns), like.dtype)


@compiled
def _numbers(address, first, count, like):
    return carray(pointer(address + unsigned(like.itemsize * first)), (count,), like.dtype)


@compiled
def _with_exponentials(code, out, a, b):
    n = len(out)
    if code == 6:
        for j in range(n):
            out[j] = _tanh(a[j])
    elif code == 7:
        for j in range(n):
            out[j] = _sigmoid(a[j])
    elif code == 8:
        for j in range(n):
            out[j] = (_one(a[j]) - a[j]) * a[j] * b[j]
    elif code == 9:
        for j in range(n):
            out[j] = _exp(a[j])
    elif code == 10:
        for j in range(n):
            out[j] = _one(a[j]) / a[j]
    else:
        for j in range(n):
            out[j] = a[j]


@compiled
def _elementwise(code, out, a, b):
    n = len(out)
    if code == 1:
        for j in range(n):
            out[j] = a[j] + b[j]
    elif code == 2:
        for j in range(n):
            out[j] = a[j] - b[j]
    elif code == 3:
        for j in range(n):
            out[j] = a[j] * b[j]
    elif code == 4:
        for j in range(n):
            out[j] = -a[j]
    elif code == 5:
        for j in range(n):
            out[j] = a[j] * a[j]
    else:
        _with_exponentials(code, out, a, b)


@compiled
def _gathered(address, first, column, count, memory):
    """Returns numbers that lie apart, copied to memory, or where they are if they are neighbors."""
    if column == 1:
        return _numbers(address, first, count, memory)
    source = _numbers(address, first, (count - 1) * column + 1, memory)
    for j in range(count):
        memory[j] = source[j * column]
    return memory[:count]


@compiled
def run_steps(part, start, stop, program, table, packed, widest):
    """Carries out a program for each row of a table of addresses.

    An instruction has its code and the columns of the result; for the result and two operands the
    column of the table, the first element, and the distances of rows and of numbers of a row; and
    for a product its terms and the place of the packed weights. Rows do not depend on each other,
    so that a thread makes all steps of the rows ``start`` to ``stop``, and waits for no other
    thread.
    """
    rows = stop - start
    memory = numpy.empty((3, widest), packed.dtype)
    for t in range(len(table)):
        for n in range(len(program)):
            code, columns = program[n, 0], program[n, 1]
            out, first_y, row_y, column_y = (
                program[n, 2],
                program[n, 3],
                program[n, 4],
                program[n, 5],
            )
            x, first_x, row_x, column_x = program[n, 6], program[n, 7], program[n, 8], program[n, 9]
            z, first_z, row_z, column_z = (
                program[n, 10],
                program[n, 11],
                program[n, 12],
                program[n, 13],
            )
            out, x, z = table[t, out], table[t, x], table[t, z]
            first_y, first_x = first_y + start * row_y, first_x + start * row_x
            if code == 0:
                terms, at = program[n, 14], program[n, 15]
                width = program[n, 16]
                panels = -(-columns // width)
                weights = packed[at : at + panels * terms * width].reshape(panels, terms, width)
                c = _block(out, first_y, rows, columns, packed)
                a = _numbers(x, first_x, (rows - 1) * row_x + terms, packed)
                # The bias is added to each row: rows are 0 numbers apart, -1 means without a bias.
                bias = _numbers(z, 0, columns, packed)
                multiply_packed(a, row_x, weights, bias, row_z, c)
                continue
            first_z += start * row_z
            if row_y == row_x == row_z == columns and column_y == column_x == column_z == 1:
                size = rows * columns
                a, b = _numbers(x, first_x, size, packed), _numbers(z, first_z, size, packed)
                _elementwise(code, _numbers(out, first_y, size, packed), a, b)
                continue
            # Numbers and rows that are the same for all rows are 0 numbers apart.
            for i in range(rows):
                a = _gathered(x, first_x + i * row_x, column_x, columns, memory[0])
                b = _gathered(z, first_z + i * row_z, column_z, columns, memory[1])
                if column_y == 1:
                    _elementwise(code, _numbers(out, first_y + i * row_y, columns, packed), a, b)
                else:
                    y = memory[2, :columns]
                    _elementwise(code, y, a, b)
                    span = (columns - 1) * column_y + 1
                    target = _numbers(out, first_y + i * row_y, span, packed)
                    for j in range(columns):
                        target[j * column_y] = y[j]


# -- which steps ----------------------------------------------------------------------------------


def are_suitable(recurrence: Recurrence, steps: Specs) -> bool | str:
    """Returns whether all steps are made in one call, or why not.

    Args:
        recurrence: The calls of a step.
        steps: Descriptions of the arrays of each step.
    """
    if not IS_SUITABLE:
        return "the processor has neither AVX2 nor AVX-512, for which it was measured"
    problem = _problem_of_dtypes(recurrence, steps)
    if problem is not None:
        return problem
    products = [call for call in recurrence.calls if call.name in PRODUCTS]
    if not products:
        return "without products, loops over all arrays of a step are as fast"
    layouts = Layouts(recurrence, steps)
    if not 0 < layouts.rows <= _MOST_ROWS:
        return f"only states of 1 to {_MOST_ROWS} rows"
    calls = _row_calls(recurrence, layouts)
    if calls is None or not all([layouts.weight(call) for call in products]):
        return "an array has another shape than a row for each row of the state"
    if not layouts.keep_rows_apart(calls):
        return "a step uses a row of an array with another row"
    return _pays(calls, _times(recurrence, steps))


def _problem_of_dtypes(recurrence: Recurrence, steps: Specs) -> str | None:
    """Returns why no step can have arrays of these dtypes and layouts, or None."""
    # NumPy's product gets a transposed weight, which is a view.
    views = {call.arguments[1] for call in recurrence.calls if call.name == "numpy.matmul"}
    for name, part in steps.items():
        specs = [spec for spec in part if spec is not None]
        if any([s.dtype not in (f, d) or not (s.contiguous or name in views) for s in specs]):
            return "only contiguous arrays of float32 or float64"
    if len({spec.dtype for part in steps.values() for spec in part if spec is not None}) != 1:
        return "arrays have different dtypes"
    return None


def _times(recurrence: Recurrence, steps: Arrays) -> int:
    return max([len(steps[name]) for name in recurrence.results])


def _row_calls(recurrence: Recurrence, layouts: Layouts) -> list[RowCall] | None:
    """Returns the calls of a step on rows; None if it has other arrays."""
    found = [layouts.row_calls(call) for call in recurrence.calls]
    known = [calls for calls in found if calls is not None]
    return [call for calls in known for call in calls] if len(known) == len(found) else None


def _pays(calls: list[RowCall], times: int) -> bool | str:
    """Returns whether all steps in one call take less time than single calls, or why not.

    Args:
        calls: The calls of a step.
        times: Number of steps.
    """
    sizes = [(call.columns, call.terms) for call in calls if call.terms]
    rows = calls[0].rows
    is_large = max([columns * terms for columns, terms in sizes]) > _LARGE
    fewest = MIN_ELEMENTS["rows of large steps" if is_large else "rows of steps"]
    if times < MIN_ELEMENTS["steps"] or rows * times < fewest:
        return "weights would be packed for too few rows"
    # Step by step, threads share the columns of a product. Few rows of many units have more columns
    # than rows for threads.
    parts = _parts(calls, times)
    for columns, terms in sizes:
        alone = parts_of(panels_of(columns), rows * columns * terms // _MULTIPLICATIONS)
        if parts < alone:
            return "a product of few rows has more columns for threads than the steps have rows"
    return True


def _parts(calls: list[RowCall], times: int) -> int:
    """Returns the number of threads among which the rows of all steps are divided."""
    work = 0
    for call in calls:
        size = call.rows * call.columns
        work += size * (call.terms // _MULTIPLICATIONS or ELEMENTWISE.get(call.name, (0, 1))[1])
    # A thread takes at least a tile of rows.
    return parts_of(max(calls[0].rows // ROWS, 1), times * work)


# -- writing programs -----------------------------------------------------------------------------


class AllSteps:
    """Makes all steps.

    Args:
        recurrence: The calls of a step.
        steps: The arrays of each step.
    """

    def __init__(self, recurrence: Recurrence, steps: Arrays) -> None:
        self._layouts = Layouts(recurrence, steps)
        (state, *_) = recurrence.carried.values()
        self._dtype = steps[state][0].dtype
        # Vectors of a panel are as long in bytes for each type.
        self._width = PANEL * 4 // self._dtype.itemsize
        #: Arrays whose addresses are in the table, which does not keep them alive.
        self._arrays: list[Array] = []
        calls = _row_calls(recurrence, self._layouts)
        assert calls is not None
        times = _times(recurrence, steps)
        self._widest = max([call.columns for call in calls])
        columns = self._columns(recurrence, steps, times)
        slots = {name: n for n, name in enumerate(columns)}
        # Functions that pack weights, with the weight and the place of the packed one.
        self._weights: list[tuple[Any, Array, int, tuple[int, int, int]]] = []
        self._size = 0
        program: list[tuple[int, ...]] = []
        for call in recurrence.calls:
            if call.name in PRODUCTS:
                program.append(self._product(call, slots, steps))
                continue
            for part in self._layouts.row_calls(call) or ():
                x, z = [*part.operands, *part.operands][:2]  # a single one takes both places
                program.append(
                    (
                        *(ELEMENTWISE[part.name][0], part.columns),
                        *[n for rows in (part.out, x, z) for n in _place(rows, slots)],
                        *(0, 0, 0),
                    )
                )
        self._bounds = bounds_of_rows(_parts(calls, times), self._layouts.rows)
        self._packed = _memory((self._size,), self._dtype)
        table = numpy.array(list(columns.values()), numpy.uintp).T.copy()
        instructions = numpy.array(program, numpy.int64)
        self._arguments = instructions, table, self._packed, self._widest

    def __call__(self) -> None:
        """Makes all steps."""
        for pack, W, start, shape in self._weights:
            size = shape[0] * shape[1] * shape[2]
            pack(W, self._packed[start : start + size].reshape(shape))
        if len(self._bounds) == 2:
            run_steps(0, *self._bounds, *self._arguments)
        else:
            run_parts(run_steps, self._bounds, self._arguments)

    def _address(self, array: Array) -> int:
        self._arrays.append(array)
        return array.ctypes.data

    def _columns(
        self, recurrence: Recurrence, steps: Arrays, times: int
    ) -> dict[str | float, list[int]]:
        """Returns the addresses of each array in all steps."""
        address, shapes = self._address, self._layouts.shapes
        columns: dict[str | float, list[int]] = {}
        for name in recurrence.inputs:
            columns[name] = [address(a) for a in steps[name]]
        for name in recurrence.results:
            # Memory for what no call reads: twice for a state, from which the next one is made.
            count = 2 if name in recurrence.carried else 1
            own = [_memory(shapes[name], self._dtype) for _ in range(count)]
            arrays = enumerate(steps[name])
            columns[name] = [address(own[t % count] if a is None else a) for t, a in arrays]
        for name in recurrence.fixed:
            columns[name] = [address(steps[name][0])] * times
        for last, state in recurrence.carried.items():
            columns[state] = [address(steps[state][0]), *columns[last][:-1]]
        for number in {a for call in recurrence.calls for a in call.arguments}:
            if isinstance(number, float):
                numbers = numpy.full(self._widest, number, self._dtype)
                columns[number] = [address(numbers)] * times
        return columns

    def _product(self, call: StepCall, slots: Mapping[Any, int], steps: Arrays) -> tuple[int, ...]:
        """Returns the instruction of a product."""
        found, weight = self._layouts.row_calls(call), self._layouts.weight(call)
        assert found is not None
        assert weight is not None
        (part,) = found
        columns, terms, out, x = part.columns, part.terms, part.out, part.operands[0]
        W, bias = weight
        shape, start = (panels_of(columns, self._width), terms, self._width), self._size
        self._weights.append((*_packing(call.name, steps[W][0]), start, shape))
        self._size += prod(shape)
        # Without a bias any array stands in its place, and is not read.
        z = out._replace(row=-1) if bias is None else Rows(bias, 0, 0, 1)
        places = [n for rows in (out, x, z) for n in _place(rows, slots)]
        return _PRODUCT, columns, *places, terms, start, self._width


def _place(rows: Rows, slots: Mapping[Any, int]) -> tuple[int, int, int, int]:
    return slots[rows.name], rows.offset, rows.row, rows.column


def _packing(name: str, W: Array) -> tuple[Any, Array]:
    """Returns the function that packs the weight of a product, and the array that it gets."""
    if W.dtype == d:
        return pack_elements, W.T if name == "linear.forward" else W
    if name == "linear.forward":
        return pack_rows, W
    if W.flags.c_contiguous:
        return pack_columns, W
    if W.T.flags.c_contiguous:
        return pack_rows, W.T
    return _pack_copied, W


def _pack_copied(W: Array, packed: Array) -> None:
    # The loop reads neighbors as vectors.
    pack_columns(numpy.ascontiguousarray(W), packed)


def _memory(shape: tuple[int, ...], dtype: Any) -> Array:
    size = prod(shape) * dtype.itemsize // f.itemsize
    return aligned(size).view(dtype).reshape(shape)
