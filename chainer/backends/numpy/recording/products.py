"""Small products by ``ndarray.dot``, which calls BLAS with less work around it than ``matmul``.

``numpy.matmul`` prepares loops over stacks of matrices at each call. For two matrices that takes
0.7 us more than ``ndarray.dot`` (AMD EPYC, Zen 3): 2.2 us in place of 1.5 for a product of 64x10
and 10x32 numbers. Both call the same function of BLAS and report the same floating-point errors,
but a warning names ``dot`` in place of ``matmul``. Other releases of NumPy and other libraries may
compute them in different ways, so both are tried on an example of each layout.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy

from chainer.backends.numpy.recording.alternatives import (
    Layout,
    example_of,
    have_same_bits,
    memory_of,
)
from chainer.backends.numpy.recording.memory import Ref, references
from chainer.backends.numpy.recording.tape import Call
from chainer.core.typing import HostArray

_ndarray: Any = numpy.ndarray

#: Multiplications of the largest product that is tried. It takes some 30 us, so that 0.7 us are
#: 2 percent of it.
_MOST_MULTIPLICATIONS = 1 << 20


def is_dot(call: Call) -> bool:
    """Returns whether ``ndarray.dot`` makes a call of ``matmul`` with the same bits, in less time.

    Args:
        call: A call of a ufunc, on references.
    """
    if call.function is not numpy.matmul or call.kwargs or len(call.args) != 2:
        return False
    target = next(references(call.out))
    arrays = *call.args, target
    if not all([isinstance(ref, Ref) and len(ref.shape) == 2 for ref in arrays]):
        return False
    a, b = call.args
    if a.dtype.char not in "fd" or not a.dtype == b.dtype == target.dtype:
        return False
    # dot() takes memory in C order alone for its result.
    if not target.is_contiguous() or target.buffer in (a.buffer, b.buffer):
        return False
    if not 0 < target.size * a.shape[1] <= _MOST_MULTIPLICATIONS:
        return False
    return _have_same_bits(*[(ref.shape, ref.strides, ref.dtype) for ref in arrays])


@cache
@numpy.errstate(all="ignore")
def _have_same_bits(a: Layout, b: Layout, result: Layout) -> bool:
    """Returns whether both functions compute the same on examples."""
    if not _reports_errors() or min(*a[1], *b[1]) < 0:
        return False
    x, y = example_of(a, 0), example_of(b, 1)
    # BLAS has a function of its own for the product of a matrix and its transpose.
    is_square = y.shape == x.shape[::-1] and y.strides == x.strides[::-1]
    return all([_agree(x, other, result) for other in ((y, x.T) if is_square else (y,))])


def _agree(x: HostArray, y: HostArray, result: Layout) -> bool:
    found, expected = memory_of(result), memory_of(result)
    _ndarray.dot(x, y, found)
    numpy.matmul(x, y, expected)
    return have_same_bits(found, expected)


@cache
def _reports_errors() -> bool:
    """Returns whether ``dot`` tells of overflows, as ``matmul`` does: not each NumPy's does."""
    large = numpy.full((2, 2), 1e38, numpy.float32)
    try:
        with numpy.errstate(over="raise"):
            _ndarray.dot(large, large, numpy.empty_like(large))
    except FloatingPointError:
        return True
    return False
