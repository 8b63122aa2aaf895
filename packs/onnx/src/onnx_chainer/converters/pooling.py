"""Converters of pooling functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.typing import Shape
from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes

if TYPE_CHECKING:
    from onnx_chainer.converter_call import ConverterCall


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
    g.context.poolings.append(g.params)
    geometry = g.func.geometry
    pad = list(geometry.pad)
    sizes = zip(g.shape()[2:], g.out_shape[2:], geometry.stride, pad, strict=True)
    if any((out - 1) * s - p >= n for n, out, s, p in sizes):
        # The operator has no windows that lie behind the image.
        ends = _ends(g)
        x = g.pad(x, [0, 0, *pad], [0, 0, *ends], -numpy.inf)
        none = [0] * len(pad)
        return g("MaxPool", x, **{**_windows(g, none), "pads": none * 2})
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
    """Puts the elements of each channel at their places in a plane of zeros."""
    twin = g.twin_out_shape
    if twin is not None and twin[2:] != g.out_shape[2:]:
        raise g.unsupported("heights and widths that have names")
    geometry = g.func.geometry
    overlap = any(s < k for s, k in zip(geometry.stride, geometry.ksize, strict=True))
    if overlap:
        g.require_opset(16, "with windows that overlap")
    places, plane, pad = _places(g)
    # Shapes in the sample, and in the second run if there was one.
    outs = [g.out_shape, *([] if twin is None else [twin])]
    flat = [(*shape[:2], math.prod(g.shape()[2:])) for shape in outs]
    planes = [(*shape[:2], math.prod(plane)) for shape in outs]
    canvas = g.expand(g.const(numpy.zeros((1, 1, 1))), *planes)
    y = g(
        "ScatterElements" if g.opset >= 11 else "Scatter", canvas,
        g.reshape(places, *flat), g.reshape(x, *flat),
        axis=2, reduction="add" if overlap else None,
    )  # fmt: skip
    y = g.reshape(y, *[(*shape[:2], *plane) for shape in outs])
    # The output may end before the plane or behind it.
    ends = [min(p + n, m) for p, n, m in zip(pad, g.out_shape[2:], plane, strict=True)]
    if any(pad) or ends != list(plane):
        y = g.slice(y, pad, ends, [2, 3])
    rest = [p + n - end for p, n, end in zip(pad, g.out_shape[2:], ends, strict=True)]
    return g.pad(y, [0] * 4, [0, 0, *rest]) if any(rest) else y


def _places(g: Nodes) -> tuple[str, Shape, Shape]:
    """Returns where the elements come to stand in a plane.

    Args:
        g: The nodes of an upsampling.

    Returns:
        tuple: Name of the row-major places in a plane, of the shape of the input; the size of the
        plane; where the output begins in it.
    """
    func = g.func
    known = g.context.find_name(func.indexes)
    if known is None:
        pooling = _pooling_of(g)
        plane = tuple(pooling.func.inputs[0].shape[2:])
        # The operator counts through all channels of all samples.
        return _remainder(g, _indices_of(g, pooling), math.prod(plane)), plane, (0, 0)
    ksize, stride, pad = func.geometry.ksize, func.geometry.stride, func.geometry.pad
    size = g.shape()[2:]
    plane = tuple(s * (n - 1) + k for n, k, s in zip(size, ksize, stride, strict=True))
    rows, columns = numpy.ogrid[: size[0], : size[1]]
    first = rows * stride[0] * plane[1] + columns * stride[1]
    index = g.cast(known, numpy.int64)
    column = _remainder(g, index, ksize[1])
    row = g("Div", g("Sub", index, column), g.ints([ksize[1]]))
    place = g("Add", g("Mul", row, g.ints([plane[1]])), column)
    return g("Add", place, g.const(first, numpy.int64)), plane, pad


def _remainder(g: Nodes, x: str, divisor: int) -> str:
    """Returns the remainder of integers that are not negative; Mod came with opset 10."""
    number = g.ints([divisor])
    return g("Sub", x, g("Mul", g("Div", x, number), number))


def _pooling_of(g: Nodes) -> ConverterCall:
    """Returns the pooling of the graph whose indexes an upsampling has."""
    for pooling in g.context.poolings:
        if pooling.func.indexes is g.func.indexes:
            if pooling.func.geometry != g.func.geometry:
                raise g.unsupported("other windows than those of the pooling")
            return pooling
    raise g.unsupported("indexes that are neither those of a pooling of the graph nor an input")


def _indices_of(g: Nodes, pooling: ConverterCall) -> str:
    """Returns the name of the second output of a MaxPool, which it gets if it lacks it."""
    name = pooling.output_names[0]
    for node in g.params.conversion.nodes:
        if node.output[0] == name and node.op_type == "MaxPool":
            if node.input[0] != pooling.input_names[0]:
                raise g.unsupported("the indexes of windows that lie behind the image")
            if len(node.output) == 1:
                node.output.append(f"{name}_indices")
            return node.output[1]
    raise g.unsupported("the indexes of a pooling inside of another function")


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
