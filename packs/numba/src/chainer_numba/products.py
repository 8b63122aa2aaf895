"""Matrix products by tiles that stay in registers."""

from __future__ import annotations

import numpy

from chainer_numba.launching import compiled
from chainer_numba.vector_code import (
    DOT_COLUMNS,
    DOT_ROWS,
    LANES,
    LINE,
    ROWS,
    VECTORS,
    copy_tile,
    dots_tile,
    sums_tile,
    transpose_tile,
)

f = numpy.float32

#: Most columns of a panel: one matrix is read panel by panel, by all rows of the other one.
PANEL = VECTORS * LANES

#: Terms that are added up at once: a panel of so many fits into the second level of the cache,
#: beside the rows that are multiplied with it. Where the terms of a row are far apart, each of them
#: is in another page of memory, and fewer are known at once.
DEPTH, APART = 512, 128

#: Terms that are added up at once where a matrix is read where it is: so many rows of a panel, of
#: three lines each, fit into the first level of the cache, and all groups of rows read them again.
#: Products of 20 rows with weights of 800 x 200 and 1000 x 200 numbers that come from the third
#: level take 83 and 104 microseconds, and 92 and 117 with 512 terms (AMD EPYC with AVX2, one
#: thread, quiet, in turns). The sums start with what is there, so that the bits stay the same.
_NEAR_TERMS = 128

#: Rows of the smaller tile, which takes the last rows.
_FEW = ROWS // 2

_tile_of_3, _tile_of_2, _tile_of_1 = (sums_tile(ROWS, vectors) for vectors in (3, 2, 1))
_first = sums_tile(ROWS, 3, expects=True)
_few_of_3, _few_of_2 = (sums_tile(_FEW, vectors) for vectors in (3, 2))


@compiled
def dots(part, start, stop, a, b, c):
    """Writes rows ``start`` to ``stop`` of ``b`` times all of ``a`` to columns of ``c``."""
    for j in range(start, stop, DOT_COLUMNS):
        for i in range(0, len(a), DOT_ROWS):
            dots_tile(a, b, c, i, min(DOT_ROWS, len(a) - i), j, min(DOT_COLUMNS, stop - j))


