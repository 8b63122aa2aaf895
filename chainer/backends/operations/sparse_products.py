"""Products with sparse matrices."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class CooProduct(Operation):
    """Products of sparse matrices in coordinate format and dense ones.

    Element ``i`` of the sparse matrix ``A`` is ``data[i]`` in row ``row[i]`` and column ``col[i]``;
    elements at one place add up, those in row -1 do not exist. ``data``, ``row`` and ``col`` have
    the shape ``(nnz,)``, or ``(batch, nnz)``; then the other arrays begin with the same axis.

    ``select(dense)``: the first dense array.

    Methods:
        ``multiply(data, row, col, rows, dense) -> y``: ``A @ dense`` of shape ``(rows, n)`` for
        ``dense`` of shape ``(m, n)``, in the dtype to which both are promoted.

        ``sample(row, col, left, right) -> data``: elements of ``left @ right.T`` at the places of
        the elements of ``A``; zero for those that do not exist. ``left`` has the shape ``(rows,
        n)``, ``right`` the shape ``(m, n)``.

    16-bit types are summed in float32.
    """

    name = "coo_product"
    methods = ("multiply", "sample")
    reference = "chainer.backends.numpy.kernels.sparse_products:CooProductKernel"


coo_product = CooProduct()
