"""Convolution and its gradients, each one operation of XLA."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from chainer.backends.compute_dtypes import compute_dtype
from jax import lax

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike, Shape

    from chainer_jax.backend import JaxBackend


def _convolve(x: Array, W: Array, out_size: Shape, geometry: Any) -> Any:
    """Convolution of one dtype, with as much padding behind as ``out_size`` needs."""
    stride, pad, dilate, groups = geometry
    sizes = zip(x.shape[2:], W.shape[2:], out_size, stride, pad, dilate, strict=True)
    # Elements behind the last window are cut off: their padding is negative.
    padding = [(p, (o - 1) * s + (k - 1) * d + 1 - n - p) for n, k, o, s, p, d in sizes]
    return lax.conv_general_dilated(
        x,
        W,
        window_strides=stride,
        padding=padding,
        rhs_dilation=dilate,
        feature_group_count=groups,
    )


@partial(jax.jit, static_argnums=(3, 4))
def _forward(x: Array, W: Array, b: Array, out_size: Shape, geometry: Any) -> Any:
    dtype = compute_dtype(x.dtype, W.dtype)
    y = _convolve(x.astype(dtype), W.astype(dtype), out_size, geometry)
    if b is not None:
        y = y + b.astype(dtype).reshape(-1, *[1] * len(out_size))
    return y.astype(x.dtype)


@partial(jax.jit, static_argnums=(3, 4))
def _backward_data(gy: Array, W: Array, b: Array, in_size: Shape, geometry: Any) -> Any:
    dtype = compute_dtype(gy.dtype, W.dtype)
    channels = W.shape[1] * geometry[3]
    x = jax.ShapeDtypeStruct((gy.shape[0], channels, *in_size), dtype)
    weight, out_size = W.astype(dtype), gy.shape[2:]
    transpose = jax.linear_transpose(lambda x: _convolve(x, weight, out_size, geometry), x)
    (gx,) = transpose(gy.astype(dtype))
    if b is not None:
        gx = gx + b.astype(dtype).reshape(-1, *[1] * len(in_size))
    return gx.astype(gy.dtype)


@partial(jax.jit, static_argnums=(2, 3, 4))
def _backward_weight(x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: Any) -> Any:
    compute = compute_dtype(x.dtype, gy.dtype)
    rows = x.shape[1] // geometry[3]
    W = jax.ShapeDtypeStruct((gy.shape[1], rows, *ksize), compute)
    source, out_size = x.astype(compute), gy.shape[2:]
    transpose = jax.linear_transpose(lambda W: _convolve(source, W, out_size, geometry), W)
    (gW,) = transpose(gy.astype(compute))
    return gW.astype(dtype)


class ConvolutionNDKernel:
    """Kernel of ``convolution_nd``.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: JaxBackend) -> None:
        self._wrap = backend.array_class

    def forward(self, x: Array, W: Array, b: Array, out_size: Shape, geometry: Any) -> Any:
        """See :class:`~chainer.backends.operations.convolutions.ConvolutionND`."""
        bias = None if b is None else b.native
        return self._wrap(_forward(x.native, W.native, bias, tuple(out_size), geometry))

    def backward_data(self, gy: Array, W: Array, b: Array, in_size: Shape, geometry: Any) -> Any:
        """See :class:`~chainer.backends.operations.convolutions.ConvolutionND`."""
        bias = None if b is None else b.native
        return self._wrap(_backward_data(gy.native, W.native, bias, tuple(in_size), geometry))

    def backward_weight(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: Any
    ) -> Any:
        """See :class:`~chainer.backends.operations.convolutions.ConvolutionND`."""
        return self._wrap(_backward_weight(x.native, gy.native, tuple(ksize), dtype, geometry))
