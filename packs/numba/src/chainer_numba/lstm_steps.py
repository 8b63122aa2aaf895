"""All steps of an LSTM in one call: the weight is packed once, and states stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.arrays_in_memory import carray, pointer
from chainer_numba.launching import compiled, parts_of
from chainer_numba.lstm_cells import COST, lstm, lstm_gradient
from chainer_numba.products import (
    PANEL,
    aligned,
    multiply_packed,
    pack_columns,
    pack_rows,
    panels_of,
)
from chainer_numba.vector_code import ROWS
from chainer_numba.workers import run_parts

if TYPE_CHECKING:
    from chainer.kernel import ArraySpec

    Steps = Mapping[str, Sequence[Any]]

f = numpy.float32

#: Multiplications that take as long as an element of a cheap loop: 0.16 nanoseconds of a relu on a
#: processor with AVX2, which makes 25 billion multiplications in a second.
_MULTIPLICATIONS = 4

#: Rows up to which all steps in one call were measured.
_MOST_ROWS = 256


@compiled
def _matrix(address, rows, columns):
    """Returns the float32 matrix at an address."""
    return carray(pointer(address), (rows, columns), numpy.float32)


@compiled
def _gates(address, rows, columns):
    """Returns the four gates at an address."""
    return carray(pointer(address), (4, rows, columns), numpy.float32)


@compiled
def lstm_steps(part, start, stop, table, h, c, packed, own, own_cs, own_h, own_gates):
    """Makes the steps of a table: addresses of inputs, sources, cell states, outputs and gates.

    Results whose address is 0 are not kept. Rows do not depend on each other, so that a thread
    makes all steps of its rows, and waits for no other thread.
    """
    rows, units = c.shape
    for t in range(len(table)):
        inputs = _matrix(table[t, 0], rows, 4 * units).reshape(-1)
        sources = _matrix(table[t, 1], rows, 4 * units) if table[t, 1] else own
        first = inputs[4 * units * start :]
        before = h[start:stop].reshape(-1)
        multiply_packed(before, units, packed, first, 4 * units, sources[start:stop])
        new_c = _matrix(table[t, 2], rows, units) if table[t, 2] else own_cs[t % 2]
        new_h = _matrix(table[t, 3], rows, units) if table[t, 3] else own_h
        gates = _gates(table[t, 4], rows, units) if table[t, 4] else own_gates
        lstm(0, start, stop, c, sources, new_c, new_h, gates)
        c, h = new_c, new_h


@compiled
def lstm_gradient_steps(part, start, stop, table, gx, gc, packed, gh, own_gcs, own_gx):
    """Makes the steps of a table of addresses, the last step of the sequence first.

    A row has the addresses of the gradient of the output, of the cell states before and after, of
    the gates, and of the gradients of the cell states before and of the sources. Results whose
    address is 0 are not kept. As for :func:`lstm_steps`, a thread makes all steps of its rows.
    """
    rows, units = gh.shape
    for t in range(len(table)):
        gy = _matrix(table[t, 0], rows, units).reshape(-1)
        after = gx[start:stop].reshape(-1)
        multiply_packed(after, 4 * units, packed, gy[units * start :], units, gh[start:stop])
        c, new_c = _matrix(table[t, 1], rows, units), _matrix(table[t, 2], rows, units)
        gates = _gates(table[t, 3], rows, units)
        new_gc = _matrix(table[t, 4], rows, units) if table[t, 4] else own_gcs[t % 2]
        new_gx = _matrix(table[t, 5], rows, 4 * units) if table[t, 5] else own_gx
        lstm_gradient(0, start, stop, c, new_c, gates, gc, gh, new_gc, new_gx)
        gx, gc = new_gx, new_gc


def are_suitable(steps: Steps) -> bool:
    """Returns whether all steps are made in one call, given descriptions of their arrays."""
    arrays: list[ArraySpec | None] = [array for part in steps.values() for array in part]
    if any([a is not None and not (a.dtype == f and a.contiguous) for a in arrays]):
        return False
    c, W = steps["c"][0], steps["W"][0]
    if c.ndim != 2 or c.shape[0] > _MOST_ROWS or W.shape != (4 * c.shape[1], c.shape[1]):
        return False
    # Step by step, threads share the columns of a product. Few rows of many units have more columns
    # than rows for threads.
    products = c.shape[0] * c.shape[1] * 4 * c.shape[1]
    threads_of_a_step = parts_of(panels_of(c.shape[1]), products // _MULTIPLICATIONS)
    return parts_of_rows(len(steps["c"]), *c.shape) >= threads_of_a_step


def parts_of_rows(times: int, rows: int, units: int) -> int:
    """Returns the number of threads among which the rows of all steps are divided.

    Args:
        times: Number of steps.
        rows: Rows of a state. A thread takes at least a tile of them.
        units: Units of a state.
    """
    elements = times * rows * units * (4 * units // _MULTIPLICATIONS + COST)
    return parts_of(max(rows // ROWS, 1), elements)


def bounds_of_rows(parts: int, rows: int) -> list[int]:
    """Returns where the rows of each part start, and where the last part ends.

    Parts start at whole tiles of a product, or at halves of them, which are computed as fast.
    """
    tile = ROWS // 2
    tiles = -(-rows // tile)
    return [*[tiles * i // parts * tile for i in range(parts)], rows]


def run_rows(loop: Any, parts: int, rows: int, *arguments: Any) -> None:
    """Runs a loop over rows on some threads.

    Args:
        loop: The compiled loop.
        parts: Number of threads.
        rows: Number of rows.
        arguments: Further arguments of the loop.
    """
    if parts == 1:
        loop(0, 0, rows, *arguments)
    else:
        run_parts(loop, bounds_of_rows(parts, rows), arguments)


def forward_steps(steps: Steps) -> Callable[[], None]:
    """Returns a function that makes all steps; see :class:`chainer_numba.lstm_cells.LSTMSteps`."""
    h, c, W = (steps[name][0] for name in ("h", "c", "W"))
    rows, units = c.shape
    packed = _memory(panels_of(4 * units), units, PANEL)
    # Two for the cell states: a loop that reads and writes the same memory has no vectors.
    own = _memory(rows, 4 * units), _memory(2, rows, units), _memory(rows, units)
    own_gates = _memory(4, rows, units)
    parts = parts_of_rows(len(steps["c"]), rows, units)
    table = _table(steps, ("x", "sources", "new_c", "new_h", "gates"))

    def run() -> None:
        pack_rows(W, packed)
        run_rows(lstm_steps, parts, rows, table, h, c, packed, *own, own_gates)

    return run


def backward_steps(steps: Steps) -> Callable[[], None]:
    """Returns a function that makes all steps; see :class:`chainer_numba.lstm_cells.LSTMSteps`."""
    gx, gc, W = (steps[name][0] for name in ("gx", "gc", "W"))
    rows, units = steps["c"][0].shape
    packed, gh = _memory(panels_of(units), 4 * units, PANEL), _memory(rows, units)
    own_gcs, own_gx = _memory(2, rows, units), _memory(rows, 4 * units)
    parts = parts_of_rows(len(steps["c"]), rows, units)
    table = _table(steps, ("gy", "c", "new_c", "gates", "new_gc", "new_gx"))
    if gc is None:
        gc = numpy.zeros((rows, units), f)

    def run() -> None:
        pack_columns(W, packed)
        arguments = table, gx, gc, packed, gh, own_gcs, own_gx
        run_rows(lstm_gradient_steps, parts, rows, *arguments)

    return run


def _memory(*shape: int) -> Array:
    size = 1
    for length in shape:
        size *= length
    return aligned(size).reshape(shape)


def _table(steps: Steps, names: Sequence[str]) -> Array:
    """Returns the addresses of the arrays of each step, 0 for None."""
    columns = [[0 if a is None else a.ctypes.data for a in steps[name]] for name in names]
    return numpy.array(columns, numpy.uintp).T.copy()
