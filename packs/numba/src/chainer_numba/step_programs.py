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

from chainer_numba import vector_math
from chainer_numba.arrays_in_memory import carray, pointer
from chainer_numba.launching import compiled, parts_of
from chainer_numba.lstm_steps import bounds_of_rows
from chainer_numba.products import (
    PANEL,
    aligned,
    multiply_packed,
    pack_columns,
    pack_rows,
    panels_of,
)
from chainer_numba.step_calls import ELEMENTWISE, PRODUCTS
from chainer_numba.supports import MIN_ELEMENTS
from chainer_numba.vector_code import IS_SUITABLE, ROWS
from chainer_numba.workers import run_parts

if TYPE_CHECKING:
    from chainer.kernel import ArraySpec, Recurrence, StepCall

    Arrays = Mapping[str, Sequence[Any]]
    Specs = Mapping[str, Sequence[ArraySpec | None]]
    Shapes = dict[str, tuple[int, ...]]

f = numpy.float32
unsigned = numpy.uintp
_ONE = f(1)

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


@compiled
def _block(address, start, rows, columns):
    """Returns rows of the float32 matrix at an address."""
    at = address + unsigned(4 * start * columns)
    return carray(pointer(at), (rows, columns), numpy.float32)


@compiled
def _numbers(address, first, count):
    return carray(pointer(address + unsigned(4 * first)), (count,), numpy.float32)


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
    elif code == 6:
        for j in range(n):
            out[j] = vector_math.tanh(a[j])
    elif code == 7:
        for j in range(n):
            out[j] = vector_math.sigmoid(a[j])
    elif code == 8:
        for j in range(n):
            out[j] = (_ONE - a[j]) * a[j] * b[j]
    elif code == 9:
        for j in range(n):
            out[j] = vector_math.exp(a[j])
    else:
        for j in range(n):
            out[j] = _ONE / a[j]


