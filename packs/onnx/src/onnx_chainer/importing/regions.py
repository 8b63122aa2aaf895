"""Operators that sample images at places which the graph computes, and regions of interest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import Tensor, array_of, host_array, ints_of, on_device_of

if TYPE_CHECKING:
    from chainer.typing import Array


def _pixels(x: Tensor, places: Sequence[Any], zeros_outside: bool) -> Any:
    """Returns the elements of images at integer places.

    Args:
        x: Images, of the shape (batch, channels, ...).
        places: Index arrays of the shape (batch, ...), one for each spatial axis.
        zeros_outside: Whether elements outside are zero; else they repeat the border.

    Returns:
        Variable: Elements of the shape (batch, channels, ...).
    """
    array = array_of(x)
    xp = get_array_module(array)
    inside: Any = True
    inner = []
    for place, length in zip(places, array.shape[2:], strict=True):
        inside = inside & (place >= 0) & (place < length)
        # A valid place for all: elements outside are multiplied by zero below.
        inner.append(xp.clip(place, 0, length - 1))
    rows = xp.arange(array.shape[0]).reshape((-1,) + (1,) * (inner[0].ndim - 1))
    # The channels come last, since the indexes stand on both sides of their slice.
    found = F.moveaxis(F.get_item(x, (rows, slice(None), *inner)), -1, 1)
    if not zeros_outside:
        return found
    return found * xp.expand_dims(inside, 1).astype(array.dtype)


def sampled(x: Tensor, at: Sequence[Any], zeros_outside: bool = True) -> Any:
    """Interpolates linearly between the elements of images. Differentiable in images and places.

    Args:
        x: Images, of the shape (batch, channels, ...).
        at: Coordinates of the shape (batch, ...), one tensor for each spatial axis.
        zeros_outside: Whether elements outside are zero; else they repeat the border.

    Returns:
        Variable: Elements of the shape (batch, channels, ...).
    """
    xp = get_array_module(array_of(x))
    low = [xp.floor(array_of(a)).astype(int) for a in at]
    parts = [a - f.astype(array_of(a).dtype) for a, f in zip(at, low, strict=True)]
    total: Any = 0
    for corner in itertools.product((0, 1), repeat=len(at)):
        weight: Any = 1
        for step, part in zip(corner, parts, strict=True):
            weight = weight * (part if step else 1 - part)
        pixels = _pixels(x, [f + s for f, s in zip(low, corner, strict=True)], zeros_outside)
        total = total + pixels * F.broadcast_to(F.expand_dims(weight, 1), pixels.shape)
    return total


def bilinear_at(x: Tensor, ys: Array, xs: Array) -> Any:
    """Interpolates images at places; outside of the images is zero.

    Args:
        x: Images, of the shape (batch, channels, height, width).
        ys: Rows, of the shape (batch, ...).
        xs: Columns, of the same shape.
    """
    return sampled(x, [ys, xs])


def _grid_sample(attributes: Attributes, x: Tensor, grid: Tensor) -> Tensor:
    array = array_of(x)
    lengths = array.shape[2:]
    ndim = len(lengths)
    corners = bool(attributes.get("align_corners", 0))
    # Operator set 20 renamed "bilinear" to "linear", and "bicubic" to "cubic".
    mode = attributes.get("mode", "linear").removeprefix("bi")
    padding = attributes.get("padding_mode", "zeros")
    at = []
    for i, n in enumerate(lengths):
        # The last axis of the grid has x, y, z: in the opposite order of the axes.
        part = F.get_item(grid, (..., ndim - 1 - i))
        at.append((part + 1) * ((n - 1) / 2) if corners else ((part + 1) * n - 1) * 0.5)
    if mode == "nearest":
        places = [numpy.rint(_inside(p, n, padding, corners).array) for p, n in zip(at, lengths)]
        return _pixels(x, [p.astype(int) for p in places], padding == "zeros")
    if mode == "linear":
        inner = [_inside(p, n, padding, corners) for p, n in zip(at, lengths)]
        return sampled(x, inner, padding == "zeros")
    if mode != "cubic":
        attributes.refuse("mode")
    return _cubic_sample(x, at, padding, corners)


def _inside(at: Any, length: int, padding: str, corners: bool) -> Any:
    """Moves coordinates outside of an axis to where the padding takes them from."""
    if padding == "zeros":
        return at
    if padding == "border":
        return F.clip(at, 0.0, float(length - 1))
    scale, offset = _reflection(at.array, length, corners)
    return F.clip(at * scale + offset, 0.0, float(length - 1))


def _reflection(at: Any, length: int, corners: bool) -> tuple[Any, Any]:
    """Returns factors and offsets that reflect coordinates at the borders.

    Borders are the centers of the outermost elements (``corners``), or their outer edges.
    """
    low, high = (0.0, length - 1.0) if corners else (-0.5, length - 0.5)
    span = high - low
    dtype = at.dtype
    if span == 0:
        return numpy.zeros_like(at), numpy.zeros_like(at)
    turns = numpy.floor((at - low) / span)
    odd = turns % 2 == 1
    # Even turns shift, odd ones mirror.
    scale = numpy.where(odd, -1.0, 1.0)
    offset = numpy.where(odd, 2 * low + (turns + 1) * span, -turns * span)
    return scale.astype(dtype), offset.astype(dtype)


def _cubic_sample(x: Tensor, at: list[Any], padding: str, corners: bool) -> Any:
    lengths = array_of(x).shape[2:]
    low = [numpy.floor(a.array).astype(int) for a in at]
    weights = [_cubic_weights(a - f.astype(a.dtype)) for a, f in zip(at, low)]
    total: Any = 0
    for corner in itertools.product(range(4), repeat=len(at)):
        weight: Any = 1
        places = []
        for k, f, w, n in zip(corner, low, weights, lengths, strict=True):
            weight = weight * w[k]
            place = f + k - 1
            if padding != "zeros":
                moved = _inside(F.cast(place.astype("d"), "d"), n, padding, corners).array
                place = numpy.rint(moved).astype(int)
            places.append(place)
        pixels = _pixels(x, places, padding == "zeros")
        total = total + pixels * F.broadcast_to(F.expand_dims(weight, 1), pixels.shape)
    return total


def _cubic_weights(t: Array, a: float = -0.75) -> list[Any]:
    """Weights of the four elements around a place (R. Keys, 1981); t in [0, 1)."""

    def near(d: Array) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Array) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@constants(1, 2)
def _roi_align(attributes: Attributes, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    array = array_of(x)
    boxes = host_array(rois).astype("d") * attributes.get("spatial_scale", 1.0)
    # The attribute came with operator set 16, and with another default than the older behavior.
    default = "half_pixel" if attributes.opset >= 16 else "output_half_pixel"
    centered = attributes.get("coordinate_transformation_mode", default) == "half_pixel"
    size = attributes.get("output_height", 1), attributes.get("output_width", 1)
    images = ints_of(batch)
    check_shape("RoiAlign", (len(images), array.shape[1], *size))
    found = []
    for box, image in zip(boxes, images, strict=True):
        left, top, right, bottom = box - 0.5 if centered else box
        height, width = bottom - top, right - left
        if not centered:
            # Without the shift by half a pixel, regions have at least one pixel.
            height, width = max(height, 1.0), max(width, 1.0)
        ys = _sample_places(top, height, size[0], attributes.get("sampling_ratio", 0))
        xs = _sample_places(left, width, size[1], attributes.get("sampling_ratio", 0))
        picture = F.get_item(x, slice(image, image + 1))
        found.append(_region(attributes, picture, ys, xs))
    if not found:
        return array.reshape(-1)[:0].reshape(0, array.shape[1], *size)
    return F.concat(found, axis=0)


def _sample_places(start: float, extent: float, bins: int, ratio: int) -> Any:
    """Returns the coordinates of the samples of each bin, of the shape (bins, samples)."""
    count = ratio if ratio > 0 else max(int(numpy.ceil(extent / bins)), 1)
    check_shape("RoiAlign", (bins, count))
    size = extent / bins
    steps = (numpy.arange(count) + 0.5) * size / count
    return start + numpy.arange(bins)[:, None] * size + steps[None, :]


def _region(attributes: Attributes, picture: Array, ys: Array, xs: Array) -> Any:
    """Returns one region, of the shape (1, channels, output height, output width)."""
    height, width = array_of(picture).shape[2:]
    dtype = array_of(picture).dtype
    check_shape("RoiAlign", (array_of(picture).shape[1], ys.size, xs.size))
    rows, columns = (axis.reshape(-1) for axis in (ys, xs))
    counted = ((rows >= -1) & (rows <= height))[:, None] & ((columns >= -1) & (columns <= width))[
        None, :
    ]
    y = numpy.clip(rows, 0, height - 1)[:, None] + columns[None, :] * 0
    z = numpy.clip(columns, 0, width - 1)[None, :] + rows[:, None] * 0
    shape = (1, -1, ys.shape[0], ys.shape[1], xs.shape[0], xs.shape[1])
    weight = on_device_of(picture, counted.astype(dtype))
    if attributes.get("mode", "avg") == "max":
        # The maximum is of the weighted corners, as runtimes compute it.
        parts = _weighted_corners(picture, y, z)
        best = F.max(F.stack(parts, axis=0), axis=0)
        values = F.reshape(best * F.broadcast_to(weight, best.shape), shape)
        return F.max(F.max(values, axis=5), axis=3)
    at = [on_device_of(picture, a[None].astype(dtype)) for a in (y, z)]
    values = sampled(picture, at, zeros_outside=False)
    values = F.reshape(values * F.broadcast_to(weight, values.shape), shape)
    return F.average(values, axis=(3, 5))


def _weighted_corners(picture: Array, y: Array, z: Array) -> list[Any]:
    dtype = array_of(picture).dtype
    low = [numpy.floor(a).astype(int)[None] for a in (y, z)]
    parts = [a[None] - f for a, f in zip((y, z), low)]
    found = []
    for corner in itertools.product((0, 1), repeat=2):
        weight: Any = 1.0
        for step, part in zip(corner, parts):
            weight = weight * (part if step else 1 - part)
        places = [on_device_of(picture, f + s) for f, s in zip(low, corner)]
        pixels = _pixels(picture, places, zeros_outside=False)
        factor = on_device_of(picture, weight.astype(dtype))
        found.append(pixels * F.broadcast_to(F.expand_dims(factor, 1), pixels.shape))
    return found


@constants(1)
def _max_roi_pool(attributes: Attributes, x: Tensor, rois: Tensor) -> Tensor:
    height, width = attributes["pooled_shape"]
    scale = attributes.get("spatial_scale", 1.0)
    check_shape("MaxRoiPool", (array_of(rois).shape[0], array_of(x).shape[1], height, width))
    return F.roi_pooling_2d(x, array_of(rois), height, width, scale)


@constants(1, 2)
def _col_to_im(
    attributes: Attributes, x: Tensor, image_shape: Tensor, block_shape: Tensor
) -> Tensor:
    """Adds up blocks at the places where they were taken from."""
    lengths, block = ints_of(image_shape), ints_of(block_shape)
    ndim = len(lengths)
    strides = attributes.get("strides", [1] * ndim)
    dilations = attributes.get("dilations", [1] * ndim)
    pads = attributes.get("pads", [0] * (2 * ndim))
    array = array_of(x)
    n, volume = array.shape[0], int(numpy.prod(block))
    channels = array.shape[1] // volume
    full = [m + pads[i] + pads[ndim + i] for i, m in enumerate(lengths)]
    counts = [
        (m - d * (k - 1) - 1) // s + 1
        for m, k, s, d in zip(full, block, strides, dilations, strict=True)
    ]
    check_shape("Col2Im", (n, channels, *full))
    check_shape("Col2Im", (*block, *counts))
    places = []
    for i in range(ndim):
        at = numpy.arange(block[i])[:, None] * dilations[i] + numpy.arange(counts[i]) * strides[i]
        shape = [1] * (2 * ndim)
        shape[i], shape[ndim + i] = at.shape
        places.append(at.reshape(shape))
    values = F.reshape(x, (n, channels, *block, *counts))
    zeros = get_array_module(array).zeros((n, channels, *full), array.dtype)
    index = (slice(None), slice(None), *numpy.broadcast_arrays(*places))
    y = F.scatter_add(zeros, index, values)
    inner = [slice(pads[i], pads[i] + m) for i, m in enumerate(lengths)]
    return F.get_item(y, (slice(None), slice(None), *inner))


OPERATORS: dict[str, Callable[..., Any]] = {
    "Col2Im": _col_to_im,
    "GridSample": _grid_sample,
    "MaxRoiPool": _max_roi_pool,
    "RoiAlign": _roi_align,
}
