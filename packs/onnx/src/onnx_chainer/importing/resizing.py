"""Resize and Upsample. Each axis is resized by a matrix, or by selecting elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import chainer.functions as F
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import (
    Tensor,
    array_of,
    host_array,
    ints_of,
    is_float,
    on_device_of,
)

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike


class _Axis(NamedTuple):
    """How one axis is resized.

    Attributes:
        axis: The axis.
        length: Its length.
        target: Its length in the output.
        scale: The scale, of which the target may be a rounded product.
        start: Beginning of the region, as a share of the axis.
        end: End of the region.
    """

    axis: int
    length: int
    target: int
    scale: float
    start: float
    end: float


@constants(1, 2)
def _resize(
    attributes: Attributes,
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
) -> Tensor:
    if attributes.opset < 11:
        # The second input was the scales, and coordinates were computed as in Upsample.
        return _upsample(attributes, x, roi)
    array = array_of(x)
    axes = [a % array.ndim for a in attributes.get("axes", range(array.ndim))]
    regions = [0.0] * len(axes) + [1.0] * len(axes)
    if roi is not None and array_of(roi).size:
        regions = [float(v) for v in host_array(roi)]
    lengths = [array.shape[axis] for axis in axes]
    if sizes is not None and array_of(sizes).size:
        targets, factors = _sized(attributes, lengths, ints_of(sizes))
    else:
        factors = [float(s) for s in host_array(scales)]
        targets = [int(numpy.floor(n * s)) for n, s in zip(lengths, factors, strict=True)]
    count = len(axes)
    found = [
        _Axis(axis, n, t, s, regions[i], regions[count + i])
        for i, (axis, n, t, s) in enumerate(zip(axes, lengths, targets, factors, strict=True))
    ]
    return _resized(attributes, x, found)


def _sized(
    attributes: Attributes, lengths: list[int], sizes: list[int]
) -> tuple[list[int], list[float]]:
    """Returns the lengths of the output and the scales, for given lengths."""
    factors = [t / n for t, n in zip(sizes, lengths, strict=True)]
    policy = attributes.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes, factors
    # One scale for all axes: the image fits into the sizes, or covers them.
    scale = min(factors) if policy == "not_larger" else max(factors)
    return [int(numpy.floor(scale * n + 0.5)) for n in lengths], [scale] * len(lengths)


@constants(1)
def _upsample(attributes: Attributes, x: Tensor, scales: Tensor | None = None) -> Tensor:
    """Upsample, and Resize of operator set 10: the first element stays where it is."""
    array = array_of(x)
    if scales is not None:
        factors = [float(s) for s in host_array(scales)]
    elif "scales" in attributes:
        factors = list(attributes["scales"])
    else:
        factors = [1.0, 1.0, attributes["height_scale"], attributes["width_scale"]]
    asymmetric = Attributes(attributes)
    asymmetric.operator = attributes.operator
    asymmetric["coordinate_transformation_mode"] = "asymmetric"
    asymmetric["nearest_mode"] = "floor"
    found = [
        _Axis(i, n, int(numpy.floor(n * s)), s, 0.0, 1.0)
        for i, (n, s) in enumerate(zip(array.shape, factors, strict=True))
    ]
    return _resized(asymmetric, x, found)


def _resized(attributes: Attributes, x: Tensor, axes: list[_Axis]) -> Tensor:
    shape = list(array_of(x).shape)
    for axis in axes:
        shape[axis.axis] = axis.target
    check_shape(attributes.operator, shape)
    mode = attributes.get("mode", "nearest")
    if mode == "nearest":
        return _nearest(attributes, x, axes)
    weigh = {"linear": _linear, "bilinear": _linear, "cubic": _cubic}.get(mode)
    if weigh is None:
        attributes.refuse("mode")
    dtype = array_of(x).dtype
    outside = numpy.zeros((1,) * array_of(x).ndim, bool)
    for axis in axes:
        if axis.target == axis.length and axis.scale == 1 and (axis.start, axis.end) == (0, 1):
            continue
        at = _coordinates(attributes, axis)
        matrix = _matrix(attributes, axis, at, weigh)
        if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
            beyond = (at < 0) | (at > axis.length - 1)
            outside = outside | _along(beyond, axis.axis, array_of(x).ndim)
        weights = on_device_of(x, matrix.astype(dtype if is_float(x) else "d"))
        x = _multiplied(x, weights, axis.axis, dtype)
    return _extrapolated(attributes, x, outside)


def _multiplied(x: Tensor, weights: Array, axis: int, dtype: DTypeLike) -> Tensor:
    if is_float(x):
        return F.moveaxis(F.tensordot(x, weights, axes=([axis], [1])), -1, axis)
    y = numpy.moveaxis(numpy.tensordot(host_array(x), weights, axes=([axis], [1])), -1, axis)
    # Pixels of 8 bits: the reference rounds towards zero.
    return on_device_of(x, y.astype(dtype))


def _extrapolated(attributes: Attributes, x: Array, outside: Any) -> Tensor:
    if not outside.any():
        return x
    array = array_of(x)
    mask = on_device_of(x, numpy.broadcast_to(outside, array.shape))
    value = attributes.get("extrapolation_value", 0.0)
    fill = on_device_of(x, numpy.full(array.shape, value, array.dtype))
    return F.where(mask, fill, x)


def _along(values: Any, axis: int, ndim: int) -> Any:
    return values.reshape([-1 if i == axis else 1 for i in range(ndim)])


def _nearest(attributes: Attributes, x: Tensor, axes: list[_Axis]) -> Tensor:
    how = attributes.get("nearest_mode", "round_prefer_floor")
    round_to = {
        "round_prefer_floor": lambda at: numpy.ceil(at - 0.5),
        "round_prefer_ceil": lambda at: numpy.floor(at + 0.5),
        "floor": numpy.floor,
        "ceil": numpy.ceil,
    }.get(how)
    if round_to is None:
        attributes.refuse("nearest_mode")
    ndim = array_of(x).ndim
    outside = numpy.zeros((1,) * ndim, bool)
    for axis in axes:
        at = _coordinates(attributes, axis)
        if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
            outside = outside | _along((at < 0) | (at > axis.length - 1), axis.axis, ndim)
        # 1e-9: (i + 0.5) / scale - 0.5 is meant to be an integer or a half, up to rounding.
        places = numpy.clip(round_to(numpy.round(at, 9)), 0, axis.length - 1).astype(int)
        if axis.target == axis.length and (places == numpy.arange(axis.length)).all():
            continue
        index = (*[slice(None)] * axis.axis, places)
        x = F.get_item(x, index) if is_float(x) else array_of(x)[index]
    return _extrapolated(attributes, x, outside)


def _coordinates(attributes: Attributes, axis: _Axis) -> Any:
    """Returns where in the input the elements of the output are."""
    mode = attributes.get("coordinate_transformation_mode", "half_pixel")
    i = numpy.arange(axis.target, dtype="d")
    n, scale = axis.length, axis.scale
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and axis.target > 1):
        return (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return numpy.zeros(axis.target)
    if mode == "half_pixel_symmetric":
        # The centers of input and output are at one place, also if the length was rounded.
        offset = n / 2 * (1 - axis.target / (scale * n))
        return offset + (i + 0.5) / scale - 0.5
    if mode == "align_corners":
        exact = scale * n
        return i * (n - 1) / (exact - 1) if exact != 1 else i * 0
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if mode == "tf_crop_and_resize":
        first, last = axis.start * (n - 1), axis.end * (n - 1)
        if axis.target > 1:
            return first + i * (last - first) / (axis.target - 1)
        return i * 0 + 0.5 * (first + last)
    attributes.refuse("coordinate_transformation_mode")


def _matrix(
    attributes: Attributes, axis: _Axis, at: Any, weigh: Callable[..., tuple[Any, float]]
) -> Any:
    """Returns the matrix that resizes an axis.

    Args:
        attributes: Attributes of the node.
        axis: The axis.
        at: Where in the input the elements of the output are.
        weigh: Filter: weights of distances, and half of its width.
    """
    # Antialiasing widens the filter where the image shrinks.
    stretch = min(axis.scale, 1.0) if attributes.get("antialias", 0) else 1.0
    _, half = weigh(attributes, at[:0])
    reach = int(numpy.ceil(half / stretch)) + 1
    low = numpy.floor(at).astype(int)
    check_shape(attributes.operator, (axis.target, axis.length))
    matrix = numpy.zeros((axis.target, axis.length))
    rows = numpy.arange(axis.target)
    for k in range(-reach, reach + 1):
        index = low + k
        weights, _ = weigh(attributes, (index - at) * stretch)
        if attributes.get("exclude_outside", 0):
            weights = numpy.where((index >= 0) & (index < axis.length), weights, 0)
        # Elements outside of the input are copies of its ends.
        numpy.add.at(matrix, (rows, numpy.clip(index, 0, axis.length - 1)), weights)
    # The weights of a filter that was widened or cut do not add up to one.
    if stretch != 1 or attributes.get("exclude_outside", 0):
        matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix


def _linear(attributes: Attributes, distances: Array) -> tuple[Any, float]:
    return numpy.clip(1 - numpy.abs(distances), 0, None), 1.0


def _cubic(attributes: Attributes, distances: Array) -> tuple[Any, float]:
    """The cubic convolution kernel of R. Keys, 1981."""
    a = attributes.get("cubic_coeff_a", -0.75)
    d = numpy.abs(distances)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return numpy.where(d <= 1, near, numpy.where(d < 2, far, 0)), 2.0


OPERATORS: dict[str, Callable[..., Any]] = {"Resize": _resize, "Upsample": _upsample}