@compiled
def run_steps(part, start, stop, program, table, packed):
    """Carries out a program for each row of a table of addresses.

    An instruction has its code, the numbers of the result and of two operands, the length of a row
    of each, and for a product the place of the packed weights. Rows do not depend on each other, so
    that a thread makes all steps of the rows ``start`` to ``stop``, and waits for no other thread.
    """
    rows = stop - start
    for t in range(len(table)):
        for n in range(len(program)):
            code, y, x, z = program[n, 0], program[n, 1], program[n, 2], program[n, 3]
            columns, of_x, of_z = program[n, 4], program[n, 5], program[n, 6]
            out, first = table[t, y], table[t, x]
            if code == 0:
                panels = -(-columns // PANEL)
                at = program[n, 7]
                weights = packed[at : at + panels * of_x * PANEL].reshape(panels, of_x, PANEL)
                c = _block(out, start, rows, columns)
                a = _block(first, start, rows, of_x).reshape(-1)
                # The bias is added to each row: rows are 0 numbers apart, -1 means without a bias.
                bias = _numbers(table[t, z], 0, columns)
                multiply_packed(a, of_x, weights, bias, of_z, c)
            elif of_x == columns and of_z == columns:
                size, begin = rows * columns, start * columns
                a, b = _numbers(first, begin, size), _numbers(table[t, z], begin, size)
                _elementwise(code, _numbers(out, begin, size), a, b)
            else:
                # Numbers and rows that are the same for all rows are 0 numbers apart.
                for i in range(start, stop):
                    a = _numbers(first, i * of_x, columns)
                    b = _numbers(table[t, z], i * of_z, columns)
                    _elementwise(code, _numbers(out, i * columns, columns), a, b)


# -- which steps ----------------------------------------------------------------------------------


def are_suitable(recurrence: Recurrence, steps: Specs) -> bool | str:
    """Returns whether all steps are made in one call, or why not.

    Args:
        recurrence: The calls of a step.
        steps: Descriptions of the arrays of each step.
    """
    if not IS_SUITABLE:
        return "the processor has neither AVX2 nor AVX-512, for which it was measured"
    # NumPy's product gets a transposed weight, which is a view.
    views = {call.arguments[1] for call in recurrence.calls if call.name == "numpy.matmul"}
    for name, part in steps.items():
        specs = [spec for spec in part if spec is not None]
        if any([s.dtype != f or not (s.contiguous or name in views) for s in specs]):
            return "only contiguous arrays of float32"
    shapes = _shapes_of(recurrence, steps)
    (last,) = recurrence.carried
    rows, times = shapes[last][0] if shapes[last] else 0, len(steps[last])
    if not 0 < rows <= _MOST_ROWS:
        return f"only states of 1 to {_MOST_ROWS} rows"
    products = [call for call in recurrence.calls if call.name in PRODUCTS]
    if not products:
        return "without products, loops over all arrays of a step are as fast"
    if not all([_is_known(call, recurrence, shapes, rows) for call in recurrence.calls]):
        return "an array has another shape than a row for each row of the state"
    sizes = [_sizes(call, shapes) for call in products]
    return _pays(rows, times, sizes, _parts(recurrence, shapes, times))


def _pays(rows: int, times: int, sizes: list[tuple[int, int]], parts: int) -> bool | str:
    """Returns whether all steps in one call take less time than single calls, or why not.

    Args:
        rows: Rows of the state.
        times: Number of steps.
        sizes: Columns and terms of each product.
        parts: Number of threads that make the steps.
    """
    is_large = max([columns * terms for columns, terms in sizes]) > _LARGE
    fewest = MIN_ELEMENTS["rows of large steps" if is_large else "rows of steps"]
    if times < MIN_ELEMENTS["steps"] or rows * times < fewest:
        return "weights would be packed for too few rows"
    # Step by step, threads share the columns of a product. Few rows of many units have more columns
    # than rows for threads.
    for columns, terms in sizes:
        alone = parts_of(panels_of(columns), rows * columns * terms // _MULTIPLICATIONS)
        if parts < alone:
            return "a product of few rows has more columns for threads than the steps have rows"
    return True


def _shapes_of(recurrence: Recurrence, steps: Arrays) -> Shapes:
    """Returns the shapes of all arrays, also of results that no other call reads."""
    shapes: Shapes = {}
    for name, arrays in steps.items():
        found = next((array for array in arrays if array is not None), None)
        if found is not None:
            shapes[name] = found.shape
    for call in recurrence.calls:
        y = call.names_of_results()[0]
        given = [shapes[a] for a in call.arguments if isinstance(a, str)]
        if y in shapes:
            continue
        if call.name in PRODUCTS:
            # Products of vectors and of stacks of matrices are unknown, and have no shape here.
            of_weight = given[1][::-1] if call.name == "linear.forward" else given[1]
            are_matrices = len(given[0]) == len(of_weight) == 2
            shapes[y] = (given[0][0], of_weight[1]) if are_matrices else ()
        else:
            shapes[y] = numpy.broadcast_shapes(*given)
    return shapes


def _sizes(call: StepCall, shapes: Shapes) -> tuple[int, int]:
    """Returns the columns of a product, and its terms."""
    x = call.arguments[0]
    assert isinstance(x, str)
    return shapes[call.names_of_results()[0]][1], shapes[x][1]


def _is_known(call: StepCall, recurrence: Recurrence, shapes: Shapes, rows: int) -> bool:
    """Returns whether the arrays of a call have rows as they should."""
    y = shapes[call.names_of_results()[0]]
    if len(y) != 2 or y[0] != rows or not y[1]:
        return False
    if call.name not in PRODUCTS:
        given = [shapes[a] for a in call.arguments if isinstance(a, str)]
        return None not in call.arguments and all([s in (y, y[1:], (1, *y[1:])) for s in given])
    x, W, bias = _arguments(call)
    if not isinstance(x, str) or W not in recurrence.fixed or len(shapes[x]) != 2:
        return False
    _, terms = _sizes(call, shapes)
    of_weight = (y[1], terms) if call.name == "linear.forward" else (terms, y[1])
    if shapes[x] != (rows, terms) or shapes[str(W)] != of_weight or not terms:
        return False
    return bias is None or (bias in recurrence.fixed and shapes[str(bias)] == y[1:])


def _arguments(call: StepCall) -> tuple[Any, Any, Any]:
    """Returns the names of the argument, the weight and the bias of a product."""
    x, W, *rest = call.arguments
    return x, W, rest[0] if rest else None


def _parts(recurrence: Recurrence, shapes: Shapes, times: int) -> int:
    """Returns the number of threads among which the rows of all steps are divided."""
    work = 0
    for call in recurrence.calls:
        rows, columns = shapes[call.names_of_results()[0]]
        if call.name in PRODUCTS:
            work += rows * columns * _sizes(call, shapes)[1] // _MULTIPLICATIONS
        else:
            work += rows * columns * ELEMENTWISE[call.name][1]
    (last,) = recurrence.carried
    # A thread takes at least a tile of rows.
    return parts_of(max(shapes[last][0] // ROWS, 1), times * work)


# -- writing programs -----------------------------------------------------------------------------


class AllSteps:
    """Makes all steps.

    Args:
        recurrence: The calls of a step.
        steps: The arrays of each step.
    """

    def __init__(self, recurrence: Recurrence, steps: Arrays) -> None:
        self._shapes = _shapes_of(recurrence, steps)
        #: Arrays whose addresses are in the table, which does not keep them alive.
        self._arrays: list[Array] = []
        columns = self._columns(recurrence, steps)
        slots = {name: n for n, name in enumerate(columns)}
        # Functions that pack weights, with the weight and the place of the packed one.
        self._weights: list[tuple[Any, Array, int, tuple[int, int, int]]] = []
        self._size = 0
        program = [self._instruction(call, slots, steps) for call in recurrence.calls]
        (last,) = recurrence.carried
        rows, times = self._shapes[last][0], len(steps[last])
        self._bounds = bounds_of_rows(_parts(recurrence, self._shapes, times), rows)
        self._packed = aligned(self._size)
        table = numpy.array(list(columns.values()), numpy.uintp).T.copy()
        self._arguments = numpy.array(program, numpy.int64), table, self._packed

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

    def _columns(self, recurrence: Recurrence, steps: Arrays) -> dict[str | float, list[int]]:
        """Returns the addresses of each array in all steps."""
        address, shapes = self._address, self._shapes
        ((last, state),) = recurrence.carried.items()
        times = len(steps[last])
        columns: dict[str | float, list[int]] = {}
        for name in recurrence.inputs:
            columns[name] = [address(a) for a in steps[name]]
        for name in recurrence.results:
            # Memory for what no call reads: twice for the state, from which the next one is made.
            own = [_memory(shapes[name]) for _ in range(2 if name == last else 1)]
            arrays = enumerate(steps[name])
            columns[name] = [address(own[t % len(own)] if a is None else a) for t, a in arrays]
        for name in recurrence.fixed:
            columns[name] = [address(steps[name][0])] * times
        columns[state] = [address(steps[state][0]), *columns[last][:-1]]
        widest = max([shape[-1] for shape in shapes.values() if shape])
        for number in {a for call in recurrence.calls for a in call.arguments}:
            if isinstance(number, float):
                columns[number] = [address(numpy.full(widest, number, f))] * times
        return columns

    def _instruction(
        self, call: StepCall, slots: Mapping[Any, int], steps: Arrays
    ) -> tuple[int, ...]:
        """Returns an instruction of :func:`run_steps`."""
        shapes, y = self._shapes, call.names_of_results()[0]
        if call.name not in PRODUCTS:
            x, z = [*call.arguments, *call.arguments][:2]  # a single one takes both places
            columns = shapes[y][1]
            apart = [columns if shapes.get(a) == shapes[y] else 0 for a in (x, z)]  # type: ignore[arg-type]
            return (ELEMENTWISE[call.name][0], slots[y], slots[x], slots[z], columns, *apart, 0)
        x, W, bias = _arguments(call)
        columns, terms = _sizes(call, shapes)
        shape, start = (panels_of(columns), terms, PANEL), self._size
        self._weights.append((*_packing(call.name, steps[W][0]), start, shape))
        self._size += shape[0] * terms * PANEL
        # Without a bias any array stands in its place, and is not read.
        of_bias, z = (-1, slots[y]) if bias is None else (0, slots[bias])
        return _PRODUCT, slots[y], slots[x], z, columns, terms, of_bias, start


def _packing(name: str, W: Array) -> tuple[Any, Array]:
    """Returns the function that packs the weight of a product, and the array that it gets."""
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


def _memory(shape: tuple[int, ...]) -> Array:
    return aligned(prod(shape)).reshape(shape)
