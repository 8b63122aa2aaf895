"""Kernel of convolutions and deconvolutions, and the graphs of its three computations.

Bias is added and summed up by CuPy: one more pass over the output, as cuDNN fuses it for few
layouts only.
"""

from __future__ import annotations

from typing import Any

from chainer.backends.cupy.cudnn import layouts
from chainer.backends.cupy.cudnn.layouts import TensorSpec
from chainer.backends.cupy.cudnn.plans import Signature
from chainer.backends.cupy.cudnn.sessions import CudnnKernel, on_device_of_first, session

Sizes = tuple[int, ...]

#: Numbers of the tensors.
X, W_, Y = 1, 2, 3


class Geometry:
    """Windows of a convolution as cuDNN is told: of two or three dimensions, padding at both ends.

    Args:
        x: Shape of the input.
        W: Shape of the weight.
        y: Shape of the output.
        stride: Distance between windows.
        pad: Padding in front.
        dilate: Distance between the elements of a window.
    """

    def __init__(
        self, x: Sizes, W: Sizes, y: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
    ) -> None:
        behind = tuple(
            [
                padding_behind(n, k, o, s, p, d)
                for n, k, o, s, p, d in zip(x[2:], W[2:], y[2:], stride, pad, dilate, strict=True)
            ]
        )
        if len(pad) == 1:
            self.pad, self.behind = (0, *pad), (0, *behind)
            self.stride, self.dilate = (1, *stride), (1, *dilate)
        else:
            self.pad, self.behind, self.stride, self.dilate = pad, behind, stride, dilate

    def attributes(self) -> tuple[tuple[str, Sizes], ...]:
        """Returns the attributes of a signature."""
        return (
            ("pre_padding", self.pad),
            ("post_padding", self.behind),
            ("stride", self.stride),
            ("dilation", self.dilate),
        )


def padding_behind(n: int, k: int, o: int, s: int, p: int, d: int) -> int:
    """Returns the padding behind that gives ``o`` windows; that in front if this does.

    Args:
        n: Size of the input.
        k: Size of a window.
        o: Number of windows.
        s: Stride.
        p: Padding in front.
        d: Dilation.
    """
    extent = (k - 1) * d + 1
    if (n + 2 * p - extent) // s + 1 == o:
        return p
    return (o - 1) * s + extent - n - p


def build_forward(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds ``y = x * W`` to a graph."""
    tensor(Y, graph.conv_fprop(tensor(X), tensor(W_), **_keywords(signature)))


def build_backward_data(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds the gradient w.r.t. ``x`` to a graph."""
    tensor(X, graph.conv_dgrad(tensor(Y), tensor(W_), **_keywords(signature)))


def build_backward_weight(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds the gradient w.r.t. ``W`` to a graph."""
    tensor(W_, graph.conv_wgrad(tensor(X), tensor(Y), **_keywords(signature)))


def _keywords(signature: Signature) -> dict[str, list[int]]:
    return {name: list(sizes) for name, sizes in signature.attributes}


_BUILDERS = {
    "convolution": build_forward,
    "gradient of a convolution w.r.t. x": build_backward_data,
    "gradient of a convolution w.r.t. W": build_backward_weight,
}
FORWARD, BACKWARD_DATA, BACKWARD_WEIGHT = _BUILDERS


def signature_of(
    what: str,
    shapes: tuple[Sizes, Sizes, Sizes],
    dtype: Any,
    layout: str,
    stride: Sizes,
    pad: Sizes,
    dilate: Sizes,
) -> Signature:
    """Returns the signature of one of the three computations.

    Args:
        what: ``FORWARD``, ``BACKWARD_DATA`` or ``BACKWARD_WEIGHT``.
        shapes: Shapes of ``x``, ``W`` and ``y``.
        dtype: Their data type.
        layout: How they lie.
        stride: Distance between windows.
        pad: Padding in front.
        dilate: Distance between the elements of a window.
    """
    tensors: list[tuple[int, TensorSpec]] = [
        (number, layouts.spec(shape, dtype, layout))
        for number, shape in zip((X, W_, Y), shapes, strict=True)
    ]
    geometry = Geometry(*shapes, stride, pad, dilate)
    return Signature(what, tuple(tensors), geometry.attributes())


class ConvolutionNDKernel(CudnnKernel):
    """Kernel of ``convolution_nd`` over one to three dimensions."""

    @on_device_of_first
    def forward(
        self,
        x: Any,
        W: Any,
        b: Any,
        out_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        layout = layouts.layout_of(x)
        x = layouts.arranged(self.xp, x, layout)
        W = layouts.arranged(self.xp, W, layout)
        y = layouts.empty(self.xp, (x.shape[0], W.shape[0], *out_size), x.dtype, layout)
        self._run(FORWARD, x, W, y, layout, stride, pad, dilate)
        if b is not None:
            y += b.reshape(-1, *[1] * len(out_size))
        return y

    @on_device_of_first
    def backward_data(
        self,
        gy: Any,
        W: Any,
        b: Any,
        in_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        layout = layouts.layout_of(gy)
        gy = layouts.arranged(self.xp, gy, layout)
        W = layouts.arranged(self.xp, W, layout)
        shape = (gy.shape[0], W.shape[1] * groups, *in_size)
        gx = layouts.empty(self.xp, shape, gy.dtype, layout)
        self._run(BACKWARD_DATA, gx, W, gy, layout, stride, pad, dilate)
        if b is not None:
            gx += b.reshape(-1, *[1] * len(in_size))
        return gx

    @on_device_of_first
    def backward_weight(
        self,
        x: Any,
        gy: Any,
        ksize: Sizes,
        dtype: Any,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        layout = layouts.layout_of(x)
        x = layouts.arranged(self.xp, x, layout)
        gy = layouts.arranged(self.xp, gy, layout)
        shape = (gy.shape[1], x.shape[1] // groups, *ksize)
        gW = layouts.empty(self.xp, shape, x.dtype, layout)
        self._run(BACKWARD_WEIGHT, x, gW, gy, layout, stride, pad, dilate)
        if layout != layouts.FIRST:
            gW = self.xp.ascontiguousarray(gW)  # as the parameter lies
        return gW.astype(dtype, copy=False)

    def _run(
        self,
        what: str,
        x: Any,
        W: Any,
        y: Any,
        layout: str,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
    ) -> None:
        shapes = (x.shape, W.shape, y.shape)
        session(x.data.device_id).run(
            (what, shapes, x.dtype.char, layout, stride, pad, dilate),
            {X: x.data.ptr, W_: W.data.ptr, Y: y.data.ptr},
            lambda: signature_of(what, shapes, x.dtype, layout, stride, pad, dilate),
            _BUILDERS[what],
        )
