"""Which calls the kernels serve. These functions see shapes, dtypes and attributes, not arrays.

Calls are declined where the reference is as fast: small arrays, because calling compiled code costs
a microsecond for each array; and float64, for which training on NumPy has no use and which would
double the time of compilation.
"""

from __future__ import annotations

import functools
import os
from math import prod
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.kernel import ArraySpec, CallSpec

_FLOAT32 = numpy.dtype(numpy.float32)
_FLOAT16 = numpy.dtype(numpy.float16)

#: Number of elements from which on kernels are faster (measured).
MIN_ELEMENTS = {
    "cheap": 1 << 14,
    "selection": 1 << 15,
    "exponential": 1 << 11,
    "row": 1 << 11,
    "vectors": 1,
    "window": 1 << 11,
    # Length of a row of windows, and number of axes that is not enough for sums of windows.
    "columns": 16,
    "axes": 3,
    "cell": 1 << 9,
    "copy": 1 << 16,
    "rows": 1 << 11,
    "sum": 1 << 17,
    "loss": 1 << 8,
    # Products: rows, and multiplications.
    "product rows": 3,
    # Numbers of a weight for a single row. A weight of 192 x 576 numbers or more that is read from
    # memory takes BLAS 1.5 to 1.7 times as long as here, and its transpose 1.3 to 1.6 times; if it
    # is in the cache, 0.9 to 1.1 times and 0.7 to 1.0 times, which are a few microseconds (AVX2,
    # one thread, quiet). Smaller weights of several layers often stay in the cache.
    "product memory": 3 << 15,
    # Numbers of a weight whose transpose is contiguous, for a few rows: with 2 to 6 rows 128 x 256
    # numbers took BLAS 1.1 to 1.9 times as long, and 100 x 100 numbers 0.6 to 0.9 times (AVX2).
    "product columns": 1 << 15,
    "product": 1 << 16,
    # The same of an affine transformation of many rows, whose gradients BLAS computes faster if
    # they are small. Times of this pack / NumPy, with a bias, without, and of the two gradients:
    # 64 rows of 32 and 32 numbers 1.06, 1.50, 1.69, 1.51; 64 of 64 and 64 0.99, 1.20, 1.30, 1.30;
    # 128 of 64 and 64 0.99, 1.18, 1.24, 1.23; 256 of 64 and 64 0.74, 1.08, 1.14, 1.08; 64 of 128
    # and 128 0.81, 1.05, 1.01, 1.05. With 8 rows of 256 and 256 numbers 0.67, 0.68, 0.93, 1.39,
    # and often no gradients are asked for (AMD EPYC with AVX2, one thread, quiet, in turns).
    "product of many rows": 1 << 20,
    # Steps of a layer in one call: steps, rows of all steps, and those beside a large weight.
    "steps": 4,
    "rows of steps": 16,
    "rows of large steps": 384,
}

#: Environment variable: if it is 1, kernels serve arrays of any size, also the small ones of the
#: tests of a certification.
ANY_SIZE = "CHAINER_NUMBA_ANY_SIZE"

if os.environ.get(ANY_SIZE) == "1":
    MIN_ELEMENTS.update(dict.fromkeys(MIN_ELEMENTS, 0))

#: Cells with products: most numbers of a weight, and most rows. Six steps of a GRU forward and
#: backward take, as single functions / as one node, with 1 to 8 rows: 48 units 1.78 to 1.89, 200
#: units 1.26 to 1.56, 256 units 1.13 to 1.37, 400 units 1.07 to 1.18; with 16 to 64 rows: 64 units
#: 1.40, 200 units 1.43, 256 units 1.19 to 1.36, 400 units 1.10, 1.08 and 0.98; with 256 to 1000
#: rows: 64 units 1.10, 128 units 1.12, 200 units 1.03 to 1.10, 256 units 1.02. 512 to 800 units
#: with 2 to 256 rows: 0.91 to 1.06 (AMD EPYC with AVX2, one thread, quiet, in turns in one process,
#: smallest samples of 2 seconds).
_LARGEST_OF_CELL, _MOST_CELL_ROWS = 3 << 16, 1024

