"""Local response normalization (Krizhevsky et al. 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe, implementation, layout_of
from ideep4py._core.reorder import in_layout
from ideep4py._core.views import dense_view
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

NDArray = np.ndarray[Any, Any]
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
    """``layout`` is the layout of ``x``, or dense if oneDNN has only its reference loop for it."""

    __slots__ = ("layout", "run", "workspace")

    def __init__(self, x: L.Layout, kind: str, n: int, k: float, alpha: float, beta: float) -> None:
        pd = _pd_forward(x, kind, n, k, alpha, beta, C.TRAINING)
        if "ref" in implementation(pd) and not x.dense:
            x = L.dense(x.shape, x.data_type)
            pd = _pd_forward(x, kind, n, k, alpha, beta, C.TRAINING)
        self.layout = x
        arguments = [(C.SRC, x), (C.DST, x)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


class _AcrossBackward:
    """The gradient across an odd number of channels in NumPy, for CPUs without AVX-512, where
    oneDNN has only its reference loop.
    """

    __slots__ = ("_alpha", "_beta", "_channels", "_k", "_layout", "_n")

    def __init__(self, x: L.Layout, n: int, k: float, alpha: float, beta: float) -> None:
        self._layout = x
        self._channels = (x.shape[0], x.shape[1], -1)
        self._n, self._k, self._alpha, self._beta = n, k, np.float32(alpha / n), np.float32(beta)

    def _window_sum(self, array: NDArray) -> NDArray:
        # n // 2 additions of whole arrays. Differences of cumulative sums would cancel digits.
        total = array.copy()
        for offset in range(1, self._n // 2 + 1):
            total[:, offset:] += array[:, :-offset]
            total[:, :-offset] += array[:, offset:]
        return total

    def run(self, x: AnyArray, gy: AnyArray, out: Any) -> None:
        a, g, result = (dense_view(self._layout, p).reshape(self._channels) for p in (x, gy, out))
        scale = self._window_sum(np.square(a))
        scale *= self._alpha
        scale += np.float32(self._k)
        power = np.log(scale)
        power *= -self._beta
        np.exp(power, out=power)  # scale ** -beta
        np.multiply(g, power, out=result)
        inner = np.multiply(result, a, out=power)
        inner /= scale
        inner = self._window_sum(inner)
        inner *= 2 * self._alpha * self._beta
        inner *= a
        result -= inner


class _Backward:
    __slots__ = ("layout", "run", "workspace")

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
        self.layout = x
        self.workspace = None
        # With k > 0 the scale is positive, so it has a logarithm. An even window is not centered.
        if kind == "across" and n % 2 and k > 0 and "ref" in implementation(pd):
            self.layout = x = L.dense(x.shape, x.data_type)
            self.run = _AcrossBackward(x, n, k, alpha, beta).run
            return
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
        The output, and the workspace for the gradient (None if oneDNN does not need one).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data = data_of(x, "x")
    found = runtime.plan(_Forward, data[0], kind, n, float(k), float(alpha), float(beta))
    layout = found.layout
    pointer = in_layout(data, layout)
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
    """Gradient of :func:`local_response_normalization` with respect to ``x``.

    Args:
        x: input.
        gy: gradient of the output.
        n, k, alpha, beta, kind: as in the forward pass.
        workspace: what the forward pass returned; computed again when None.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data, gy_data = data_of(x, "x"), data_of(gy, "gy")
    same_shape(gy_data, "gy", data[0].shape, "x")
    parameters = (kind, n, float(k), float(alpha), float(beta))
    found = runtime.plan(_Backward, data[0], *parameters)
    layout = found.layout
    out = allocate(layout.nbytes)
    pointers = [in_layout(data, layout), in_layout(gy_data, layout), out]
    if found.workspace is not None:
        if workspace is None or workspace.layout is not found.workspace:
            # The workspace is of another layout, or was not kept: computing it again is one forward
            # pass.
            _, workspace = local_response_normalization(x, n, k, alpha, beta, kind=kind)
            assert workspace is not None
        pointers.append(workspace._data[1])
    found.run(*pointers)
    return wrap(layout, out)
