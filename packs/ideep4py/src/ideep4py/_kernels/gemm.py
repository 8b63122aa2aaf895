"""Matrix products of dense float32 arrays: ``dnnl_sgemm``, which needs no compiled primitive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ideep4py._core import runtime
from ideep4py._core.errors import check
from ideep4py._core.library import lib

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

_sgemm = lib.dnnl_sgemm


def sgemm(
    a: AnyArray,
    b: AnyArray,
    out: Any,
    m: int,
    n: int,
    k: int,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """``out = alpha * op(a) @ op(b) + beta * out`` on pointers to row-major matrices: (m, k) @ (k,
    n).
    """
    runtime.follow_limit()
    status = _sgemm(
        b"T" if trans_a else b"N",
        b"T" if trans_b else b"N",
        m,
        n,
        k,
        alpha,
        a,
        m if trans_a else k,
        b,
        k if trans_b else n,
        beta,
        out,
        n,
    )
    if status:
        check(status, f"matrix product ({m}, {k}) by ({k}, {n})")
