"""Convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.shapes import pad_axes
from onnx_chainer.importing.values import Tensor, array_of, is_float


class Windows(NamedTuple):
    """Windows that slide over the spatial axes.

    Attributes:
        strides: Steps.
        dilations: Distances of the elements of a window.
        before: Padding in front of each axis.
        behind: Padding at the end of each axis.
    """

    strides: list[int]
    dilations: list[int]
    before: list[int]
    behind: list[int]


def windows_of(attributes: Attributes, lengths: Sequence[int], ksize: Sequence[int]) -> Windows:
    """Returns the windows of a convolution or pooling.

    Args:
        attributes: Attributes of the node.
        lengths: Lengths of the spatial axes of the input.
        ksize: Size of the windows.
    """
    ndim = len(lengths)
    strides = list(attributes.get("strides", [1] * ndim))
    dilations = list(attributes.get("dilations", [1] * ndim))
    mode = attributes.get("auto_pad", "NOTSET")
    pads = list(attributes.get("pads", [0] * (2 * ndim)))
    if mode == "VALID":
        pads = [0] * (2 * ndim)
    elif mode.startswith("SAME"):
        before, behind = [], []
        for n, k, s, d in zip(lengths, ksize, strides, dilations, strict=True):
            total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
            small, large = total // 2, total - total // 2
            before.append(small if mode == "SAME_UPPER" else large)
            behind.append(large if mode == "SAME_UPPER" else small)
        pads = before + behind
    return Windows(strides, dilations, pads[:ndim], pads[ndim:])


def padded(x: Tensor, before: list[int], behind: list[int], value: float = 0.0) -> Tensor:
    """Pads the spatial axes; negative widths cut."""
    return pad_axes(x, [(0, 0), (0, 0), *zip(before, behind, strict=True)], value=value)


def _conv(attributes: Attributes, x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    weights = array_of(W)
    strides, dilations, before, behind = windows_of(
        attributes, array_of(x).shape[2:], weights.shape[2:]
    )
    if before != behind or min(before, default=0) < 0:
        x, before = padded(x, before, behind), [0] * len(before)
    counts = [
        max(n + 2 * p - (k - 1) * d - 1, 0) // s + 1
        for n, p, k, d, s in zip(
            array_of(x).shape[2:], before, weights.shape[2:], dilations, strides, strict=True
        )
    ]
    # The windows of an image, which implementations by products of matrices copy.
    check_shape("Conv", (array_of(x).shape[1], *counts, *weights.shape[2:]))
    check_shape("Conv", (array_of(x).shape[0], weights.shape[0], *counts))
    return F.convolution_nd(
        x, W, b, tuple(strides), tuple(before), dilate=tuple(dilations),
        groups=attributes.get("group", 1),
    )  # fmt: skip


def _conv_transpose(
    attributes: Attributes, x: Tensor, W: Tensor, b: Tensor | None = None
) -> Tensor:
    ksize = array_of(W).shape[2:]
    lengths = array_of(x).shape[2:]
    count = len(ksize)
    strides = attributes.get("strides", [1] * count)
    dilations = attributes.get("dilations", [1] * count)
    extra = list(attributes.get("output_padding", [0] * count))
    # The whole output first; then padding cuts, and what lies beyond it has zeros (and the bias).
    full = [
        s * (n - 1) + (k - 1) * d + 1
        for n, k, s, d in zip(lengths, ksize, strides, dilations, strict=True)
    ]
    sizes = _output_shape(attributes, lengths, strides)
    if sizes is None:
        _, _, before, behind = windows_of(attributes, lengths, ksize)
    else:
        total = [f + e - o for f, e, o in zip(full, extra, sizes, strict=True)]
        half = [max(t, 0) // 2 for t in total]
        rest = [max(t, 0) - h for t, h in zip(total, half, strict=True)]
        upper = attributes.get("auto_pad") == "SAME_UPPER"
        before, behind = (half, rest) if upper else (rest, half)
        # An output that is longer than the whole one has zeros at its end.
        extra = [e + max(-t, 0) for e, t in zip(extra, total, strict=True)]
    check_shape("ConvTranspose", (array_of(x).shape[0], array_of(W).shape[1], *full))
    y = F.deconvolution_nd(
        x, W, None, tuple(strides), 0, dilate=tuple(dilations),
        groups=attributes.get("group", 1),
    )  # fmt: skip
    cut = [(-p, e - q) for p, q, e in zip(before, behind, extra, strict=True)]
    y = pad_axes(y, [(0, 0), (0, 0), *cut])
    return y if b is None else F.bias(y, b)


def _output_shape(
    attributes: Attributes, lengths: Sequence[int], strides: Sequence[int]
) -> list[int] | None:
    """Returns the lengths of the spatial axes of a transposed convolution, if they are given."""
    sizes = attributes.get("output_shape")
    if sizes is not None:
        return list(sizes[-len(lengths) :])
    if attributes.get("auto_pad", "NOTSET").startswith("SAME"):
        return [n * s for n, s in zip(lengths, strides, strict=True)]
    return None


def _deform_conv(
    attributes: Attributes,
    x: Tensor,
    W: Tensor,
    offset: Tensor,
    b: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Samples the elements of each window at shifted places, and multiplies them by weights."""
    from onnx_chainer.importing.regions import bilinear_at

    shape, weights = array_of(x).shape, array_of(W)
    if len(shape) != 4 or not is_float(x):
        attributes.refuse("X", shape)
    kh, kw = weights.shape[2:]
    strides, dilations, before, _ = windows_of(attributes, shape[2:], (kh, kw))
    groups, offset_groups = attributes.get("group", 1), attributes.get("offset_group", 1)
    n, c = shape[:2]
    out_h, out_w = array_of(offset).shape[2:]
    xp = get_array_module(weights)
    shifts = F.reshape(offset, (n, offset_groups, kh * kw, 2, out_h, out_w))
    dtype = array_of(x).dtype
    rows = (xp.arange(out_h) * strides[0] - before[0])[None, :, None]
    columns = (xp.arange(out_w) * strides[1] - before[1])[None, None, :]
    taps_y = xp.repeat(xp.arange(kh) * dilations[0], kw)[:, None, None]
    taps_x = xp.tile(xp.arange(kw) * dilations[1], kh)[:, None, None]
    ys = shifts[:, :, :, 0] + (rows + taps_y + columns * 0).astype(dtype)
    xs = shifts[:, :, :, 1] + (columns + taps_x + rows * 0).astype(dtype)
    parts = []
    per = c // offset_groups
    for g in range(offset_groups):
        part = F.get_item(x, (slice(None), slice(g * per, (g + 1) * per)))
        sampled = bilinear_at(part, ys[:, g], xs[:, g])  # (n, per, taps, out_h, out_w)
        if mask is not None:
            weight = F.reshape(mask, (n, offset_groups, 1, kh * kw, out_h, out_w))[:, g]
            sampled = sampled * F.broadcast_to(weight, sampled.shape)
        parts.append(sampled)
    columns_of = F.concat(parts, axis=1)
    columns_of = F.reshape(columns_of, (n, groups, -1, out_h * out_w))
    matrix = F.reshape(W, (groups, weights.shape[0] // groups, -1))
    y = F.einsum("gok,ngkp->ngop", matrix, columns_of)
    y = F.reshape(y, (n, weights.shape[0], out_h, out_w))
    return y if b is None else F.bias(y, b)


OPERATORS: dict[str, Callable[..., Any]] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "DeformConv": _deform_conv,
}
