"""Matrix products of few rows, which BLAS libraries compute at half of the processor's speed."""

from __future__ import annotations

import numpy

from chainer_numba.launching import compiled
from chainer_numba.vector_code import (
    DOT_COLUMNS,
    DOT_ROWS,
    LANES,
    ROWS,
    VECTORS,
    copy_tile,
    dots_tile,
    sums_tile,
    transpose_tile,
)

f = numpy.float32

#: Columns of a panel: one matrix is read panel by panel, by all rows of the other one.
PANEL = VECTORS * LANES

_whole_tile = sums_tile(VECTORS, False)
_edge_tile = sums_tile(1, True)


@compiled
def dots(part, start, stop, a, b, c):
    """Writes rows ``start`` to ``stop`` of ``b`` times all of ``a`` to columns of ``c``."""
    for j in range(start, stop, DOT_COLUMNS):
        for i in range(0, len(a), DOT_ROWS):
            dots_tile(a, b, c, i, min(DOT_ROWS, len(a) - i), j, min(DOT_COLUMNS, stop - j))


@compiled
def _transposed_panel(b, j, width, panel):
    """Copies rows ``j`` to ``j + width`` of ``b`` as columns."""
    terms = b.shape[1]
    wide, long = width // LANES * LANES, terms // LANES * LANES
    for q in range(0, wide, LANES):
        for k in range(0, long, LANES):
            transpose_tile(b, j + q, k, panel, k, q)
        for k in range(long, terms):
            for r in range(q, q + LANES):
                panel[k, r] = b[j + r, k]
    for r in range(wide, width):
        for k in range(terms):
            panel[k, r] = b[j + r, k]


@compiled
def sums(part, start, stop, a, a_row, a_term, b, is_transposed, packs, initial, s_row, c):
    """Writes panels ``start`` to ``stop`` of a product; see :func:`sums_tile`."""
    rows, columns = c.shape
    terms = b.shape[1] if is_transposed else b.shape[0]
    panel = numpy.empty((terms if packs else 0, PANEL), f)
    for first in range(start * PANEL, min(stop * PANEL, columns), PANEL):
        width = min(PANEL, columns - first)
        source, at = b, first
        if packs:
            source, at = panel, 0
            if is_transposed:
                _transposed_panel(b, first, width, panel)
            else:
                for k in range(terms):
                    copy_tile(b, k, first, width, panel)
        if width == PANEL:
            for i in range(0, rows, ROWS):
                n = min(ROWS, rows - i)
                _whole_tile(
                    a, a_row, a_term, i, n, source, at, terms, initial, s_row, c, first, PANEL
                )
        else:
            for q in range(0, width, LANES):
                left = min(LANES, width - q)
                for i in range(0, rows, ROWS):
                    n = min(ROWS, rows - i)
                    _edge_tile(
                        a,
                        a_row,
                        a_term,
                        i,
                        n,
                        source,
                        at + q,
                        terms,
                        initial,
                        s_row,
                        c,
                        first + q,
                        left,
                    )
