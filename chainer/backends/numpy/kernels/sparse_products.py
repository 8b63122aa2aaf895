"""Reference kernel of products with sparse matrices."""

from __future__ import annotations

import importlib
from functools import cache
from math import prod

import numpy

from chainer.backends.operations.indexing import scatter_add
from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array
from chainer.core.utils import installed


class CooProductKernel(ReferenceKernel):
    """SciPy's products for NumPy where SciPy is installed; else rows are gathered and added."""

    def multiply(self, data: Array, row: Array, col: Array, rows: int, dense: Array) -> Array:
        dtype = numpy.result_type(data.dtype, dense.dtype)
        data, dense = _widened(data, dtype), _widened(dense, dtype)
        if self.xp is numpy:  # elsewhere, looking at values means waiting
            _check_range(row, rows, "row")
            _check_range(col, dense.shape[-2], "column")
        if self.xp is numpy and _has_scipy():
            y = _multiply_by_scipy(data, row, col, rows, dense)
        else:
            y = self._multiply(data, row, col, rows, dense)
        return y.astype(dtype, copy=False)

    def _multiply(self, data: Array, row: Array, col: Array, rows: int, dense: Array) -> Array:
        xp = self.xp
        n = dense.shape[-1]
        y = xp.zeros((*dense.shape[:-2], rows, n), data.dtype)
        used = row >= 0
        # Elements that do not exist become zero times the first row, added to the first row.
        data = xp.where(used, data, xp.zeros_like(data)).reshape(-1)
        places = self._flat(xp.where(used, row, 0), rows)
        sources = self._flat(xp.where(used, col, 0), dense.shape[-2])
        from_rows, to_rows = _as_rows(dense), _as_rows(y)
        for chunk in chunks(data.size, n * data.itemsize, chunk_bytes(dense.nbytes, 2)):
            values = from_rows[sources[chunk]] * data[chunk, None]
            scatter_add.select(to_rows, values).add_at(to_rows, places[chunk], values)
        return y

    def sample(self, row: Array, col: Array, left: Array, right: Array) -> Array:
        xp = self.xp
        dtype = numpy.result_type(left.dtype, right.dtype)
        left, right = _widened(left, dtype), _widened(right, dtype)
        used = row >= 0
        left_rows = self._flat(xp.where(used, row, 0), left.shape[-2])
        right_rows = self._flat(xp.where(used, col, 0), right.shape[-2])
        n = left.shape[-1]
        left, right = _as_rows(left), _as_rows(right)
        data = xp.empty(row.size, left.dtype)
        for chunk in chunks(row.size, 2 * n * left.itemsize, chunk_bytes(right.nbytes, 2)):
            data[chunk] = xp.einsum("kn,kn->k", left[left_rows[chunk]], right[right_rows[chunk]])
        data = data.reshape(row.shape)
        return xp.where(used, data, xp.zeros_like(data)).astype(dtype, copy=False)

    def _flat(self, index: Array, length: int) -> Array:
        """Returns row numbers of a batch of matrices, all rows being numbered in one row."""
        if index.ndim == 2:
            index = index + self.xp.arange(len(index)).reshape((-1, 1)) * length
        return index.reshape(-1)


def _as_rows(array: Array) -> Array:
    """Returns one matrix with the rows of all matrices."""
    return array.reshape((prod(array.shape[:-1]), array.shape[-1]))


def _widened(array: Array, dtype: numpy.dtype) -> Array:
    return array.astype(numpy.float32 if is_half(dtype) else dtype, copy=False)


def _check_range(index: Array, length: int, name: str) -> None:
    if index.size and index.max() >= length:
        raise ValueError(
            f"{name} index exceeds matrix dimensions: {index.max()}, expected less than {length}"
        )


@cache
def _has_scipy() -> bool:
    return installed.is_installed("scipy")


def _multiply_by_scipy(data: Array, row: Array, col: Array, rows: int, dense: Array) -> Array:
    """Multiplies by a CSR matrix. A batch becomes one matrix with the blocks on its diagonal."""
    m, n = dense.shape[-2:]
    blocks = len(dense) if dense.ndim == 3 else 1
    if blocks > 1:
        number = numpy.arange(blocks)[:, None]
        used = row >= 0
        row, col = numpy.where(used, row + number * rows, -1), col + number * m
    data, row, col = data.reshape(-1), row.reshape(-1), col.reshape(-1)
    if row.size and row.min() < 0:
        used = row >= 0
        data, row, col = data[used], row[used], col[used]
    sparse = importlib.import_module("scipy.sparse")
    matrix = sparse.coo_matrix((data, (row, col)), (blocks * rows, blocks * m)).tocsr()
    return (matrix @ dense.reshape((blocks * m, n))).reshape((*dense.shape[:-2], rows, n))
