"""Adding rows to those of a matrix that numbers tell, where numbers come again (NumPy only).

``numpy.add.at`` is fast for one index of one axis only, and takes no memory then; so matrices are
taken apart into columns, or rows are added one by one, which is better where they are long or few.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy

from chainer.core.arrays.chunks import chunks
from chainer.core.typing import Array

#: Rows whose numbers are looked at at a time: by rows, and by columns, which is a call for each.
ROW_BLOCK, COLUMN_BLOCK = 128, 1024
#: Adding a row takes as long as adding about so many of its elements by columns.
ELEMENTS_OF_ROW = 200


def scatter_add_rows(matrix: Array, numbers: Array, rows: Array) -> None:
    """Adds rows to ``matrix[numbers]``; rows of the same number add up.

    Args:
        matrix: Array of shape ``(V, D)``, changed in place.
        numbers: Integers of shape ``(N,)``; negative ones count from the end.
        rows: Array of shape ``(N, D)``.
    """
    count, width = rows.shape
    calls = -(-count // COLUMN_BLOCK) * width
    if count <= calls + count * width // ELEMENTS_OF_ROW:
        for part in chunks(count, 1, ROW_BLOCK):
            for number, row in zip(numbers[part].tolist(), rows[part], strict=True):
                target = matrix[number]
                target += row
    else:
        for part in chunks(count, 1, COLUMN_BLOCK):
            scatter_add_columns(matrix, numbers[part], rows[part].T)


def scatter_add_columns(matrix: Array, numbers: Array, columns: Iterable[Array]) -> None:
    """Adds rows, given by their columns, to ``matrix[numbers]``."""
    numbers = numbers.astype(numpy.intp, copy=False)
    for target, column in zip(matrix.T, columns, strict=True):
        numpy.add.at(target, numbers, column.astype(matrix.dtype, copy=False))
