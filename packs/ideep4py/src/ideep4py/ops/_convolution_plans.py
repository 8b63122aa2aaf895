"""Compiled convolutions and their gradients: the fastest algorithm for given shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe
from ideep4py._core.reorder import Move, part
from ideep4py.ops import _channels_last, _patches
from ideep4py.ops._weights import backward_window, check_weights, grouped
from ideep4py.ops._windows import Window, make_window, window_dims
from ideep4py.ops._winograd import choice, forward, weights

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

Spatial = int | tuple[int, ...]
"""One value for all spatial axes, or one for each."""


def _images_md(shape: tuple[int, ...], data_type: int, last: bool) -> Any:
    """The descriptor of images with the channels last, or of the layout that oneDNN chooses."""
    if last:
        return _channels_last.layout(shape, data_type).md
    # "Any": oneDNN chooses the layouts for which it has the fastest code.
    return L.any_md(shape, data_type)


def _pd_forward(
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    bias: bool,
    window: Window,
    relu: bool,
    data_type: int,
    last: bool,
) -> Any:
    return describe(
        lib.dnnl_convolution_forward_primitive_desc_create,
        f"convolution of {x} with {w}",
        C.TRAINING,
        C.CONVOLUTION_DIRECT,
        _images_md(x, data_type, last),
        L.any_md(w, data_type),
        L.dense((y[1],)).md if bias else NULL,
        _images_md(y, data_type, last),
        *window_dims(window),
        attributes([("eltwise", "relu", 0.0, 0.0)] if relu else [], default_precision=True),
    )


class _Forward:
    """The direct algorithm.

    Attributes:
        x, w, y: the layouts that ``run`` wants pointers to.
        channels: number of output channels.
        implementation: oneDNN's name of the code.
    """

    __slots__ = ("channels", "implementation", "run", "w", "x", "y")

    def __init__(
        self,
        x: L.Layout,
        w: tuple[int, ...],
        y: tuple[int, ...],
        bias: bool,
        window: Window,
        groups: int,
        relu: bool,
        last: bool = False,
    ) -> None:
        pd = _pd_forward(x.shape, grouped(w, groups), y, bias, window, relu, x.data_type, last)
        self.channels = w[0]
        self.x = chosen(pd, C.QUERY_SRC)
        self.w = chosen(pd, C.QUERY_WEIGHTS)
        self.y = chosen(pd, C.QUERY_DST)
        arguments = [(C.SRC, self.x), (C.WEIGHTS, self.w), (C.DST, self.y)]
        if bias:
            arguments.append((C.BIAS, L.dense((y[1],))))
        primitive = Primitive(pd, arguments)
        self.implementation = primitive.implementation
        self.run = primitive.run
        if last:
            self.x, self.y = _channels_last.outside(self.x), _channels_last.outside(self.y)


def plan_forward(
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
) -> _Forward | _patches.Forward | forward.Forward:
    """The convolution by the faster algorithm."""
    check_weights(x.shape, w, groups)
    window = make_window(w[2:], stride, pad, dilate, pad_after)
    if out_size is not None:
        window = window.with_out_size(x.shape[2:], out_size)
    out = window.out_size(x.shape[2:]) if out_size is None else out_size
    window.check(x.shape[2:], out, "convolution")
    y = (x.shape[0], w[0], *out)
    direct = _Forward(x, w, y, bias, window, groups, relu)
    if _patches.suits(groups, x.data_type, x.shape, w, y, window).forward:
        # Row-major where oneDNN would fill the last block of channels up.
        images = choice.images_in((x, direct.x, L.dense(x.shape)), (direct.y, L.dense(y)))
        if images is not None:
            return _patches.Forward(*images, window, bias=bias, relu=relu)
    if choice.suits(window, groups, x.data_type, y, x.shape[1]).data:
        images = choice.images_in((x, direct.x), (direct.y,))
        if images is not None:
            return forward.Forward(*images, window.pad, bias=bias, relu=relu)
    if _channels_last.suits(x, groups, w):
        last = _Forward(x, w, y, bias, window, groups, relu, last=True)
        if _channels_last.has_fast_code(last.implementation):
            return last
    return direct


class _BackwardData:
    """The direct algorithm for the gradient with respect to the input.

    Attributes:
        gy, w, gx: the layouts that ``run`` wants pointers to.
        implementation: oneDNN's name of the code.
    """

    __slots__ = ("gx", "gy", "implementation", "run", "w")

    def __init__(
        self,
        gy: L.Layout,
        w: tuple[int, ...],
        x: tuple[int, ...],
        window: Window,
        groups: int,
        last: bool = False,
    ) -> None:
        w = grouped(w, groups)
        kind = gy.data_type
        hint = _pd_forward(x, w, gy.shape, False, window, False, kind, last)
        pd = describe(
            lib.dnnl_convolution_backward_data_primitive_desc_create,
            f"gradient of a convolution of {x} with {w} by its input",
            C.CONVOLUTION_DIRECT,
            # The gradient may have another layout than the input had in the forward pass.
            _images_md(x, kind, last),
            L.any_md(w, kind),
            _images_md(gy.shape, kind, last),
            *window_dims(window),
            # oneDNN takes the algorithm of the forward pass from this description.
            hint,
            attributes(default_precision=True),
        )
        self.gx = chosen(pd, C.QUERY_DIFF_SRC)
        self.w = chosen(pd, C.QUERY_WEIGHTS)
        self.gy = chosen(pd, C.QUERY_DIFF_DST)
        arguments = [(C.DIFF_DST, self.gy), (C.WEIGHTS, self.w), (C.DIFF_SRC, self.gx)]
        primitive = Primitive(pd, arguments)
        self.implementation = primitive.implementation
        self.run = primitive.run
        if last:
            self.gx, self.gy = _channels_last.outside(self.gx), _channels_last.outside(self.gy)


def plan_backward_data(
    gy: L.Layout,
    w: tuple[int, ...],
    x: tuple[int, ...],
    stride: Spatial,
    pad: Spatial,
    dilate: Spatial,
    groups: int,
) -> tuple[Callable[..., None], L.Layout, L.Layout, L.Layout]:
    """The gradient with respect to the input, by the faster algorithm.

    Returns:
        The function to run, and the layouts of ``gy``, ``w`` and the gradient that it takes
        pointers to.
    """
    window = backward_window(gy.shape, w, x, stride, pad, dilate, groups)
    direct = _BackwardData(gy, w, x, window, groups)
    if _patches.suits(groups, gy.data_type, x, w, gy.shape, window).data:
        images = choice.images_in((gy, direct.gy, L.dense(gy.shape)), (direct.gx, L.dense(x)))
        if images is not None:
            product = _patches.Data(*images)
            return product.run, product.gy, product.w, product.gx
    if choice.suits(window, groups, gy.data_type, x, gy.shape[1]).data:
        images = choice.images_in((gy, direct.gy), (direct.gx,))
        if images is not None:
            # The gradient of a 3 x 3 convolution is a convolution with turned filters, whose
            # padding is what is left of the window.
            before = tuple(2 - p for p in window.pad)
            turned = forward.Forward(*images, before, turned=True)
            return turned.run, turned.x, turned.w, turned.y
    if _channels_last.suits(gy, groups, w):
        last = _BackwardData(gy, w, x, window, groups, last=True)
        if _channels_last.has_fast_code(last.implementation):
            return last.run, last.gy, last.w, last.gx
    return direct.run, direct.gy, direct.w, direct.gx


class _BackwardWeights:
    """The direct algorithm for the gradients with respect to filters and bias.

    Attributes:
        x, gy, gw, gb: the layouts that ``run`` wants pointers to.
        implementation: oneDNN's name of the code.
    """

    __slots__ = ("gb", "gw", "gy", "implementation", "run", "x")

    def __init__(
        self,
        x: L.Layout,
        gy: L.Layout,
        w: tuple[int, ...],
        window: Window,
        groups: int,
        bias: bool,
        last: bool = False,
    ) -> None:
        w = grouped(w, groups)
        kind = x.data_type
        self.gb = L.dense((gy.shape[1],))
        hint = _pd_forward(x.shape, w, gy.shape, bias, window, False, kind, last)
        pd = describe(
            lib.dnnl_convolution_backward_weights_primitive_desc_create,
            f"gradient of a convolution of {x.shape} with {w} by its weights",
            C.CONVOLUTION_DIRECT,
            _images_md(x.shape, kind, last),
            L.any_md(w, kind),
            self.gb.md if bias else NULL,
            _images_md(gy.shape, kind, last),
            *window_dims(window),
            hint,
            attributes(default_precision=True),
        )
        self.x = chosen(pd, C.QUERY_SRC)
        self.gw = chosen(pd, C.QUERY_DIFF_WEIGHTS)
        self.gy = chosen(pd, C.QUERY_DIFF_DST)
        arguments = [(C.SRC, self.x), (C.DIFF_DST, self.gy), (C.DIFF_WEIGHTS, self.gw)]
        if bias:
            arguments.append((C.DIFF_BIAS, self.gb))
        primitive = Primitive(pd, arguments)
        self.implementation = primitive.implementation
        self.run = primitive.run
        if last:
            self.x, self.gy = _channels_last.outside(self.x), _channels_last.outside(self.gy)


class _FewChannels:
    """Gradients with respect to filters and bias of one or two channels, as if there were three.

    For three channels oneDNN has code that reads row-major images. Others it pads to a whole block
    of channels, nearly all of which would be zeros.

    Attributes:
        x, gy, gw, gb: the layouts that ``run`` wants pointers to.
    """

    __slots__ = ("_copy", "_cut", "_wide", "gb", "gw", "gy", "x")

    def __init__(self, x: L.Layout, w: tuple[int, ...], wide: _BackwardWeights) -> None:
        self.x, self.gy, self.gb = L.dense(x.shape, x.data_type), wide.gy, wide.gb
        self.gw = L.dense(w, x.data_type)
        self._wide = wide
        n, size = x.shape[0], x.size // x.shape[0]
        rows = L.strided((n, size), (wide.x.size // n, 1), x.data_type)
        self._copy = Move(L.dense((n, size), x.data_type), rows).run
        self._cut = Move(part(wide.gw, w), self.gw).run

    def run(self, x: AnyArray, gy: AnyArray, gw: AnyArray, *gb: Any) -> None:
        size = self._wide.x.nbytes
        image = allocate(size)
        lib.memset(image, 0, size)
        self._copy(x, image)
        gradient = allocate(self._wide.gw.nbytes)
        self._wide.run(image, gy, gradient, *gb)
        self._cut(gradient, gw)


def _of_three_channels(
    x: L.Layout, gy: L.Layout, w: tuple[int, ...], window: Window, bias: bool
) -> _FewChannels | None:
    """The gradients as if ``x`` had three channels, if oneDNN reads such images without a copy."""
    image = L.dense((x.shape[0], 3, *x.shape[2:]), x.data_type)
    wide = _BackwardWeights(image, gy, (w[0], 3, *w[2:]), window, 1, bias)
    return _FewChannels(x, w, wide) if wide.x.dense else None


def plan_backward_weights(
    x: L.Layout,
    gy: L.Layout,
    w: tuple[int, ...],
    stride: Spatial,
    pad: Spatial,
    dilate: Spatial,
    groups: int,
    bias: bool,
) -> _BackwardWeights | _FewChannels | _patches.Weights | weights.Weights:
    """The gradients with respect to filters and bias by the faster algorithm."""
    window = backward_window(gy.shape, w, x.shape, stride, pad, dilate, groups)
    direct = _BackwardWeights(x, gy, w, window, groups, bias)
    if _patches.suits(groups, x.data_type, x.shape, w, gy.shape, window).weights:
        images = choice.images_in(
            (x, direct.x, L.dense(x.shape)), (gy, direct.gy, L.dense(gy.shape))
        )
        if images is not None:
            return _patches.Weights(*images, window)
    if choice.suits(window, groups, x.data_type, gy.shape, x.shape[1]).weights:
        images = choice.images_in((x, direct.x), (gy, direct.gy))
        if images is not None:
            return weights.Weights(*images, window.pad, bias=bias)
    if _channels_last.suits(x, groups, w):
        last = _BackwardWeights(x, gy, w, window, groups, bias, last=True)
        if _channels_last.has_fast_code(last.implementation):
            return last
    # Only worth it if oneDNN would pad the channels: the padded image is then several times as
    # large.
    few = groups == 1 and x.shape[1] < 3
    if few and direct.x.nbytes > 2 * L.dense(x.shape, x.data_type).nbytes:
        wider = _of_three_channels(x, gy, w, window, bias)
        if wider is not None:
            return wider
    return direct
