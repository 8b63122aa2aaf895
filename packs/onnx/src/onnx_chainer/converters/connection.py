"""Converters of functions with weights."""

from __future__ import annotations

from typing import Any

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes


@rule()
def LinearFunction(g: Nodes, x: str, W: str, b: str = "") -> str:
    """Gemm of matrices; before opset 11 it always has a bias."""
    if not b and g.opset < 11:
        b = g.const(numpy.zeros(g.shape(1)[0]))
    return g("Gemm", x, W, b, transB=1) if b else g("Gemm", x, W, transB=1)


@rule()
def EmbedIDFunction(g: Nodes, x: str, W: str) -> str:
    """Rows of the weight; zeros for labels to ignore."""
    label = g.func.ignore_label
    if label is None:
        return g("Gather", W, x, axis=0)
    ignored = g("Equal", x, g.const(label))
    rows = g("Gather", W, g("Where", ignored, g.const(0), x), axis=0)
    return g("Where", g.unsqueeze(ignored, [g.ndim()]), g.const(0, g.dtype(1)), rows)


def _spatial(g: Nodes) -> list[Any]:
    """Returns, for each spatial axis, the length of the input, the window and the output."""
    geometry = g.func.geometry
    return list(
        zip(
            g.shape()[2:], g.shape(1)[2:], g.out_shape[2:],
            geometry.stride, geometry.pad, geometry.dilate, strict=True,
        )
    )  # fmt: skip


@rule()
def ConvolutionND(g: Nodes, x: str, W: str, b: str = "") -> str:
    """Conv; with ``cover_all`` the end is padded more, so that each position is in a window."""
    geometry = g.func.geometry
    ends = list(geometry.pad)
    if g.func.cover_all:
        g.warn_of_lengths(range(2, g.ndim()))
        ends = [
            max((out - 1) * s + (k - 1) * d + 1 - n - p, 0) for n, k, out, s, p, d in _spatial(g)
        ]
    return g(
        "Conv", *([x, W, b] if b else [x, W]),
        kernel_shape=list(g.shape(1)[2:]), strides=list(geometry.stride),
        pads=[*geometry.pad, *ends], dilations=list(geometry.dilate), group=geometry.groups,
    )  # fmt: skip


@rule()
def DeconvolutionND(g: Nodes, x: str, W: str, b: str = "") -> str:
    """ConvTranspose, with padding at the end that gives the size of the output."""
    geometry = g.func.geometry
    more: list[int] = []
    ends: list[int] = []
    for n, k, out, s, p, d in _spatial(g):
        # Elements of the output beyond the smallest size; it may be less than that.
        extra = out - (s * (n - 1) + (k - 1) * d + 1 - 2 * p)
        fits = 0 <= extra < max(s, d)
        more.append(extra if fits else 0)
        ends.append(p if fits else p - extra)
    return g(
        "ConvTranspose", *([x, W, b] if b else [x, W]),
        kernel_shape=list(g.shape(1)[2:]), strides=list(geometry.stride),
        pads=[*geometry.pad, *ends], dilations=list(geometry.dilate), group=geometry.groups,
        output_padding=more if any(more) else None,
    )  # fmt: skip


@rule()
def DepthwiseConvolution2D(g: Nodes, x: str, W: str, b: str = "") -> str:
    """A convolution with a group for each channel."""
    multiplier, channels, *ksize = g.shape(1)
    W = g.transpose(W, [1, 0, 2, 3])
    W = g("Reshape", W, g.ints([channels * multiplier, 1, *ksize]))
    return g(
        "Conv", *([x, W, b] if b else [x, W]),
        kernel_shape=ksize, strides=list(g.func.stride), pads=[*g.func.pad, *g.func.pad],
        group=channels,
    )  # fmt: skip


@rule()
def Shift(g: Nodes, x: str) -> str:
    """A convolution of each channel with a single one, at the place that moves to the middle."""
    channels = g.shape()[1]
    (kh, kw), (dy, dx) = g.func.ksize, g.func.dilate
    # The result for one pixel in the middle of an image tells where each channel moves.
    up, left = kh // 2 * dy, kw // 2 * dx
    image = numpy.zeros((1, channels, 2 * up + 1, 2 * left + 1))
    image[:, :, up, left] = 1
    moved = type(g.func)((kh, kw), (dy, dx)).apply((image,))[0].array[0]
    filters = moved[:, None, ::-1, ::-1][:, :, ::dy, ::dx]
    return g(
        "Conv", x, g.const(numpy.ascontiguousarray(filters)),
        group=channels, dilations=[dy, dx], pads=[up, left, up, left],
    )  # fmt: skip
