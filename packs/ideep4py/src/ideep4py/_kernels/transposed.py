"""``a @ b.T (+ bias)``, by ``dnnl_sgemm`` or by the matmul primitive, whichever is faster.

With AVX2 both run the same code. With AVX-512 ``dnnl_sgemm`` copies most matrices ``b`` before it
multiplies, which pays only if ``a`` has many rows; the primitive has kernels that do not. Measured
on a Xeon (Cascade Lake) with one thread, for 1 to 700 rows, 64 to 30,000 columns and 200 to 2048
terms, the primitive takes 0.3 to 1.6 times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.library import HAS_AVX512
from ideep4py._kernels.binary import broadcast_into
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.products import product

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

# Numbers of rows for which the primitive is faster as a rule. For fewer rows dnnl_sgemm reads ``b``
# once without a copy, for more the copy costs little.
_FEWEST_ROWS = 4
_MOST_ROWS = 384


class _Primitive:
    """The matmul primitive; ``run`` takes pointers to ``a``, ``b``, ``out`` (and the bias)."""

    __slots__ = ("run",)

    def __init__(self, m: int, n: int, k: int, bias: bool) -> None:
        row = L.dense((1, n)) if bias else None
        transposed = L.strided((k, n), (1, k))
        self.run = product(L.dense((m, k)), transposed, L.dense((m, n)), bias=row).run


def _primitive_is_faster(m: int, n: int, k: int) -> bool:
    """Whether the primitive is faster without a bias."""
    if not HAS_AVX512 or not _FEWEST_ROWS <= m < _MOST_ROWS:
        return False
    # For these dnnl_sgemm does not copy.
    return m > 128 or k >= 1024 or not 128 <= n < 1536


def _primitive_is_faster_with_bias(m: int, n: int, k: int) -> bool:
    """Whether the primitive, which adds the bias to sums still in registers, is faster."""
    if not HAS_AVX512:
        return True
    return m >= _FEWEST_ROWS and (m < _MOST_ROWS or n < 1536 or k >= 1024)


def affine(m: int, n: int, k: int, bias: bool) -> Callable[..., None]:
    """The function that computes ``a @ b.T (+ bias)`` for matrices (m, k) and (n, k).

    It takes pointers to ``a``, ``b``, ``out`` (and the bias).
    """
    if (_primitive_is_faster_with_bias if bias else _primitive_is_faster)(m, n, k):
        return _Primitive(m, n, k, bias).run
    return lambda a, b, out, *row: times_transposed(a, b, out, m, n, k, *row)


def times_transposed(
    a: AnyArray, b: AnyArray, out: Any, m: int, n: int, k: int, bias: Any | None = None
) -> None:
    """``out = a @ b.T (+ bias)`` on pointers to row-major matrices: (m, k) and (n, k)."""
    if bias is None:
        if _primitive_is_faster(m, n, k):
            runtime.plan(_Primitive, m, n, k, False).run(a, b, out)
        else:
            sgemm(a, b, out, m, n, k, trans_b=True)
    elif _primitive_is_faster_with_bias(m, n, k):
        runtime.plan(_Primitive, m, n, k, True).run(a, b, out, bias)
    else:
        sgemm(a, b, out, m, n, k, trans_b=True)
        broadcast_into("add", L.dense((m, n)), out, (L.dense((1, n)), bias), out)