#: Rows of products up to which kernels are faster (measured).
MAX_ROWS = 1024

#: Rows of products that are few: of a token, or of a step of a recurrent layer.
_FEW_ROWS = 20

#: Rows up to which kernels are faster with a weight whose transpose is contiguous. For weights of
#: 300 x 600 to 3072 x 768 numbers BLAS takes 1.9 to 2.8 times as long with 2 and 3 rows, 1.0 to 1.8
#: times with 4 to 6, 0.9 to 1.2 times with 8, and 0.7 to 0.8 times with 12 (AVX2, one thread).
MAX_COLUMN_ROWS = 6

#: Pixels of an image whose positions the 32 bits of a vector element can hold.
_MAX_PIXELS = 2**31

#: Vectors up to which a packed weight is widened for each again, in registers.
MAX_PACKED_ROWS = 4


def enough(array: ArraySpec, kind: str) -> bool | str:
    """Returns True for float32 and float16 arrays that are large enough, else the reason.

    Args:
        array: Description of the array.
        kind: Key of :data:`MIN_ELEMENTS`.
    """
    if array.dtype not in (_FLOAT32, _FLOAT16):
        return f"{array.dtype} is left to the reference: only float32 and float16 are compiled"
    if array.size < MIN_ELEMENTS[kind]:
        return f"the reference is faster for less than {MIN_ELEMENTS[kind]} elements"
    return True


def _given(spec: CallSpec, i: int = 0) -> ArraySpec:
    """Returns the description of an argument that is never None."""
    array = spec.arrays[i]
    assert array is not None
    return array


def any_array(spec: CallSpec) -> bool:
    """Native loops of recorded steps: the loops themselves tell what they are about."""
    return True


def update(spec: CallSpec) -> bool | str:
    """Updates of parameters: contiguous float32 arrays of one shape."""
    for array in spec.arrays:
        if array is None:
            continue
        if array.dtype != _FLOAT32:
            return f"{array.dtype} is left to the reference: only float32 is compiled"
        if not array.contiguous:
            return "only contiguous arrays"
    return True


def cheap(spec: CallSpec) -> bool | str:
    """Functions of few arithmetic operations."""
    return enough(_given(spec), "cheap")


def selection(spec: CallSpec) -> bool | str:
    """Functions that the reference computes by two operations."""
    return enough(_given(spec), "selection")


def exponential(spec: CallSpec) -> bool | str:
    """Functions with exponentials."""
    return enough(_given(spec), "exponential")


def rows(spec: CallSpec) -> bool | str:
    """Functions along an axis, such as the softmax."""
    return enough(_given(spec), "row")


def cross_entropy(spec: CallSpec) -> bool | str:
    """Softmax cross entropy: floating-point weights of classes, if any."""
    answer = _all_small(spec.arrays[2:])
    return enough(_given(spec), "loss") if answer is True else answer


def dropout(spec: CallSpec) -> bool | str:
    """Dropout."""
    return enough(_given(spec), "copy")


def batch_normalization(spec: CallSpec) -> bool | str:
    """Batch normalization whose channels are neighboring axes."""
    x = _given(spec)
    answer = _all_small(spec.arrays[1:])
    if answer is not True:
        return answer
    kept = [i for i in range(x.ndim) if i not in spec.attributes["axis"]]
    if kept and kept[-1] - kept[0] != len(kept) - 1:
        return "the axes that are not reduced must be neighbors"
    return enough(x, "row")


def row_normalization(spec: CallSpec) -> bool | str:
    """Layer and group normalization."""
    answer = _all_small(spec.arrays[1:])
    return enough(_given(spec), "row") if answer is True else answer


def vector_normalization(spec: CallSpec) -> bool | str:
    """Layer and RMS normalization: one call takes less time than the first three of NumPy's."""
    answer = _all_small(spec.arrays[1:])
    return enough(_given(spec), "vectors") if answer is True else answer


