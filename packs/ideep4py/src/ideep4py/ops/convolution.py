"""Convolution over one, two or three spatial axes, with groups, dilation, bias and fused ReLU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe
from ideep4py._core.reorder import in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, hashable, vector
from ideep4py.ops._weights import backward_window, check_weights, grouped, weights_in, weights_out
from ideep4py.ops._windows import Window, make_window, window_dims
from ideep4py.ops._winograd import choice, forward, weights

Spatial = int | tuple[int, ...]
"""One value for all spatial axes, or one for each."""


def _pd_forward(
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    bias: bool,
    window: Window,
    relu: bool,
    data_type: int,
) -> Any:
    return describe(
        lib.dnnl_convolution_forward_primitive_desc_create,
        f"convolution of {x} with {w}",
        C.TRAINING,
        C.CONVOLUTION_DIRECT,
        L.any_md(x, data_type),
        L.any_md(w, data_type),
        L.dense((y[1],)).md if bias else NULL,
        L.any_md(y, data_type),
        *window_dims(window),
        attributes([("eltwise", "relu", 0.0, 0.0)] if relu else []),
    )


class _Forward:
    """The direct algorithm.

    Attributes:
        x, w, y: the layouts that ``run`` wants pointers to.
        channels: number of output channels.
    """

    __slots__ = ("channels", "run", "w", "x", "y")

    def __init__(
        self,
        x: L.Layout,
        w: tuple[int, ...],
        y: tuple[int, ...],
        bias: bool,
        window: Window,
        groups: int,
        relu: bool,
    ) -> None:
        pd = _pd_forward(x.shape, grouped(w, groups), y, bias, window, relu, x.data_type)
        self.channels = w[0]
        self.x = chosen(pd, C.QUERY_SRC)
        self.w = chosen(pd, C.QUERY_WEIGHTS)
        self.y = chosen(pd, C.QUERY_DST)
        arguments = [(C.SRC, self.x), (C.WEIGHTS, self.w), (C.DST, self.y)]
        if bias:
            arguments.append((C.BIAS, L.dense((y[1],))))
        self.run = Primitive(pd, arguments).run


def _plan_forward(
    x: L.Layout,
    w: tuple[int, ...],
    bias: bool,
    stride: Spatial,
    pad: Spatial,
    dilate: Spatial,
    groups: int,
    pad_after: Spatial | None,
    out_size: tuple[int, ...] | None,
    relu: bool,
) -> _Forward | forward.Forward:
    """The convolution by the faster algorithm."""
    check_weights(x.shape, w, groups)
    window = make_window(w[2:], stride, pad, dilate, pad_after)
    if out_size is not None:
        window = window.with_out_size(x.shape[2:], out_size)
    out = window.out_size(x.shape[2:]) if out_size is None else out_size
    window.check(x.shape[2:], out, "convolution")
    y = (x.shape[0], w[0], *out)
    direct = _Forward(x, w, y, bias, window, groups, relu)
    if choice.suits(window, groups, x.data_type, y, x.shape[1]).data:
        images = choice.images_in((x, direct.x), direct.y)
        if images is not None:
            return forward.Forward(*images, window.pad, bias=bias, relu=relu)
    return direct


class _BackwardData:
    """The direct algorithm for the gradient by the input.

    Attributes:
        gy, w, gx: the layouts that ``run`` wants pointers to.
    """

    __slots__ = ("gx", "gy", "run", "w")

    def __init__(
        self, gy: L.Layout, w: tuple[int, ...], x: tuple[int, ...], window: Window, groups: int
    ) -> None:
        w = grouped(w, groups)
        kind = gy.data_type
        hint = _pd_forward(x, w, gy.shape, False, window, False, kind)
        pd = describe(
            lib.dnnl_convolution_backward_data_primitive_desc_create,
            f"gradient of a convolution of {x} with {w} by its input",
            C.CONVOLUTION_DIRECT,
            L.any_md(x, kind),
            L.any_md(w, kind),
            L.any_md(gy.shape, kind),
            *window_dims(window),
            hint,
            attributes(),
        )
        self.gx = chosen(pd, C.QUERY_DIFF_SRC)
        self.w = chosen(pd, C.QUERY_WEIGHTS)
        self.gy = chosen(pd, C.QUERY_DIFF_DST)
        arguments = [(C.DIFF_DST, self.gy), (C.WEIGHTS, self.w), (C.DIFF_SRC, self.gx)]
        self.run = Primitive(pd, arguments).run


def _plan_backward_data(
    gy: L.Layout,
    w: tuple[int, ...],
    x: tuple[int, ...],
    stride: Spatial,
    pad: Spatial,
    dilate: Spatial,
    groups: int,
) -> tuple[Callable[..., None], L.Layout, L.Layout, L.Layout]:
    """The gradient by the input by the faster algorithm: what to run on pointers to data in which
    layouts of ``gy``, ``w`` and the gradient.
    """
    window = backward_window(gy.shape, w, x, stride, pad, dilate, groups)
    direct = _BackwardData(gy, w, x, window, groups)
    if choice.suits(window, groups, gy.data_type, x, gy.shape[1]).data:
        images = choice.images_in((gy, direct.gy), direct.gx)
        if images is not None:
            before = tuple(2 - p for p in window.pad)
            turned = forward.Forward(*images, before, turned=True)
            return turned.run, turned.x, turned.w, turned.y
    return direct.run, direct.gy, direct.w, direct.gx


class _BackwardWeights:
    """The direct algorithm for the gradients by filters and bias.

    Attributes:
        x, gy, gw, gb: the layouts that ``run`` wants pointers to.
    """

    __slots__ = ("gb", "gw", "gy", "run", "x")

    def __init__(
        self,
        x: L.Layout,
        gy: L.Layout,
        w: tuple[int, ...],
        window: Window,
        groups: int,
        bias: bool,
    ) -> None:
        w = grouped(w, groups)
        kind = x.data_type
        self.gb = L.dense((gy.shape[1],))
        hint = _pd_forward(x.shape, w, gy.shape, bias, window, False, kind)
        pd = describe(
            lib.dnnl_convolution_backward_weights_primitive_desc_create,
            f"gradient of a convolution of {x.shape} with {w} by its weights",
            C.CONVOLUTION_DIRECT,
            L.any_md(x.shape, kind),
            L.any_md(w, kind),
            self.gb.md if bias else NULL,
            L.any_md(gy.shape, kind),
            *window_dims(window),
            hint,
            attributes(),
        )
        self.x = chosen(pd, C.QUERY_SRC)
        self.gw = chosen(pd, C.QUERY_DIFF_WEIGHTS)
        self.gy = chosen(pd, C.QUERY_DIFF_DST)
        arguments = [(C.SRC, self.x), (C.DIFF_DST, self.gy), (C.DIFF_WEIGHTS, self.gw)]
        if bias:
            arguments.append((C.DIFF_BIAS, self.gb))
        self.run = Primitive(pd, arguments).run


def _plan_backward_weights(
    x: L.Layout,
    gy: L.Layout,
    w: tuple[int, ...],
    stride: Spatial,
    pad: Spatial,
    dilate: Spatial,
    groups: int,
    bias: bool,
) -> _BackwardWeights | weights.Weights:
    """The gradients by filters and bias by the faster algorithm."""
    window = backward_window(gy.shape, w, x.shape, stride, pad, dilate, groups)
    direct = _BackwardWeights(x, gy, w, window, groups, bias)
    if choice.suits(window, groups, x.data_type, gy.shape, x.shape[1]).weights:
        images = choice.images_in((x, direct.x), (gy, direct.gy))
        if images is not None:
            return weights.Weights(*images, window.pad, bias=bias)
    return direct


def convolution(
    x: Array,
    W: Array,
    b: Array | None = None,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    pad_after: int | Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
    relu: bool = False,
) -> mdarray:
    """Convolution (cross-correlation, as in every deep-learning framework).

    Args:
        x: input of shape (N, C, [D, [H,]] W), float32.
        W: filters of shape (O, C / groups, kernel...).
        b: bias of shape (O,), or None.
        stride: step of the window.
        pad: zeros in front of (and behind) each spatial axis.
        dilate: distance of the elements of the filter; 1 means neighbours.
        groups: number of groups of channels.
        pad_after: zeros behind each spatial axis; ``pad`` when None.
        out_size: spatial size of the output; ``pad_after`` follows from it when given.
        relu: apply ReLU to the output, at no extra cost.

    Returns:
        Array of shape (N, O, out...), in the layout oneDNN chose.

    Raises:
        TypeError: an argument is no array, or not of dtype float32.
        ValueError: shapes do not fit, or an array is empty.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> y = ops.convolution(np.ones((1, 3, 5, 5), 'f'), np.ones((8, 3, 3, 3), 'f'), pad=1)
        >>> y.shape, float(y[0, 0, 2, 2])
        ((1, 8, 5, 5), 27.0)
    """
    x_data, w_data = data_of(x, "x"), data_of(W, "W")
    found = runtime.plan(
        _plan_forward,
        x_data[0],
        w_data[0].shape,
        b is not None,
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
        hashable(pad_after),
        hashable(out_size),
        relu,
    )
    pointer = allocate(found.y.nbytes)
    pointers = [in_layout(x_data, found.x), weights_in(w_data, found.w, groups), pointer]
    if b is not None:
        pointers.append(vector(b, "b", found.channels))
    found.run(*pointers)
    return wrap(found.y, pointer)


def prepare_weights(
    W: mdarray,
    x: Array | L.Layout,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    bias: bool = True,
) -> mdarray:
    """Reorders filters in place into the layout that :func:`convolution` wants for such an input.

    Otherwise every call reorders them, which matters a little for filters larger than the images.
    They keep the layout until NumPy looks at them; updates (:func:`sgd_update` and the like) and
    gradients work in it. For one group.

    Args:
        W: filters (O, C, kernel...), an mdarray.
        x: an input, or its layout.
        stride, pad, dilate: as given to :func:`convolution`.
        bias: whether there will be a bias.

    Returns:
        ``W`` itself.

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    if not isinstance(W, mdarray):
        raise TypeError(f"W must be an mdarray, got {type(W).__name__}")
    layout = x if isinstance(x, L.Layout) else data_of(x, "x")[0]
    geometry = (hashable(stride), hashable(pad), hashable(dilate))
    found = runtime.plan(_plan_forward, layout, W.shape, bias, *geometry, 1, None, None, False)
    W._data = found.w, in_layout(data_of(W, "W"), found.w)
    return W


