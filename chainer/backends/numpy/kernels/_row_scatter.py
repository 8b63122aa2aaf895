"""Scatter-add of rows with repeated indices (NumPy only).

``numpy.add.at`` is fast, and needs no memory, for vectors only. We therefore add a matrix column by
column. Where rows are long or few, we add them one by one instead.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy

from chainer.core.arrays.chunks import chunks
from chainer.core.typing import Array

#: Rows processed at a time. Columns cost a call per column and block, hence the larger blocks.
ROW_BLOCK, COLUMN_BLOCK = 128, 1024
#: Adding one row takes as long as adding about this many elements by columns (measured).
ELEMENTS_OF_ROW = 200


def scatter_add_rows(matrix: Array, indices: Array, rows: Array) -> None:
    """Adds rows to ``matrix[indices]``; rows of the same index add up.

    Args:
        matrix: Array of shape ``(V, D)``, changed in place.
        indices: Integers of shape ``(N,)``; negative ones count from the end.
        rows: Array of shape ``(N, D)``.
    """
    count, width = rows.shape
    calls = -(-count // COLUMN_BLOCK) * width
    if count <= calls + count * width // ELEMENTS_OF_ROW:
        for part in chunks(count, 1, ROW_BLOCK):
            for index, row in zip(indices[part].tolist(), rows[part], strict=True):
                target = matrix[index]
                target += row
    else:
        for part in chunks(count, 1, COLUMN_BLOCK):
            scatter_add_columns(matrix, indices[part], rows[part].T)


def scatter_add_columns(matrix: Array, indices: Array, columns: Iterable[Array]) -> None:
    """Adds rows to ``matrix[indices]``, like :func:`scatter_add_rows`, given by their columns."""
    indices = indices.astype(numpy.intp, copy=False)
    for target, column in zip(matrix.T, columns, strict=True):
        numpy.add.at(target, indices, column.astype(matrix.dtype, copy=False))
