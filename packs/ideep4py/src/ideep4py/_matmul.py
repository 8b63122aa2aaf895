"""The ``@`` operator and ``numpy.dot``/``numpy.matmul`` on mdarrays.

Products of float32 matrices go to oneDNN: a NumPy product would wake the BLAS library's own
threads, and the two pools of threads slow each other down when they alternate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi
from ideep4py._core.views import dense_view
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.transposed import times_transposed
from ideep4py._numpy_protocol import plain

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def product(x: AnyArray, y: AnyArray) -> tuple[L.Layout, Any] | None:
    """Data of ``x @ y``, or None unless both are non-empty float32 matrices that fit."""
    x, y = plain(x), plain(y)
    for array in (x, y):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 2:
            return None
    (m, k), (k2, n) = x.shape, y.shape
    if k != k2 or not (m and n and k):
        return None
    a, trans_a = _oriented(x)
    b, trans_b = _oriented(y)
    layout = L.dense((m, n), C.F32)
    out = allocate(layout.nbytes)
    pa, pb = ffi.from_buffer(a), ffi.from_buffer(b)
    if trans_b and not trans_a:
        times_transposed(pa, pb, out, m, n, k)
    else:
        sgemm(pa, pb, out, m, n, k, trans_a=trans_a, trans_b=trans_b)
    return layout, out


def _oriented(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], bool]:
    """A C-contiguous array, and whether it is the transpose of ``array``."""
    if array.flags.c_contiguous:
        return array, False
    # The product reads transposed matrices where they are: no copy.
    if array.flags.f_contiguous:
        return array.T, True
    return np.ascontiguousarray(array), False


def matmul(x: AnyArray, y: AnyArray) -> Any:
    """``x @ y``: an mdarray from oneDNN for float32 matrices, NumPy's result otherwise."""
    # Imported late: the module of mdarray imports this one for its operators.
    from ideep4py._mdarray import wrap

    data = product(x, y)
    return np.matmul(plain(x), plain(y)) if data is None else wrap(*data)


def numpy_matmul(x: AnyArray, y: AnyArray) -> Any:
    """The same as a NumPy array."""
    data = product(x, y)
    return np.matmul(plain(x), plain(y)) if data is None else dense_view(*data)
