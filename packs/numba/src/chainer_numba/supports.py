"""Which calls the kernels serve. These functions see shapes, dtypes and attributes, not arrays.

Calls are declined where the reference is as fast: small arrays, because calling compiled code costs
a microsecond for each array; and float64, for which training on NumPy has no use and which would
double the time of compilation.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from chainer.typing import Array

_FLOAT32 = numpy.dtype(numpy.float32)
_FLOAT16 = numpy.dtype(numpy.float16)

#: Number of elements from which on kernels are faster (measured).
MIN_ELEMENTS = {
    "cheap": 1 << 14,
    "selection": 1 << 15,
    "exponential": 1 << 11,
    "row": 1 << 11,
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
    "product": 1 << 16,
}

#: Rows of products up to which kernels are faster (measured).
MAX_ROWS = 1024

#: Vectors up to which a packed weight is widened for each again, in registers.
MAX_PACKED_ROWS = 4


def enough(array: Array, kind: str) -> bool | str:
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


def any_array(spec: Any) -> bool:
    """Native loops of recorded steps: the loops themselves tell what they are about."""
    return True


def update(spec: Any) -> bool | str:
    """Updates of parameters: contiguous float32 arrays of one shape."""
    for array in spec.arrays:
        if array is None:
            continue
        if array.dtype != _FLOAT32:
            return f"{array.dtype} is left to the reference: only float32 is compiled"
        if not array.contiguous:
            return "only contiguous arrays"
    return True


def cheap(spec: Any) -> bool | str:
    """Functions of few arithmetic operations."""
    return enough(spec.arrays[0], "cheap")


def selection(spec: Any) -> bool | str:
    """Functions that the reference computes by two operations."""
    return enough(spec.arrays[0], "selection")


def exponential(spec: Any) -> bool | str:
    """Functions with exponentials."""
    return enough(spec.arrays[0], "exponential")


def rows(spec: Any) -> bool | str:
    """Functions along an axis, such as the softmax."""
    return enough(spec.arrays[0], "row")


def cross_entropy(spec: Any) -> bool | str:
    """Softmax cross entropy: floating-point weights of classes, if any."""
    answer = _all_small(spec.arrays[2:])
    return enough(spec.arrays[0], "loss") if answer is True else answer


def dropout(spec: Any) -> bool | str:
    """Dropout."""
    return enough(spec.arrays[0], "copy")


def batch_normalization(spec: Any) -> bool | str:
    """Batch normalization whose channels are neighboring axes."""
    x = spec.arrays[0]
    answer = _all_small(spec.arrays[1:])
    if answer is not True:
        return answer
    kept = [i for i in range(x.ndim) if i not in spec.attributes["axis"]]
    if kept and kept[-1] - kept[0] != len(kept) - 1:
        return "the axes that are not reduced must be neighbors"
    return enough(x, "row")


def row_normalization(spec: Any) -> bool | str:
    """Layer and group normalization."""
    answer = _all_small(spec.arrays[1:])
    return enough(spec.arrays[0], "row") if answer is True else answer


def lstm_cell(spec: Any) -> bool | str:
    """LSTM cells whose states have two dimensions."""
    if spec.arrays[0].ndim != 2:
        return "states must have two dimensions"
    return enough(spec.arrays[0], "cell")


def tree_lstm_cell(spec: Any) -> bool | str:
    """LSTM cells of trees whose states have two dimensions."""
    return "cells without children" if len(spec.arrays) == 1 else lstm_cell(spec)


def embedding(spec: Any) -> bool | str:
    """Embedding by integers."""
    x, W = spec.arrays
    if x.size * W.shape[1] < MIN_ELEMENTS["rows"]:
        return f"the reference is faster for less than {MIN_ELEMENTS['rows']} elements"
    return _all_small((W,))


def linear(spec: Any) -> bool | str:
    """Affine transformations of a few rows of float32."""
    x, W = spec.arrays[:2]
    if any(array is not None and array.dtype != _FLOAT32 for array in spec.arrays):
        return "only products of float32 arrays"
    if not W.contiguous:
        return "only contiguous weights"
    rows, inner, columns = *x.shape, W.shape[0]
    small = rows * inner * columns < MIN_ELEMENTS["product"]
    if small or rows < MIN_ELEMENTS["product rows"]:
        return "the reference is faster for small products"
    if rows > MAX_ROWS:
        return f"the reference is as fast for more than {MAX_ROWS} rows"
    return _has_vectors()


@functools.cache
def _has_vectors() -> bool | str:
    from chainer_numba.vector_code import IS_SUITABLE

    return IS_SUITABLE or "the processor has neither AVX2 nor AVX-512, for which it was measured"


def packed_product(spec: Any) -> bool | str:
    """Products of a few vectors of float32 with packed weights."""
    x, codes = spec.arrays[:2]
    if x.dtype != _FLOAT32:
        return f"{x.dtype} is left to the reference: only float32 is compiled"
    if x.shape[0] > MAX_PACKED_ROWS:
        return f"the reference is faster for more than {MAX_PACKED_ROWS} vectors"
    return True if codes.size else "empty arrays"


def scatter_add(spec: Any) -> bool | str:
    """Addition to float32 arrays."""
    a, b = spec.arrays
    if a.dtype != _FLOAT32:
        return f"{a.dtype} is left to the reference: only float32 is compiled"
    return enough(b, "window")


def only_float32(spec: Any) -> bool | str:
    """Sums of selected rows: the recorder measures whether they pay."""
    dtype = spec.arrays[0].dtype
    return dtype == _FLOAT32 or f"{dtype} is left to the reference: only float32 is compiled"


def max_pooling(spec: Any) -> bool | str:
    """Max pooling in up to three dimensions."""
    return _window(spec, spec.attributes["out_size"][-1:])


def average_pooling(spec: Any) -> bool | str:
    """Average pooling in two and three dimensions; global pooling has one window in a row."""
    if spec.arrays[0].ndim <= MIN_ELEMENTS["axes"]:
        return "the reference is faster in one dimension"
    columns = spec.attributes["out_size"][-1:]
    return _window(spec, () if columns == (1,) else columns)


def unpooling(spec: Any) -> bool | str:
    """Unpooling in two and three dimensions."""
    if spec.arrays[0].ndim <= MIN_ELEMENTS["axes"]:
        return "the reference is faster in one dimension"
    return _window(spec, spec.arrays[0].shape[-1:])


def _window(spec: Any, columns: tuple[int, ...]) -> bool | str:
    if not 3 <= spec.arrays[0].ndim <= 5:
        return "images must have one, two or three dimensions"
    if columns and columns[0] < MIN_ELEMENTS["columns"]:
        return f"the reference is faster for less than {MIN_ELEMENTS['columns']} windows in a row"
    return enough(spec.arrays[0], "window")


def reduction(spec: Any) -> bool | str:
    """Sums of contiguous arrays."""
    if not spec.arrays[0].contiguous:
        return "only contiguous arrays"
    return enough(spec.arrays[0], "sum")


def parametric(spec: Any) -> bool | str:
    """Activation functions with parameters."""
    answer = _all_small(spec.arrays[1:])
    return enough(spec.arrays[0], "row") if answer is True else answer


def swish(spec: Any) -> bool | str:
    """Swish of float32; float16 is defined by the rounding of each step."""
    if spec.arrays[0].dtype == _FLOAT16:
        return "float16 is left to the reference, which rounds each step"
    return parametric(spec)


def sequence_loss(spec: Any) -> bool | str:
    """Connectionist temporal classification with at least one step."""
    x = spec.arrays[0]
    return "empty arrays" if not x.size else enough(x, "row")


def regions(spec: Any) -> bool | str:
    """Pooling of regions of interest."""
    return enough(spec.arrays[0], "window")


def _all_small(arrays: Any) -> bool | str:
    for array in arrays:
        if array is not None and array.dtype not in (_FLOAT32, _FLOAT16):
            return f"{array.dtype} is left to the reference: only float32 and float16 are compiled"
    return True