def one_query(spec: CallSpec) -> bool | str:
    """Attention with one query of each head, of float32."""
    q = _given(spec)
    if q.ndim != 4 or q.shape[2] != 1:
        return "only arrays of four axes with one query of each head"
    if any(array is not None and array.dtype != _FLOAT32 for array in spec.arrays[:3]):
        return "only float32 is compiled"
    mask, keep = spec.arrays[3:]
    if keep is not None:
        return "dropout is left to the reference"
    return mask is None or mask.dtype.kind == "b" or "numbers as a mask are left to the reference"


def lstm_cell(spec: CallSpec) -> bool | str:
    """LSTM cells whose states have two dimensions."""
    if _given(spec).ndim != 2:
        return "states must have two dimensions"
    return enough(_given(spec), "cell")


def gru_cell(spec: CallSpec) -> bool | str:
    """Steps of a GRU of float32 whose weights are not too large."""
    if any(array is not None and array.dtype != _FLOAT32 for array in spec.arrays):
        return "only float32 arrays"
    if not all(array is None or array.contiguous for array in spec.arrays[2:]):
        return "only contiguous weights"
    rows, units = _given(spec).shape
    largest = units * max(_given(spec, 1).shape[1], units)
    if not (units and _given(spec, 1).size):
        return "empty arrays"
    if rows > _MOST_CELL_ROWS or largest > _LARGEST_OF_CELL:
        return "single products are as fast for many rows and for large weights"
    return _has_vectors()


def n_step_rnn(spec: CallSpec) -> bool | str:
    """LSTM over sequences of float32."""
    if spec.attributes["layout"].mode != "lstm":
        return "only LSTM"
    if any(array is not None and array.dtype != _FLOAT32 for array in spec.arrays):
        return "only float32 arrays"
    _, rows, units = _given(spec, 1).shape
    if 4 * rows * units * units < MIN_ELEMENTS["product"] or not _given(spec).size:
        return "the reference is faster for small products"
    return _has_vectors()


def tree_lstm_cell(spec: CallSpec) -> bool | str:
    """LSTM cells of trees whose states have two dimensions."""
    return "cells without children" if len(spec.arrays) == 1 else lstm_cell(spec)


def embedding(spec: CallSpec) -> bool | str:
    """Embedding by integers."""
    x, W = _given(spec), _given(spec, 1)
    if x.size * W.shape[1] < MIN_ELEMENTS["rows"]:
        return f"the reference is faster for less than {MIN_ELEMENTS['rows']} elements"
    return _all_small((W,))


def linear(spec: CallSpec) -> bool | str:
    """Affine transformations of a few rows of float32."""
    x, W = _given(spec), _given(spec, 1)
    if any(array is not None and array.dtype != _FLOAT32 for array in spec.arrays):
        return "only products of float32 arrays"
    if W.transposed:
        return _columns(x.shape[0], W.size)
    if not W.contiguous:
        return "only weights that are contiguous, or whose transpose is"
    rows, inner, columns = *x.shape, W.shape[0]
    kind = "product" if rows <= _FEW_ROWS else "product of many rows"
    small = rows * inner * columns < MIN_ELEMENTS[kind]
    is_read = rows == 1 and W.size >= MIN_ELEMENTS["product memory"]
    if small or (rows < MIN_ELEMENTS["product rows"] and not is_read):
        return "the reference is faster for small products"
    if rows > MAX_ROWS:
        return f"the reference is as fast for more than {MAX_ROWS} rows"
    return _has_vectors()


def _columns(rows: int, size: int) -> bool | str:
    """Affine transformations with a weight whose transpose is contiguous."""
    if rows > MAX_COLUMN_ROWS:
        return (
            f"the reference is as fast for more than {MAX_COLUMN_ROWS} rows if the weight is the "
            "transpose of a contiguous array"
        )
    if size < MIN_ELEMENTS["product memory" if rows < 2 else "product columns"]:
        return "the reference is faster for small products"
    return _has_vectors()


