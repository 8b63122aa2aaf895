"""Kernels that add rows up by index."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import dense, exact, launch
from chainer_numba.vector_code import add_row

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32


@exact
def scatter_rows(part, start, stop, indices, rows, ignored, matrix):
    # Threads share the columns: each adds rows in their order, so that the result is always one.
    for i in range(len(indices)):
        index = indices[i]
        if index != ignored:
            add_row(matrix, index, rows, i, start, stop - start)


@exact
def are_valid(indices, count):
    low, high = 0, -1
    for i in range(len(indices)):
        low, high = min(low, indices[i]), max(high, indices[i])
    return low >= -count and high < count


@exact
def are_rows(indices, count):
    """Returns whether all indices count from the first row on, and there are such rows."""
    low, high = 0, -1
    for i in range(len(indices)):
        low, high = min(low, indices[i]), max(high, indices[i])
    return low >= 0 and high < count


@exact
def add_selected_rows(part, start, stop, targets, sources, b, a):
    for i in range(len(targets)):
        target, source = targets[i], sources[i]
        if target < 0:
            target += len(a)
        if source < 0:
            source += len(b)
        add_row(a, target, b, source, start, stop - start)


#: Not an index: no row is ignored.
_NONE = -(2**62)


def checked(indices: Array, count: int, ignored: int | None) -> tuple[Array, int]:
    """Returns indices that are not negative, and the one to ignore.

    Args:
        indices: Integers of any shape.
        count: Number of rows.
        ignored: An index that may be out of range; None for none.

    Raises:
        IndexError: If another index is out of range.
    """
    vector = indices.reshape(-1).astype(numpy.intp)
    # The usual case in one pass: NumPy needs one for the smallest and one for the largest index.
    if ignored is None and are_rows(vector, count):
        return vector, _NONE
    if ignored is not None:
        vector[vector == ignored] = _NONE
    if vector.size:
        valid = vector if ignored is None else vector[vector != _NONE]
        if valid.size:
            low, high = valid.min(), valid.max()
            if high >= count or low < -count:
                wrong = high if high >= count else low
                raise IndexError(f"index {wrong} is out of bounds for axis 0 with size {count}")
            if low < 0:
                vector = numpy.where((vector < 0) & (vector != _NONE), vector + count, vector)
    return vector, _NONE


class EmbeddingKernel:
    """Kernel of ``embedding``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        # NumPy copies whole rows, which cannot be done faster.
        self.forward = get_operation("embedding").reference_for(backend).forward

    def backward(
        self, x: Array, gy: Array, shape: tuple[int, int], ignore_label: int | None
    ) -> Array:
        indices, ignored = checked(x, shape[0], ignore_label)
        gW = numpy.zeros(shape, f)
        rows = dense(gy).reshape(x.size, shape[1])
        launch(scatter_rows, shape[1], rows.size, indices, rows, ignored, gW)
        return gW.astype(gy.dtype, copy=False)

    def gradient_sum(self, total: Array) -> RowSum | None:
        """Returns what adds gradients of the table to an array.

        Args:
            total: The sum so far.
        """
        return RowSum(total) if total.dtype == f and total.flags.carray else None


class RowSum:
    """Adds rows of gradients to an array.

    Args:
        total: The sum so far, a C-contiguous array.
    """

    def __init__(self, total: Array) -> None:
        self._total = total

    def add(self, x: Array, gy: Array, ignore_label: int | None) -> bool:
        """Adds the gradient of an embedding; see :meth:`EmbeddingKernel.backward`."""
        if gy.dtype != f:
            return False
        count, width = self._total.shape
        indices, ignored = checked(x, count, ignore_label)
        rows = dense(gy).reshape(x.size, width)
        launch(scatter_rows, width, rows.size, indices, rows, ignored, self._total)
        return True

    def finish(self) -> None:
        """Does nothing: the sum is complete after each gradient."""


class ScatterAddKernel:
    """Kernel of ``scatter_add`` for indices that are one integer array; others by the reference.

    The kind of index is known only when the method is called.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("scatter_add").reference_for(backend)

    def add_at(self, a: Array, slices: Any, b: Array) -> None:
        if isinstance(slices, tuple) and len(slices) == 1:
            (slices,) = slices
        if not (
            isinstance(slices, numpy.ndarray)
            and slices.dtype.kind in "iu"
            and a.dtype == f
            and a.ndim
            and a.flags.carray
        ):
            self._reference.add_at(a, slices, b)
            return
        indices, ignored = checked(slices, len(a), None)
        width = prod(a.shape[1:])
        rows = dense(b).reshape(len(indices), width)
        launch(scatter_rows, width, rows.size, indices, rows, ignored, a.reshape(len(a), width))


class SelectedRowSumsKernel:
    """Kernel of ``selected_row_sums``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def add(self, a: Array, targets: Array, b: Array, sources: Array) -> bool:
        # One compiled loop for all dtypes of indices.
        to, of = [x.reshape(-1).astype(numpy.intp, copy=False) for x in (targets, sources)]
        if not (are_valid(to, len(a)) and are_valid(of, len(b))):
            return False
        width = a.shape[1]
        launch(add_selected_rows, width, len(to) * width, to, of, b, a)
        return True
