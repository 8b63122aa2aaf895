"""Kernel of affine transformations of few rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array, DType

from chainer_numba.column_products import column_product
from chainer_numba.launching import compiled, config, dense, launch, parts_of
from chainer_numba.packed_rows import float32_product
from chainer_numba.products import PANEL, dots, sums, sums_of_rows
from chainer_numba.supports import MAX_COLUMN_ROWS
from chainer_numba.vector_code import ROWS

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32

#: Rows up to which scalar products of rows are faster than a transposed copy of the weight, and up
#: to which the weight is read where it is. Both measured with AVX-512.
DOT_ROWS, DIRECT_ROWS = 40, 40

#: Rows and terms up to which that is so with AVX2, whose tiles of scalar products are smaller: the
#: lanes of their sums are added up after every few vectors if there are few terms. Billions of
#: multiplications in a second, scalar products / transposed copy: 20 rows of 200 terms 33 / 36, of
#: 64 terms 22 / 30; 12 rows of 200 terms 31 / 31, of 64 terms 21 / 25; 8 rows of 200 terms 31 / 27;
#: 20 rows of 1024 terms 37 / 33 (AMD EPYC, one thread, quiet, in turns).
_FEW_DOT_ROWS, _FEW_TERMS = 12, 256

#: Distance of rows in memory, in numbers, whose multiples share few sets of the first level of the
#: cache, and rows from which a copy is faster then: 20 and 40 rows times 1024 x 1024 numbers make
#: 24 and 21 billion multiplications in a second where they are read in place, and 28 and 33 of a
#: copy; with 512 x 512 numbers 26 and 34, and 26 and 41 (the same measurement).
_CROWDED, _CROWDED_ROWS = 512, 16

#: Rows from which the gradients are computed here: BLAS is as fast for a single one.
SEVERAL_ROWS = 2

#: Rows up to which one thread computes the gradient of the weight here. BLAS is faster for longer
#: sums. Several threads compute all of them: BLAS has a single thread beside oneDNN, and its own
#: threads wait spinning for each other, up to 4 milliseconds for a product while another program
#: uses one of two processors. Of 700 rows, 200 and 1000 columns: here 2.06 milliseconds with two
#: threads, BLAS 3.3 with one and 1.65 with two (AMD EPYC with AVX2, quiet).
GRADIENT_ROWS = 256

#: Numbers of inputs and gradients that are collected for one product, if that makes more rows than
#: above. A longer sum reads and writes the gradient fewer times, but collected numbers take the
#: place of weights in the cache: an LSTM with weights of 800 x 200 and 1000 x 200 numbers takes as
#: long with 393 as with 768 rows, a GRU with weights of 200 x 200 numbers 43.6 ms with 512 rows and
#: 42.5 with 768 (AMD EPYC with AVX2, one thread, quiet, in turns).
_COLLECTED = 3 << 17

#: Collected rows from which one thread leaves the product to BLAS with AVX2: it makes 45 to 47
#: billion multiplications in a second with 240 to 700 rows, where 38 to 42 are made here (the
#: same). With AVX-512 both make as many, and here the product needs no array of its own: an LSTM
#: step by step takes 0.98 of the time, a GRU 0.97 (AMD EPYC, Zen 5, one thread, quiet, in turns).
_BLAS_ROWS = 128 if ROWS == 4 else sys.maxsize

#: Multiplications that take as long as an element of a cheap loop: 0.16 nanoseconds of a relu on a
#: processor with AVX2, which makes 25 billion multiplications in a second.
_MULTIPLICATIONS = 4

#: Groups of rows of a product from which threads share the rows, and below which they share the
#: panels. Rows are shared more evenly, and a thread keeps its own in its cache. Each thread copies
#: all panels then, which takes long where rows are few. With two threads, the three products of an
#: affine transformation of 700 rows, 200 and 1000 columns take 1.58, 1.56 and 1.95 milliseconds by
#: rows, and 1.83, 1.81 and 2.21 by panels; those of 512 rows, 64 and 192 columns 0.126, 0.112 and
#: 0.128, and 0.122, 0.141 and 0.152 (AMD EPYC with AVX2, quiet, in turns).
_ROW_GROUPS = 16

_NO_START = numpy.empty(0, f)


class LinearKernel:
    """Kernel of ``linear``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("linear").reference_for(backend)

    def forward(self, x: Array, W: Array, b: Array | None, out: Array | None = None) -> Array:
        columns = len(W)
        flags = W.flags
        is_transposed = not flags.c_contiguous
        if W.dtype == f and flags.behaved and flags.forc:
            # The usual case without calls: decoding a token needs a product of each weight.
            if is_transposed:
                W = W.T
        else:
            W, is_transposed = _in_memory(W)
        if x.dtype != f or not x.flags.carray:
            x = dense(x)
        rows, terms = x.shape
        y = numpy.empty((rows, columns), f) if out is None else out
        start, step = (_NO_START, -1) if b is None else (b, 0)
        if start.dtype != f or not start.flags.carray:
            start = dense(start)
        if is_transposed:
            if rows <= MAX_COLUMN_ROWS:
                # The weight is read once for all rows, and BLAS waits longer for memory.
                column_product(x, W, start, y)
            else:
                # Gradients of gradients ask for other arrays than the kernel was chosen for.
                _launch_sums(x, (terms, 1), W, False, rows > DIRECT_ROWS, start, step, y)
            return y
        if rows == 1:
            # It waits for the memory of the weight, and BLAS waits longer.
            if config.NUMBA_NUM_THREADS == 1:
                float32_product(0, 0, columns, x, W, y)
            else:
                launch(float32_product, columns, W.size, x, W, y)
            if b is not None:
                y += b
            return y
        if _are_dots_faster(rows, terms):
            launch(dots, columns, rows * terms * columns // _MULTIPLICATIONS, x, W, y)
            if b is not None:
                y += b
            return y
        _launch_sums(x, (terms, 1), W, True, True, start, step, y)
        return y

    def backward_data(self, gy: Array, W: Array, out: Array | None = None) -> Array:
        if len(gy) < SEVERAL_ROWS:
            return numpy.matmul(gy, W, out=out)
        shape = len(gy), W.shape[1]
        gx = numpy.empty(shape, f) if out is None else out
        is_transposed = False
        if W.dtype != f or not W.flags.carray:  # else without calls
            W, is_transposed = _in_memory(W)
        if gy.dtype != f or not gy.flags.carray:
            gy = dense(gy)
        rows, columns = gy.shape
        if is_transposed and _are_dots_faster(rows, columns):
            launch(dots, len(W), rows * W.size // _MULTIPLICATIONS, gy, W, gx)
        else:
            is_crowded = rows >= _CROWDED_ROWS and W.shape[1] % _CROWDED == 0
            packs = is_transposed or is_crowded or rows > DIRECT_ROWS
            _launch_sums(gy, (columns, 1), W, is_transposed, packs, _NO_START, -1, gx)
        return gx

    def backward_weight(self, x: Array, gy: Array, dtype: DType, out: Array | None = None) -> Array:
        if not x.dtype == gy.dtype == dtype == f:
            return self._reference.backward_weight(x, gy, dtype)
        rows, columns = gy.shape
        if rows < SEVERAL_ROWS or is_left_to_blas(rows, x.size * columns):
            return numpy.matmul(gy.T, x, out=out)
        gW = numpy.empty((columns, x.shape[1]), f) if out is None else out
        _multiply_columns(x, gy, _NO_START, -1, gW)
        return gW

    def weight_gradient_sum(self, total: Array) -> WeightGradientSum | None:
        """Returns what adds gradients of the weight to an array, many of them in one pass.

        Args:
            total: The sum so far.
        """
        return WeightGradientSum(total) if total.dtype == f and total.flags.carray else None

    def bias_gradient_sum(self, total: Array) -> BiasGradientSum | None:
        """Returns what adds gradients of the bias to an array, without one array for each.

        Args:
            total: The sum so far.
        """
        return BiasGradientSum(total) if total.dtype == f and total.flags.carray else None


class WeightGradientSum:
    """Collects rows of inputs and of gradients, and adds their product to an array.

    Adding reads and writes the whole array, which is often larger than the cache, so that many
    rows are multiplied together. The arrays are collected, not their numbers: rules do not change
    the arrays that they are given, and a copy for each weight would take the place of weights in
    the cache.

    Args:
        total: The sum so far, a C-contiguous array.
    """

    __slots__ = ("_gys", "_most", "_rows", "_total", "_xs")

    def __init__(self, total: Array) -> None:
        self._total = total
        self._rows = 0
        self._most = max(GRADIENT_ROWS, _COLLECTED // sum(total.shape))
        self._xs: list[Array] = []
        self._gys: list[Array] = []

    def add(self, x: Array, gy: Array) -> bool:
        """Adds a gradient of the weight.

        Args:
            x: Inputs.
            gy: Gradients of the outputs.

        Returns:
            bool: Whether it takes the gradient; otherwise nothing has changed.
        """
        rows = len(x)
        if rows > GRADIENT_ROWS or not x.dtype == gy.dtype == f:
            return False
        if self._rows + rows > self._most:
            self.finish()
        self._rows += rows
        self._xs.append(x)
        self._gys.append(gy)
        return True

    def finish(self) -> None:
        """Adds what was collected."""
        total, rows = self._total, self._rows
        if not rows:
            return
        x, gy = _joined(self._xs), _joined(self._gys)
        if rows >= _BLAS_ROWS and not _is_divided(rows * total.size):
            total += numpy.matmul(gy.T, x)
        else:
            start = total.reshape(-1), total.shape[1]
            _multiply_columns(x, gy, *start, total)
        self._rows = 0
        self._xs.clear()
        self._gys.clear()


def _joined(parts: list[Array]) -> Array:
    """Returns the rows of some matrices as one array of NumPy."""
    # Arrays of other providers join to arrays of theirs.
    arrays = [x if type(x) is numpy.ndarray else numpy.asarray(x) for x in parts]
    return numpy.concatenate(arrays) if len(arrays) > 1 else arrays[0]


class BiasGradientSum:
    """Adds rows of gradients to an array.

    Args:
        total: The sum so far, a contiguous vector.
    """

    def __init__(self, total: Array) -> None:
        self._total = total

    def add(self, gy: Array) -> bool:
        """Adds the gradients of a bias.

        Args:
            gy: Gradients of the outputs.

        Returns:
            bool: Whether it takes the gradient; otherwise nothing has changed.
        """
        # NumPy adds many rows as fast as memory allows. Arrays of another provider are its own.
        if type(gy) is not numpy.ndarray or gy.dtype != f or len(gy) > GRADIENT_ROWS:
            return False
        if not gy.flags.carray:
            gy = dense(gy)
        add_rows(0, 0, len(self._total), gy, self._total)
        return True

    def finish(self) -> None:
        """Does nothing: the sum is complete after each gradient."""


@compiled
def add_rows(part, start, stop, x, total):
    """Adds columns ``start`` to ``stop`` of ``x`` to ``total``.

    The sum of eight rows stays in registers. Threads take columns, so that the order of each sum
    does not depend on their number.
    """
    rows = len(x)
    whole = rows // 8 * 8
    sums = total[start:stop]
    for k in range(0, whole, 8):
        a, b, c, d = (
            x[k, start:stop],
            x[k + 1, start:stop],
            x[k + 2, start:stop],
            x[k + 3, start:stop],
        )
        p, q, r, s = (
            x[k + 4, start:stop],
            x[k + 5, start:stop],
            x[k + 6, start:stop],
            x[k + 7, start:stop],
        )
        for i in range(len(sums)):
            sums[i] += ((a[i] + b[i]) + (c[i] + d[i])) + ((p[i] + q[i]) + (r[i] + s[i]))
    for k in range(whole, rows):
        a = x[k, start:stop]
        for i in range(len(sums)):
            sums[i] += a[i]


def _in_memory(W: Array) -> tuple[Array, bool]:
    """Returns a weight in the order of its memory, and whether that is its transpose."""
    flags = W.flags
    is_transposed = not flags.c_contiguous and flags.f_contiguous
    if is_transposed:
        W = W.T
    # Files may be mapped for reading only. Loops take writable arrays only, and copying a weight
    # takes longer than the product.
    if not flags.writeable and flags.aligned and W.dtype == f and W.flags.c_contiguous:
        W = numpy.asarray(_Alias(W))
    return dense(W), is_transposed


class _Alias:
    """The memory of a read-only array, marked as writable; the kernel only reads it.

    Args:
        array: The array.
    """

    def __init__(self, array: Array) -> None:
        self._array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _multiply_columns(x: Array, gy: Array, start: Array, step: int, gW: Array) -> None:
    x, gy = dense(x), dense(gy)
    packs = x.shape[1] > PANEL
    _launch_sums(gy, (1, gy.shape[1]), x, False, packs, start, step, gW)


def _are_dots_faster(rows: int, terms: int) -> bool:
    """Returns whether scalar products of rows are faster than a transposed copy of the weight."""
    has_small_tiles = ROWS == 4
    few = _FEW_DOT_ROWS if has_small_tiles and terms <= _FEW_TERMS else DOT_ROWS
    return rows <= few


def is_left_to_blas(rows: int, multiplications: int) -> bool:
    """Returns whether BLAS makes a product of many rows faster: one thread here would make it.

    Args:
        rows: Number of rows.
        multiplications: Their number in the whole product.
    """
    return rows > GRADIENT_ROWS and not _is_divided(multiplications)


def _is_divided(multiplications: int) -> bool:
    """Returns whether several threads share a product."""
    return parts_of(_ROW_GROUPS, multiplications // _MULTIPLICATIONS) > 1


def _launch_sums(
    a: Array,
    strides: tuple[int, int],
    b: Array,
    is_transposed: bool,
    packs: bool,
    start: Array,
    step: int,
    c: Array,
) -> None:
    """Computes a product; see :func:`chainer_numba.products.sums`."""
    rows, columns = c.shape
    elements = a.size * columns // _MULTIPLICATIONS
    arguments = a.reshape(-1), *strides, b, is_transposed, packs, start, step, c
    groups = -(-rows // ROWS)
    if groups >= _ROW_GROUPS and _is_divided(a.size * columns):
        launch(sums_of_rows, groups, elements, *arguments)
    else:
        # As panels_of(), without the call.
        launch(sums, -(-columns // PANEL), elements, *arguments)