def convolution_backward_data(
    gy: Array,
    W: Array,
    x_shape: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> mdarray:
    """Gradient of :func:`convolution` by its input (a deconvolution, or transposed convolution,
    without bias).

    Args:
        gy: gradient by the output, (N, O, out...).
        W: filters, (O, C / groups, kernel...).
        x_shape: shape of the input, (N, C, size...).
        stride, pad, dilate, groups: as given to :func:`convolution`; the padding behind follows
            from the shapes.

    Returns:
        Array of shape ``x_shape``.

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    gy_data, w_data = data_of(gy, "gy"), data_of(W, "W")
    run, gy_layout, w_layout, gx_layout = runtime.plan(
        _plan_backward_data,
        gy_data[0],
        w_data[0].shape,
        tuple(x_shape),
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
    )
    pointer = allocate(gx_layout.nbytes)
    run(in_layout(gy_data, gy_layout), weights_in(w_data, w_layout, groups), pointer)
    return wrap(gx_layout, pointer)


def convolution_backward_weights(
    x: Array,
    gy: Array,
    W_shape: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    bias: bool = False,
) -> tuple[mdarray, mdarray | None]:
    """Gradient of :func:`convolution` by its filters and bias.

    Args:
        x: input, (N, C, size...).
        gy: gradient by the output, (N, O, out...).
        W_shape: shape of the filters, (O, C / groups, kernel...).
        stride, pad, dilate, groups: as given to :func:`convolution`; the padding behind follows
            from the shapes.
        bias: compute the gradient by the bias as well.

    Returns:
        Gradient of shape ``W_shape``, and that of the bias of shape (O,) (None unless ``bias``).

    Raises:
        TypeError, ValueError: as :func:`convolution`.
    """
    x_data, gy_data = data_of(x, "x"), data_of(gy, "gy")
    w_shape = tuple(W_shape)
    found = runtime.plan(
        _plan_backward_weights,
        x_data[0],
        gy_data[0],
        w_shape,
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
        bias,
    )
    pointer = allocate(found.gw.nbytes)
    pointers = [in_layout(x_data, found.x), in_layout(gy_data, found.gy), pointer]
    gb = None
    if bias:
        gb = wrap(found.gb, allocate(found.gb.nbytes))
        pointers.append(gb._data[1])
    found.run(*pointers)
    return weights_out(found.gw, pointer, w_shape, groups), gb