def panels_of(columns: int, width: int = PANEL) -> int:
    """Returns the number of panels of a product; all are about as wide.

    Args:
        columns: Columns of the product.
        width: Most columns of a panel.
    """
    return -(-columns // width)


@compiled
def aligned(size):
    """Returns memory that begins a line of the cache: vectors that span two take longer."""
    memory = numpy.empty(size + LINE, f)
    ahead = -memory.ctypes.data % 64 // 4
    return memory[ahead : ahead + size]


@compiled
def _transposed_panel(b, j, width, k0, depth, panel):
    """Copies part of rows ``j`` to ``j + width`` of ``b`` as columns."""
    wide, long = width // LANES * LANES, depth // LANES * LANES
    for q in range(0, wide, LANES):
        for k in range(0, long, LANES):
            transpose_tile(b, j + q, k0 + k, panel, k, q)
        for k in range(long, depth):
            for r in range(q, q + LANES):
                panel[k, r] = b[j + r, k0 + k]
    if wide < width:
        # Vectors are computed to the end.
        panel[:, wide:] = 0
    for r in range(wide, width):
        for k in range(depth):
            panel[k, r] = b[j + r, k0 + k]


@compiled
def _tile(size, a, a_row, a_term, i, rows, b, at, terms, initial, s_row, c, j):
    """Writes a tile of ``size`` vectors, or as many columns and rows of it as there are."""
    n, width = min(ROWS, rows - i), c.shape[1] - j
    if size == 3:
        if n <= _FEW:
            _few_of_3(a, a_row, a_term, i, n, b, at, terms, initial, s_row, c, j, width)
        else:
            _tile_of_3(a, a_row, a_term, i, n, b, at, terms, initial, s_row, c, j, width)
    elif size == 2:
        if n <= _FEW:
            _few_of_2(a, a_row, a_term, i, n, b, at, terms, initial, s_row, c, j, width)
        else:
            _tile_of_2(a, a_row, a_term, i, n, b, at, terms, initial, s_row, c, j, width)
    else:
        _tile_of_1(a, a_row, a_term, i, n, b, at, terms, initial, s_row, c, j, width)


@compiled
def sums(part, start, stop, a, a_row, a_term, b, is_transposed, packs, initial, s_row, c):
    """Writes panels ``start`` to ``stop`` of a product; see :func:`sums_tile`."""
    rows, columns = c.shape
    terms = b.shape[1] if is_transposed else b.shape[0]
    vectors, panels = -(-columns // LANES), -(-columns // PANEL)
    most = APART if a_term != 1 else DEPTH if packs else _NEAR_TERMS
    deepest = min(terms, most)
    panel = aligned(deepest * PANEL).reshape(deepest, PANEL)
    for k0 in range(0, max(terms, 1), most):
        depth = min(most, terms - k0)
        x = a[k0 * a_term :]
        if k0:
            initial, s_row = c.reshape(-1), columns
        for p in range(start, stop):
            first, after = p * vectors // panels * LANES, (p + 1) * vectors // panels * LANES
            size, width = (after - first) // LANES, min(after, columns) - first
            source, at = b, first
            if packs or width < after - first:
                source, at = panel, 0
                if is_transposed:
                    _transposed_panel(b, first, width, k0, depth, panel)
                else:
                    for k in range(depth):
                        copy_tile(b[k0:], k, first, width, panel)
            else:
                source = b[k0:]
            done = 0
            if size == 3 and not packs and rows >= ROWS:
                # The first rows bring the panel to the cache.
                n = c.shape[1] - first
                _first(x, a_row, a_term, 0, ROWS, source, at, depth, initial, s_row, c, first, n)
                done = ROWS
            for i in range(done, rows, ROWS):
                _tile(size, x, a_row, a_term, i, rows, source, at, depth, initial, s_row, c, first)


@compiled
def sums_of_rows(part, start, stop, a, a_row, a_term, b, is_transposed, packs, initial, s_row, c):
    """Writes groups of ``ROWS`` rows ``start`` to ``stop`` of a product, as :func:`sums` does."""
    first, after = start * ROWS, min(stop * ROWS, len(c))
    panels = -(-c.shape[1] // PANEL)
    x, y = a[first * a_row :], c[first:after]
    if s_row > 0:
        initial = initial[first * s_row :]
    sums(part, 0, panels, x, a_row, a_term, b, is_transposed, packs, initial, s_row, y)


# -- packed matrices ------------------------------------------------------------------------------

#: Terms of a packed panel that are added up at once: so many fit into the first level of the cache.
_NEAR = 224


@compiled
def pack_rows(b, packed):
    """Copies the rows of ``b`` as columns of panels, for the product with its transposition."""
    panels, terms, _ = packed.shape
    vectors = -(-len(b) // LANES)
    for p in range(panels):
        first, after = p * vectors // panels * LANES, (p + 1) * vectors // panels * LANES
        _transposed_panel(b, first, min(after, len(b)) - first, 0, terms, packed[p])


@compiled
def pack_columns(b, packed):
    """Copies the columns of ``b`` to panels."""
    panels, terms, _ = packed.shape
    vectors = -(-b.shape[1] // LANES)
    for p in range(panels):
        first, after = p * vectors // panels * LANES, (p + 1) * vectors // panels * LANES
        width = min(after, b.shape[1]) - first
        for k in range(terms):
            copy_tile(b, k, first, width, packed[p])


@compiled
def pack_elements(b, packed):
    """As :func:`pack_columns`, for matrices of any strides and of any floating-point type."""
    panels, terms, width = packed.shape
    lanes = width // VECTORS
    vectors = -(-b.shape[1] // lanes)
    for p in range(panels):
        first, after = p * vectors // panels * lanes, (p + 1) * vectors // panels * lanes
        for k in range(terms):
            for j in range(first, after):
                packed[p, k, j - first] = b[k, j] if j < b.shape[1] else 0


@compiled
def multiply_packed(a, a_row, packed, initial, s_row, c):
    """Writes the product with a packed matrix; for ``initial`` see :func:`sums_tile`.

    Rows of ``a`` lie one after the other, ``a_row`` numbers apart. Panels of float64 are half as
    wide as panels of float32.
    """
    panels, terms, width = packed.shape
    rows, columns = c.shape
    lanes = width // VECTORS
    vectors = -(-columns // lanes)
    chunks = max(-(-terms // _NEAR), 1)
    for n in range(chunks):
        k0 = n * terms // chunks
        depth = (n + 1) * terms // chunks - k0
        if n:
            initial, s_row = c.reshape(-1), columns
        for p in range(panels):
            first, after = p * vectors // panels * lanes, (p + 1) * vectors // panels * lanes
            size, panel = (after - first) // lanes, packed[p, k0:]
            for i in range(0, rows, ROWS):
                _tile(size, a[k0:], a_row, 1, i, rows, panel, 0, depth, initial, s_row, c, first)