@functools.cache
def _has_vectors() -> bool | str:
    from chainer_numba.vector_code import IS_SUITABLE

    return IS_SUITABLE or "the processor has neither AVX2 nor AVX-512, for which it was measured"


def packed_product(spec: CallSpec) -> bool | str:
    """Products of a few vectors of float32 with packed weights."""
    x, codes = _given(spec), _given(spec, 1)
    if x.dtype != _FLOAT32:
        return f"{x.dtype} is left to the reference: only float32 is compiled"
    if x.shape[0] > MAX_PACKED_ROWS:
        return f"the reference is faster for more than {MAX_PACKED_ROWS} vectors"
    return True if codes.size else "empty arrays"


def scatter_add(spec: CallSpec) -> bool | str:
    """Addition to float32 arrays."""
    a, b = _given(spec), _given(spec, 1)
    if a.dtype != _FLOAT32:
        return f"{a.dtype} is left to the reference: only float32 is compiled"
    return enough(b, "window")


def only_float32(spec: CallSpec) -> bool | str:
    """Sums of selected rows: the recorder measures whether they pay."""
    dtype = _given(spec).dtype
    return dtype == _FLOAT32 or f"{dtype} is left to the reference: only float32 is compiled"


def max_pooling(spec: CallSpec) -> bool | str:
    """Max pooling in up to three dimensions."""
    if prod(_given(spec).shape[2:]) > _MAX_PIXELS:
        return "positions in images of more than 2**31 pixels need 64 bits: left to the reference"
    return _window(spec, spec.attributes["out_size"][-1:])


def average_pooling(spec: CallSpec) -> bool | str:
    """Average pooling in two and three dimensions; global pooling has one window in a row."""
    if _given(spec).ndim <= MIN_ELEMENTS["axes"]:
        return "the reference is faster in one dimension"
    columns = spec.attributes["out_size"][-1:]
    return _window(spec, () if columns == (1,) else columns)


def unpooling(spec: CallSpec) -> bool | str:
    """Unpooling in two and three dimensions."""
    if _given(spec).ndim <= MIN_ELEMENTS["axes"]:
        return "the reference is faster in one dimension"
    return _window(spec, _given(spec).shape[-1:])


def _window(spec: CallSpec, columns: tuple[int, ...]) -> bool | str:
    if not 3 <= _given(spec).ndim <= 5:
        return "images must have one, two or three dimensions"
    if columns and columns[0] < MIN_ELEMENTS["columns"]:
        return f"the reference is faster for less than {MIN_ELEMENTS['columns']} windows in a row"
    return enough(_given(spec), "window")


def reduction(spec: CallSpec) -> bool | str:
    """Sums of contiguous arrays."""
    if not _given(spec).contiguous:
        return "only contiguous arrays"
    return enough(_given(spec), "sum")


def parametric(spec: CallSpec) -> bool | str:
    """Activation functions with parameters."""
    answer = _all_small(spec.arrays[1:])
    return enough(_given(spec), "row") if answer is True else answer


def swish(spec: CallSpec) -> bool | str:
    """Swish of float32; float16 is defined by the rounding of each step."""
    if _given(spec).dtype == _FLOAT16:
        return "float16 is left to the reference, which rounds each step"
    return parametric(spec)


def sequence_loss(spec: CallSpec) -> bool | str:
    """Connectionist temporal classification with at least one step."""
    x = _given(spec)
    return "empty arrays" if not x.size else enough(x, "row")


def regions(spec: CallSpec) -> bool | str:
    """Pooling of regions of interest."""
    return enough(_given(spec), "window")


def _all_small(arrays: Sequence[ArraySpec | None]) -> bool | str:
    for array in arrays:
        if array is not None and array.dtype not in (_FLOAT32, _FLOAT16):
            return f"{array.dtype} is left to the reference: only float32 and float16 are compiled"
    return True
