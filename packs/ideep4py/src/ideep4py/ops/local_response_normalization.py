"""Local response normalization (Krizhevsky et al. 2012)."""

from __future__ import annotations

from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe, layout_of
from ideep4py._core.reorder import in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape

KINDS = {"across": C.LRN_ACROSS, "within": C.LRN_WITHIN}


def _pd_forward(
    x: L.Layout, kind: str, n: int, k: float, alpha: float, beta: float, prop: int
) -> Any:
    if kind not in KINDS:
        raise ValueError(f"kind must be 'across' or 'within', got {kind!r}")
    if not 2 <= x.ndim <= 5:
        raise ValueError(f"x must have 2 to 5 axes, got shape {x.shape}")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return describe(
        lib.dnnl_lrn_forward_primitive_desc_create,
        f"local response normalization of {x.shape}",
        prop,
        KINDS[kind],
        x.md,
        x.md,
        n,
        alpha,
        beta,
        k,
        attributes(),
    )


class _Forward:
    __slots__ = ("run", "workspace")

    def __init__(self, x: L.Layout, kind: str, n: int, k: float, alpha: float, beta: float) -> None:
        pd = _pd_forward(x, kind, n, k, alpha, beta, C.TRAINING)
        arguments = [(C.SRC, x), (C.DST, x)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


class _Backward:
    __slots__ = ("run", "workspace")

    def __init__(self, x: L.Layout, kind: str, n: int, k: float, alpha: float, beta: float) -> None:
        hint = _pd_forward(x, kind, n, k, alpha, beta, C.TRAINING)
        pd = describe(
            lib.dnnl_lrn_backward_primitive_desc_create,
            f"gradient of a local response normalization of {x.shape}",
            KINDS[kind],
            x.md,
            x.md,
            x.md,
            n,
            alpha,
            beta,
            k,
            hint,
            attributes(),
        )
        arguments = [(C.SRC, x), (C.DIFF_DST, x), (C.DIFF_SRC, x)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


def local_response_normalization(
    x: Array,
    n: int = 5,
    k: float = 2.0,
    alpha: float = 1e-4,
    beta: float = 0.75,
    *,
    kind: str = "across",
) -> tuple[mdarray, mdarray | None]:
    """``x / (k + alpha / n * sum(x ** 2)) ** beta``, summed over a window of ``n`` channels around
    each.

    oneDNN divides ``alpha`` by the number of elements of the window; multiply it by ``n`` for the
    definition without.

    Args:
        x: input of shape (N, C, ...).
        n: size of the window.
        k, alpha, beta: parameters.
        kind: ``"across"`` channels, or ``"within"`` each channel over an n x n window.

    Returns:
        The output in the layout of ``x``, and the workspace for the gradient (None where oneDNN
        needs none).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    layout, pointer = data_of(x, "x")
    found = runtime.plan(_Forward, layout, kind, n, float(k), float(alpha), float(beta))
    out = allocate(layout.nbytes)
    if found.workspace is None:
        found.run(pointer, out)
        return wrap(layout, out), None
    saved = allocate(found.workspace.nbytes)
    found.run(pointer, out, saved)
    return wrap(layout, out), wrap(found.workspace, saved)


def local_response_normalization_backward(
    x: Array,
    gy: Array,
    n: int = 5,
    k: float = 2.0,
    alpha: float = 1e-4,
    beta: float = 0.75,
    *,
    kind: str = "across",
    workspace: mdarray | None = None,
) -> mdarray:
    """Gradient of :func:`local_response_normalization` by ``x``, in its layout.

    Args:
        x: input.
        gy: gradient by the output.
        n, k, alpha, beta, kind: as in the forward pass.
        workspace: what the forward pass returned; computed again when None.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    layout, pointer = data_of(x, "x")
    gy_data = data_of(gy, "gy")
    same_shape(gy_data, "gy", layout.shape, "x")
    parameters = (kind, n, float(k), float(alpha), float(beta))
    found = runtime.plan(_Backward, layout, *parameters)
    out = allocate(layout.nbytes)
    pointers = [pointer, in_layout(gy_data, layout), out]
    if found.workspace is not None:
        if workspace is None or workspace.layout is not found.workspace:
            _, workspace = local_response_normalization(x, n, k, alpha, beta, kind=kind)
            assert workspace is not None
        pointers.append(workspace._data[1])
    found.run(*pointers)
    return wrap(layout, out)
