"""Sparse matrices in coordinate format (public module ``chainer.utils.sparse``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.arrays.backend import get_array_module, get_device_from_array, is_array
from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule, Shape

Order = Literal["C", "F", "other"]
_ORDERS = ("C", "F", "other", None)


class CooMatrix:
    """A sparse matrix, or a batch of sparse matrices of one shape, in coordinate format.

    Element ``i`` of the matrix is ``data[i]``, in row ``row[i]`` and column ``col[i]``. Several
    elements at one place add up. Where the matrices of a batch have different numbers of elements,
    the rest is padding: ``row`` and ``col`` are -1 there.

    Args:
        data (array): Elements, of shape ``(nnz,)``, or ``(batch, nnz)`` for a batch.
        row (array): Row of each element, integers of the shape of ``data``.
        col (array): Column of each element, integers of the shape of ``data``.
        shape (tuple of int): Number of rows and of columns of each matrix.
        order ('C', 'F', 'other' or None): Order of the elements: sorted by row and by column within
            a row, the other way around, or not known. With None it is determined. It is a hint:
            results do not depend on it.
        requires_grad (bool): Whether the elements get a gradient.

    Attributes:
        data (~chainer.Variable): Elements.
        row (array): Row of each element.
        col (array): Column of each element.
        shape (tuple of int): Shape of each matrix.
        order (str): Order of the elements.

    Raises:
        ValueError: If numbers of dimensions or shapes do not fit.

    .. seealso:: :func:`to_coo`, :func:`chainer.functions.sparse_matmul`

    Example:
        >>> data = np.array([1., 2., 3.])
        >>> row, col = np.array([0, 0, 1]), np.array([0, 2, 2])
        >>> chainer.utils.CooMatrix(data, row, col, (2, 3)).to_dense()
        array([[1., 0., 2.],
               [0., 0., 3.]])
    """

    def __init__(
        self,
        data: Array,
        row: Array,
        col: Array,
        shape: Sequence[int],
        order: Order | None = None,
        requires_grad: bool = False,
    ) -> None:
        for name, array in (("data", data), ("row", row), ("col", col)):
            require_attribute(name, array, "ndim", "an array")
        if not 1 <= data.ndim <= 2:
            raise ValueError(f"ndim of data must be 1 or 2, got {data.ndim}")
        if not data.ndim == row.ndim == col.ndim:
            raise ValueError(
                "ndim of data, row and col must be the same, got "
                f"{data.ndim}, {row.ndim} and {col.ndim}"
            )
        if row.shape != col.shape:
            raise ValueError(
                f"shape of row and col must be the same, got {row.shape} and {col.shape}"
            )
        if data.shape != row.shape:
            raise ValueError(
                f"shape of data and row must be the same, got {data.shape} and {row.shape}"
            )
        if len(shape) != 2:
            raise ValueError(f"length of shape must be 2, got {shape!r}")
        if shape[0] <= 0 or shape[1] <= 0:
            raise ValueError(f"numbers in shape must be greater than 0, got {shape!r}")
        if order not in _ORDERS:
            raise ValueError(f"order must be 'C', 'F', 'other' or None, got {order!r}")
        self.data = Variable(data, requires_grad=requires_grad)
        self.row = row
        self.col = col
        self.shape: Shape = (int(shape[0]), int(shape[1]))
        self.order: Order = get_order(row, col) if order is None else order

    def __repr__(self) -> str:
        values = f"{self.data.shape[-1]} {self.data.dtype} elements"
        return f"<{type(self).__name__} of shape {self.shape} with {values}>"

    def to_dense(self) -> Array:
        """Returns the matrices as a dense array, which is not differentiable.

        Returns:
            array: Array of shape ``shape``, or ``(batch, *shape)`` for a batch. Elements at one
            place are added.

        Raises:
            IndexError: If an element is outside of the matrix.
        """
        with get_device_from_array(self.data):
            return self._to_dense(self.data.array)

    def _to_dense(self, data: Array) -> Array:
        xp = get_array_module(data)
        # Padding becomes a zero that is added to the first element.
        used = self.row >= 0
        row, col = xp.where(used, self.row, 0), xp.where(used, self.col, 0)
        values = xp.where(used, data, xp.zeros_like(data))
        dense = xp.zeros((*data.shape[:-1], *self.shape), data.dtype)
        if data.ndim == 1:
            xp.add.at(dense, (row, col), values)
        else:
            batch = xp.arange(len(data)).reshape((-1, 1)) + xp.zeros_like(row)
            xp.add.at(dense, (batch, row, col), values)
        return dense


def to_coo(x: Array, ldnz: int | None = None, requires_grad: bool = False) -> CooMatrix:
    """Returns a dense array in coordinate format.

    Args:
        x (array): A matrix, or a batch of matrices of shape ``(batch, rows, columns)``.
        ldnz (int): Least number of elements of each matrix, including padding. If it is None, or
            smaller than the largest number of nonzero elements, that number is used instead.
        requires_grad (bool): Whether the elements get a gradient.

    Returns:
        ~chainer.utils.CooMatrix: The nonzero elements in order ``'C'``; indexes are int32.

    Raises:
        TypeError: If ``x`` is not an array.
        ValueError: If ``x`` does not have two or three dimensions.

    Example:
        >>> x = np.array([[1, 0, 2], [0, 0, 3]], np.float32)
        >>> matrix = chainer.utils.to_coo(x, ldnz=4)
        >>> matrix.data.array, matrix.row, matrix.col
        (array([1., 2., 3., 0.], dtype=float32), array([ 0,  0,  1, -1], dtype=int32), \
array([ 0,  2,  2, -1], dtype=int32))
    """
    backend = backend_of(x)
    if x.ndim not in (2, 3):
        raise ValueError(f"ndim of x must be 2 or 3, got {x.ndim}")
    with backend.device_of(x):
        data, row, col = _nonzero(backend.xp, x if x.ndim == 3 else x[None], ldnz or 0)
        if x.ndim == 2:
            data, row, col = data[0], row[0], col[0]
    return CooMatrix(data, row, col, x.shape[-2:], "C", requires_grad)


def _nonzero(xp: ArrayModule, matrices: Array, ldnz: int) -> tuple[Array, Array, Array]:
    """Returns the nonzero elements of matrices, their rows and their columns, with padding."""
    batch, row, col = xp.nonzero(matrices)
    # The position of each element within its matrix. nonzero() returns the elements of one matrix
    # after the other.
    counts = (matrices != 0).sum(axis=(1, 2))
    starts = xp.cumsum(counts) - counts
    place = xp.arange(len(batch)) - starts[batch]
    length = max(int(counts.max()) if len(matrices) else 0, ldnz)
    data = xp.zeros((len(matrices), length), matrices.dtype)
    data[batch, place] = matrices[batch, row, col]
    rows = xp.full(data.shape, -1, numpy.int32)
    rows[batch, place] = row
    columns = xp.full(data.shape, -1, numpy.int32)
    columns[batch, place] = col
    return data, rows, columns


def get_order(row: Array, col: Array) -> Order:
    """Determines how the elements of sparse matrices are sorted.

    Args:
        row (array): Row of each element; of a batch of matrices along the last axis.
        col (array): Column of each element.

    Returns:
        str: ``'C'`` if they are sorted by row, and by column within a row; ``'F'`` if they are
        sorted by column, and by row within a column; else ``'other'``. Padding does not count.

    Raises:
        ValueError: If the shapes differ, or only one of the two indexes of an element is negative.

    Example:
        >>> chainer.utils.get_order(np.array([0, 1, 0]), np.array([0, 0, 1]))
        'F'
    """
    for name, array in (("row", row), ("col", col)):
        if not is_array(array):
            raise TypeError(f"{name} must be an array of integers, got {type(array).__name__}")
    if row.shape != col.shape:
        raise ValueError(f"row and col must have one shape, got {row.shape} and {col.shape}")
    with get_device_from_array(row):
        if bool(((row < 0) != (col < 0)).any()):
            raise ValueError("row and col of an element must both be negative (padding) or not")
        if _is_sorted(row, col):
            return "C"
        return "F" if _is_sorted(col, row) else "other"


def _is_sorted(major: Array, minor: Array) -> bool:
    step = major[..., 1:] - major[..., :-1]
    padding = major[..., 1:] < 0
    return bool(((step > 0) | ((step == 0) & (minor[..., 1:] >= minor[..., :-1])) | padding).all())
