"""Converters of pooling functions."""

from __future__ import annotations

from typing import Any

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes


def _windows(g: Nodes, ends: list[int] | None = None) -> dict[str, Any]:
    """Returns the attributes of the windows.

    Args:
        g: The nodes.
        ends: Padding at the ends; by default what gives the size of the output.
    """
    geometry = g.func.geometry
    if ends is None:
        ends = _ends(g) if g.func.cover_all else list(geometry.pad)
    return {
        "kernel_shape": list(geometry.ksize),
        "strides": list(geometry.stride),
        "pads": [*geometry.pad, *ends],
    }


def _ends(g: Nodes) -> list[int]:
    """Returns the padding at the ends with which each pixel is in a window."""
    g.warn_of_lengths(range(2, g.ndim()))
    geometry = g.func.geometry
    return [
        max((out - 1) * s + k - n - p, 0)
        for n, out, k, s, p in zip(
            g.shape()[2:], g.out_shape[2:], geometry.ksize, geometry.stride, geometry.pad,
            strict=True,
        )
    ]  # fmt: skip


@rule()
def MaxPoolingND(g: Nodes, x: str) -> str:
    """MaxPool; ``cover_all`` is the ceiling of the size."""
    pad = list(g.func.geometry.pad)
    # With padding, runtimes disagree about windows that begin behind the image.
    if g.func.cover_all and g.opset >= 10 and not any(pad):
        return g("MaxPool", x, ceil_mode=1, **_windows(g, pad))
    return g("MaxPool", x, **_windows(g))


@rule()
def AveragePoolingND(g: Nodes, x: str) -> str:
    """AveragePool, with or without the padding in the count."""
    counted = 0 if g.func.pad_value is None else 1
    return g("AveragePool", x, count_include_pad=counted, **_windows(g))


@rule()
def UnpoolingND(g: Nodes, x: str) -> str:
    """A transposed convolution of each channel with ones: windows that overlap add up."""
    geometry = g.func.geometry
    channels = g.shape()[1]
    more: list[int] = []
    ends: list[int] = []
    for n, out, k, s, p in zip(
        g.shape()[2:], g.out_shape[2:], geometry.ksize, geometry.stride, geometry.pad, strict=True
    ):
        extra = out - (s * (n - 1) + k - 2 * p)
        more.append(extra if 0 <= extra < s else 0)
        ends.append(p if 0 <= extra < s else p - extra)
    return g(
        "ConvTranspose", x, g.const(numpy.ones((channels, 1, *geometry.ksize))),
        strides=list(geometry.stride), pads=[*geometry.pad, *ends], group=channels,
        output_padding=more if any(more) else None,
    )  # fmt: skip


@rule()
def Upsampling2D(g: Nodes, x: str) -> str:
    """Not possible: the places come from the arrays of a pooling, which are not in the graph."""
    raise g.unsupported("the indexes of a pooling, which are not values of the graph")


@rule()
def ROIPooling2D(g: Nodes, x: str, rois: str) -> str:
    """Maxima in parts of regions."""
    if (g.arrays[0] < 0).any():
        g.warn("runtimes differ from Chainer for negative inputs of regions without pixels")
    size = [g.func.outh, g.func.outw]
    return g("MaxRoiPool", x, rois, pooled_shape=size, spatial_scale=float(g.func.spatial_scale))


@rule()
def ROIAverageAlign2D(g: Nodes, x: str, rois: str, indices: str) -> str:
    """RoiAlign; Chainer's regions have y before x, the operator's x before y."""
    g.require_opset(16)
    ratio = g.func.sampling_ratio
    ratios = list(ratio) if isinstance(ratio, tuple) else [ratio, ratio]
    if ratios[0] != ratios[1]:
        raise g.unsupported(f"different sampling ratios, got {ratio}")
    outh, outw = g.func.outsize if hasattr(g.func, "outsize") else g.out_shape[2:]
    return g(
        "RoiAlign", x, g.gather(rois, [1, 0, 3, 2], 1), g.cast(indices, numpy.int64),
        mode="avg", output_height=outh, output_width=outw,
        sampling_ratio=int(ratios[0] or 0), spatial_scale=float(g.func.spatial_scale),
        coordinate_transformation_mode="output_half_pixel",
    )  # fmt: skip
