"""Maximum and average pooling over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe, layout_of
from ideep4py._core.reorder import in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, hashable, per_axis
from ideep4py.ops._windows import Window, make_window, window_dims

KINDS = {
    "max": C.POOL_MAX,
    "average": C.POOL_AVG_INCLUDE,
    "average_exclude_pad": C.POOL_AVG_EXCLUDE,
}


def _geometry(
    x: tuple[int, ...], kind: str, ksize: Any, stride: Any, pad: Any, pad_after: Any, out_size: Any
) -> tuple[Window, tuple[int, ...]]:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if not 3 <= len(x) <= 5:
        raise ValueError(f"x must have 3, 4 or 5 axes, got shape {x}")
    kernel = per_axis(ksize, len(x) - 2, "ksize", 1)
    window = make_window(kernel, kernel if stride is None else stride, pad, 1, pad_after)
    if out_size is not None:
        window = window.with_out_size(x[2:], out_size)
    out = window.out_size(x[2:]) if out_size is None else out_size
    window.check(x[2:], out, "pooling")
    # A window of padding alone has no maximum.
    if any(p >= k for p, k in zip(window.pad + window.pad_after, window.kernel * 2, strict=True)):
        raise ValueError(f"pad must be less than ksize, got {window}")
    return window, (*x[:2], *out)


def _pd_forward(x: L.Layout, y: tuple[int, ...], kind: str, window: Window, training: bool) -> Any:
    strides, dilates, before, after = window_dims(window)
    return describe(
        lib.dnnl_pooling_forward_primitive_desc_create,
        f"pooling of {x.shape}",
        C.TRAINING if training else C.INFERENCE,
        KINDS[kind],
        x.md,
        # oneDNN chooses the layout of the output; usually it is the one of the input.
        L.any_md(y, x.data_type),
        strides,
        L.c_dims(window.kernel),
        dilates,
        before,
        after,
        attributes(),
    )


class _Forward:
    __slots__ = ("run", "workspace", "y")

    def __init__(self, x: L.Layout, kind: str, training: bool, *geometry: Any) -> None:
        window, y = _geometry(x.shape, kind, *geometry)
        pd = _pd_forward(x, y, kind, window, training)
        self.y = chosen(pd, C.QUERY_DST)
        arguments = [(C.SRC, x), (C.DST, self.y)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        # The workspace holds the place of each maximum; averages need none.
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


class _Backward:
    __slots__ = ("gy", "run", "workspace")

    def __init__(
        self, gy: tuple[int, ...], x: L.Layout, kind: str, ksize: Any, stride: Any, pad: Any
    ) -> None:
        window, y = _geometry(x.shape, kind, ksize, stride, pad, None, gy[2:])
        if y != gy:
            raise ValueError(f"gy must have shape {y}, got {gy}")
        # oneDNN finds the layout of the workspace by the forward pass.
        hint = _pd_forward(x, y, kind, window, True)
        self.gy = chosen(hint, C.QUERY_DST)
        strides, dilates, before, after = window_dims(window)
        pd = describe(
            lib.dnnl_pooling_backward_primitive_desc_create,
            f"gradient of a pooling of {x.shape}",
            KINDS[kind],
            x.md,
            self.gy.md,
            strides,
            L.c_dims(window.kernel),
            dilates,
            before,
            after,
            hint,
            attributes(),
        )
        arguments = [(C.DIFF_DST, self.gy), (C.DIFF_SRC, x)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


def pooling(
    x: Array,
    kind: str,
    ksize: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    pad_after: int | Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
    training: bool = True,
) -> tuple[mdarray, mdarray | None]:
    """Pooling of each channel.

    Args:
        x: input of shape (N, C, [D, [H,]] W).
        kind: ``"max"``; ``"average"`` (padding counts as zeros) or ``"average_exclude_pad"``
            (padding does not count).
        ksize: size of the window.
        stride: step of the window; ``ksize`` when None.
        pad: padding in front of (and behind) each spatial axis, less than ``ksize``.
        pad_after: padding behind; ``pad`` when None.
        out_size: spatial size of the output; ``pad_after`` follows from it when given.
        training: save what :func:`pooling_backward` needs.

    Returns:
        The output, and the workspace for the gradient: the place of each maximum within its
        window. None for averages and when not training.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data = data_of(x, "x")
    # The plan is looked up by layout and arguments, which therefore have to be hashable.
    found = runtime.plan(
        _Forward,
        data[0],
        kind,
        training,
        hashable(ksize),
        hashable(stride),
        hashable(pad),
        hashable(pad_after),
        hashable(out_size),
    )
    pointer = allocate(found.y.nbytes)
    if found.workspace is None:
        found.run(data[1], pointer)
        return wrap(found.y, pointer), None
    saved = allocate(found.workspace.nbytes)
    found.run(data[1], pointer, saved)
    return wrap(found.y, pointer), wrap(found.workspace, saved)


def pooling_backward(
    gy: Array,
    x: mdarray | L.Layout | Sequence[int],
    kind: str,
    ksize: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    workspace: mdarray | None = None,
) -> mdarray:
    """Gradient of :func:`pooling`.

    Args:
        gy: gradient of the output.
        x: the input, its ``layout`` (which keeps no memory alive), or its shape (for a dense
            input).
        kind, ksize, stride, pad: as given to :func:`pooling`; the padding behind follows from the
            shapes.
        workspace: what :func:`pooling` returned (``"max"`` only).

    Returns:
        Array of the shape and layout of ``x``.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    gy_data = data_of(gy, "gy")
    if isinstance(x, L.Layout):
        layout = x
    elif isinstance(x, mdarray):
        layout = x.layout
    else:
        layout = L.dense(tuple(getattr(x, "shape", x)))
    found = runtime.plan(
        _Backward,
        gy_data[0].shape,
        layout,
        kind,
        hashable(ksize),
        hashable(stride),
        hashable(pad),
    )
    pointer = allocate(layout.nbytes)
    pointers = [in_layout(gy_data, found.gy), pointer]
    if found.workspace is not None:
        if workspace is None or workspace.shape != found.workspace.shape:
            raise ValueError("workspace must be the one that pooling returned")
        pointers.append(in_layout(workspace._data, found.workspace))
    found.run(*pointers)
    return wrap(layout, pointer)
