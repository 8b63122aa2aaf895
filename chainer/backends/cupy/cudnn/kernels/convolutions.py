"""cuDNN kernel of convolutions and deconvolutions, and the graphs of its three computations.

CuPy adds the bias and sums its gradient, in one more pass over the output. cuDNN can fuse these
steps for few layouts only.
"""

from __future__ import annotations

from typing import Any

from chainer.backends.cupy.cudnn import layouts
from chainer.backends.cupy.cudnn.layouts import TensorSpec
from chainer.backends.cupy.cudnn.plans import Signature
from chainer.backends.cupy.cudnn.sessions import CudnnKernel, on_device_of_first, session
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.typing import Array, DTypeLike, Shape

#: Numbers that identify the tensors of a graph.
X, W_, Y = 1, 2, 3


def windows_of(
    x: Shape, W: Shape, y: Shape, geometry: ConvolutionGeometry
) -> tuple[tuple[str, Shape], ...]:
    """Returns what cuDNN needs to know of the windows: the attributes of a signature.

    cuDNN takes two or three dimensions, and the padding at both ends of each.

    Args:
        x: Shape of the input.
        W: Shape of the weight.
        y: Shape of the output.
        geometry: Geometry of the convolution.
    """
    stride, pad, dilate, _ = geometry
    sizes = zip(x[2:], W[2:], y[2:], stride, pad, dilate, strict=True)
    behind = tuple([padding_behind(*size) for size in sizes])
    if len(pad) == 1:
        # One spatial dimension becomes two, the first of length one.
        pad, behind, stride, dilate = (0, *pad), (0, *behind), (1, *stride), (1, *dilate)
    return (
        ("pre_padding", pad),
        ("post_padding", behind),
        ("stride", stride),
        ("dilation", dilate),
    )


def padding_behind(n: int, k: int, o: int, s: int, p: int, d: int) -> int:
    """Returns the padding behind the input with which exactly ``o`` windows fit.

    If the padding in front of the input serves at both ends, it is returned.

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
    """Adds the gradient with respect to ``x`` to a graph."""
    tensor(X, graph.conv_dgrad(tensor(Y), tensor(W_), **_keywords(signature)))


def build_backward_weight(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds the gradient with respect to ``W`` to a graph."""
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
    shapes: tuple[Shape, Shape, Shape],
    dtype: DTypeLike,
    layout: str,
    geometry: ConvolutionGeometry,
) -> Signature:
    """Returns the signature of one of the three computations.

    Args:
        what: ``FORWARD``, ``BACKWARD_DATA`` or ``BACKWARD_WEIGHT``.
        shapes: Shapes of ``x``, ``W`` and ``y``.
        dtype: Their data type.
        layout: Their memory layout, see :mod:`chainer.backends.cupy.cudnn.layouts`.
        geometry: Geometry of the convolution.
    """
    tensors: list[tuple[int, TensorSpec]] = [
        (number, layouts.spec(shape, dtype, layout))
        for number, shape in zip((X, W_, Y), shapes, strict=True)
    ]
    return Signature(what, tuple(tensors), windows_of(*shapes, geometry))


class ConvolutionNDKernel(CudnnKernel):
    """Kernel of ``convolution_nd`` over one to three dimensions."""

    @on_device_of_first
    def forward(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        layout = layouts.layout_of(x)
        x, W = self._arranged(layout, x, W)
        y = layouts.empty(self.xp, (x.shape[0], W.shape[0], *out_size), x.dtype, layout)
        self._run(FORWARD, x, W, y, layout, geometry)
        return _with_bias(y, b)

    @on_device_of_first
    def backward_data(
        self, gy: Array, W: Array, b: Array | None, in_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        layout = layouts.layout_of(gy)
        gy, W = self._arranged(layout, gy, W)
        shape = (gy.shape[0], W.shape[1] * geometry.groups, *in_size)
        gx = layouts.empty(self.xp, shape, gy.dtype, layout)
        self._run(BACKWARD_DATA, gx, W, gy, layout, geometry)
        return _with_bias(gx, b)

    @on_device_of_first
    def backward_weight(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: ConvolutionGeometry
    ) -> Array:
        layout = layouts.layout_of(x)
        x, gy = self._arranged(layout, x, gy)
        shape = (gy.shape[1], x.shape[1] // geometry.groups, *ksize)
        gW = layouts.empty(self.xp, shape, x.dtype, layout)
        self._run(BACKWARD_WEIGHT, x, gW, gy, layout, geometry)
        if layout != layouts.FIRST:
            # Gradients have the memory layout of their parameter, which updates rely on for speed.
            gW = self.xp.ascontiguousarray(gW)
        return gW.astype(dtype, copy=False)

    def _arranged(self, layout: str, *arrays: Array) -> list[Array]:
        return [layouts.arranged(self.xp, array, layout) for array in arrays]

    def _run(
        self, what: str, x: Array, W: Array, y: Array, layout: str, geometry: ConvolutionGeometry
    ) -> None:
        shapes = (x.shape, W.shape, y.shape)
        session(x.data.device_id).run(
            (what, shapes, x.dtype.char, layout, geometry),
            {X: x.data.ptr, W_: W.data.ptr, Y: y.data.ptr},
            lambda: signature_of(what, shapes, x.dtype, layout, geometry),
            _BUILDERS[what],
        )


def _with_bias(y: Array, b: Array | None) -> Array:
    """Adds a bias of shape ``(channels,)`` in place."""
    if b is not None:
        y += b.reshape(-1, *[1] * (y.ndim - 2))
    return y
