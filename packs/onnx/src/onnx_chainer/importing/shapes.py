"""Operators that move elements and change shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import (
    Tensor,
    array_of,
    host_array,
    ints_of,
    is_float,
    is_tracked,
    ndim_of,
    number_of,
)

if TYPE_CHECKING:
    from chainer.typing import Array


def _reshape(attributes: Attributes, x: Tensor, shape: Tensor | None = None) -> Tensor:
    lengths = ints_of(shape) if shape is not None else list(attributes["shape"])
    if not attributes.get("allowzero", 0):
        lengths = [array_of(x).shape[i] if n == 0 else n for i, n in enumerate(lengths)]
    return _reshaped(x, lengths)


def _reshaped(x: Tensor, lengths: Sequence[int]) -> Tensor:
    if not is_tracked(x):
        return array_of(x).reshape(tuple(lengths))
    return F.reshape(x, tuple(lengths))


def _transpose(attributes: Attributes, x: Tensor) -> Tensor:
    if not is_tracked(x):
        return array_of(x).transpose(attributes.get("perm"))
    return F.transpose(x, attributes.get("perm"))


def _squeeze(attributes: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    found = attributes.axes(axes)
    if not is_tracked(x):
        return get_array_module(array_of(x)).squeeze(array_of(x), found)
    return F.squeeze(x, found)


def _unsqueeze(attributes: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    found = attributes.axes(axes) or ()
    shape = list(array_of(x).shape)
    ndim = len(shape) + len(found)
    for axis in sorted([a % ndim for a in found]):
        shape.insert(axis, 1)
    return _reshaped(x, shape)


def _concat(attributes: Attributes, *xs: Tensor) -> Tensor:
    # Operator set 1 had the second axis as its default.
    axis = attributes.get("axis", 1)
    if not is_tracked(*xs):
        arrays = [array_of(x) for x in xs]
        return get_array_module(arrays[0]).concatenate(arrays, axis)
    return F.concat(xs, axis=axis)


def _split(attributes: Attributes, x: Tensor, sizes: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = attributes.get("axis", 0)
    lengths = ints_of(sizes) if sizes is not None else attributes.get("split")
    if lengths is None:
        n = array_of(x).shape[axis]
        count = attributes.get("num_outputs", attributes.outputs)
        part = -(-n // count)
        # The number may be larger than the number of outputs, those at the end being left out.
        lengths = [max(min(part, n - i * part), 0) for i in range(min(count, attributes.outputs))]
        if sum(lengths) < n:
            lengths.append(n - sum(lengths))
    if len(lengths) == 1:
        return (x,)
    places = numpy.cumsum(lengths)[:-1].tolist()
    if not is_tracked(x):
        return tuple(get_array_module(array_of(x)).split(array_of(x), places, axis))
    return cast("tuple[Any, ...]", F.split_axis(x, places, axis))


def _slice(attributes: Attributes, x: Tensor, *bounds: Tensor) -> Tensor:
    if bounds:
        starts, ends = ints_of(bounds[0]), ints_of(bounds[1])
        axes = ints_of(bounds[2]) if len(bounds) > 2 and bounds[2] is not None else None
        steps = ints_of(bounds[3]) if len(bounds) > 3 and bounds[3] is not None else None
    else:
        starts, ends = attributes["starts"], attributes["ends"]
        axes, steps = attributes.get("axes"), None
    array = array_of(x)
    index = [slice(None)] * array.ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis = i if axes is None else axes[i]
        step = 1 if steps is None else steps[i]
        n = array.shape[axis]
        if step < 0:
            # Python has no number for a bound before the first element.
            first = min(start if start >= 0 else start + n, n - 1)
            stop = end if end >= 0 else end + n
            index[axis] = slice(first, None if stop < 0 else stop, step)
        else:
            index[axis] = slice(start, end, step)
    return F.get_item(x, tuple(index)) if is_tracked(x) else array[tuple(index)]


def _expand(attributes: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    target = numpy.broadcast_shapes(array_of(x).shape, tuple(ints_of(shape)))
    check_shape("Expand", target)
    if not is_tracked(x):
        return get_array_module(array_of(x)).broadcast_to(array_of(x), target)
    return F.broadcast_to(x, target)


def _tile(attributes: Attributes, x: Tensor, reps: Tensor, axis: Tensor | None = None) -> Tensor:
    if attributes.opset < 6:
        # The first operator set repeated one axis.
        counts = [1] * ndim_of(x)
        counts[int(number_of(axis))] = int(number_of(reps))
    else:
        counts = ints_of(reps)
    check_shape("Tile", (array_of(x).size, *counts))
    if not is_tracked(x):
        return get_array_module(array_of(x)).tile(array_of(x), counts)
    return F.tile(x, tuple(counts))


@constants(2)
def _pad(
    attributes: Attributes,
    x: Tensor,
    pads: Tensor | None = None,
    value: Tensor | None = None,
    axes: Tensor | None = None,
) -> Tensor:
    # The first operator set had another name for the attribute.
    name = "paddings" if attributes.opset < 2 else "pads"
    widths = attributes[name] if pads is None else ints_of(pads)
    fill = (attributes.get("value") if value is None else number_of(value)) or 0
    count = len(widths) // 2
    ndim = ndim_of(x)
    places = range(count) if axes is None else [a % ndim for a in ints_of(axes)]
    pairs = [(0, 0)] * ndim
    for i, axis in enumerate(places):
        pairs[axis] = (widths[i], widths[count + i])
    return pad_axes(x, pairs, attributes.get("mode", "constant"), fill)


def pad_axes(
    x: Tensor, pairs: Sequence[tuple[int, int]], mode: str = "constant", value: Array = 0
) -> Tensor:
    """Pads axes; negative widths cut.

    Args:
        x: A tensor.
        pairs: Widths in front of and behind each axis.
        mode: ``'constant'``, ``'edge'``, ``'reflect'`` or ``'wrap'``.
        value: The constant.
    """
    array = array_of(x)
    index = tuple(
        [slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, array.shape, strict=True)]
    )
    if any([a < 0 or b < 0 for a, b in pairs]):
        x = F.get_item(x, index) if is_tracked(x) else array[index]
    widths = [(max(a, 0), max(b, 0)) for a, b in pairs]
    check_shape("Pad", [n + a + b for n, (a, b) in zip(array_of(x).shape, widths, strict=True)])
    if not any([a or b for a, b in widths]):
        return x
    keywords = {"constant_values": value} if mode == "constant" else {}
    if not is_float(x):
        return get_array_module(array_of(x)).pad(array_of(x), widths, mode, **keywords)
    return F.pad(x, widths, mode, **keywords)


def _shape(attributes: Attributes, x: Tensor) -> Tensor:
    shape = list(array_of(x).shape)[attributes.get("start", 0) : attributes.get("end")]
    return numpy.array(shape, numpy.int64)


def _size(attributes: Attributes, x: Tensor) -> Tensor:
    return numpy.array(array_of(x).size, numpy.int64)


def _constant(attributes: Attributes) -> Tensor:
    for name, dtype in (("value_float", "f"), ("value_floats", "f"), ("value_int", "q")):
        if name in attributes:
            return numpy.array(attributes[name], dtype)
    if "value_ints" in attributes:
        return numpy.array(attributes["value_ints"], numpy.int64)
    for name in ("value_string", "value_strings"):
        if name in attributes:
            return numpy.array(attributes[name], object)
    if "sparse_value" in attributes:
        return attributes["sparse_value"]
    return numpy.array(attributes["value"])


def _constant_of_shape(attributes: Attributes, shape: Tensor) -> Tensor:
    value = numpy.asarray(attributes.get("value", numpy.zeros(1, numpy.float32)))
    check_shape("ConstantOfShape", ints_of(shape))
    return numpy.full(ints_of(shape), value.ravel()[0], value.dtype)


@constants()
def _range(attributes: Attributes, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    first, last, step = number_of(start), number_of(limit), number_of(delta)
    dtype = array_of(start).dtype
    # As ONNX defines it: NumPy's arange rounds the number of elements in another way.
    count = max(int(numpy.ceil((last - first) / step)), 0)
    check_shape("Range", (count,))
    if dtype.kind in "iu":
        return (first + numpy.arange(count, dtype=numpy.int64) * step).astype(dtype)
    return (first + numpy.arange(count) * step).astype(dtype)


def _flatten(attributes: Attributes, x: Tensor) -> Tensor:
    shape = array_of(x).shape
    axis = attributes.get("axis", 1)
    axis = axis if axis >= 0 else axis + len(shape)
    rows = int(numpy.prod(shape[:axis]))
    return _reshaped(x, (rows, int(numpy.prod(shape[axis:]))))


def _trilu(attributes: Attributes, x: Tensor, k: Tensor | None = None) -> Tensor:
    name = "triu" if attributes.get("upper", 1) else "tril"
    array = array_of(x)
    xp = get_array_module(array)
    mask = getattr(xp, name)(xp.ones(array.shape[-2:], bool), int(number_of(k) or 0))
    if not is_float(x):
        return array * mask.astype(array.dtype)
    mask = xp.broadcast_to(mask, array.shape)
    # A selection, not a product: infinite elements outside of the triangle become zero.
    return F.where(mask, x, xp.zeros_like(array))


def _depth_to_space(attributes: Attributes, x: Tensor) -> Tensor:
    r = attributes["blocksize"]
    n, c, h, w = array_of(x).shape
    if attributes.get("mode", "DCR") == "DCR":
        y = _transposed(_reshaped(x, (n, r, r, c // r**2, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        y = _transposed(_reshaped(x, (n, c // r**2, r, r, h, w)), (0, 1, 4, 2, 5, 3))
    return _reshaped(y, (n, c // r**2, h * r, w * r))


def _space_to_depth(attributes: Attributes, x: Tensor) -> Tensor:
    r = attributes["blocksize"]
    n, c, h, w = array_of(x).shape
    y = _reshaped(x, (n, c, h // r, r, w // r, r))
    order = (0, 3, 5, 1, 2, 4) if attributes.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    return _reshaped(_transposed(y, order), (n, c * r * r, h // r, w // r))


def _transposed(x: Tensor, order: tuple[int, ...]) -> Tensor:
    return F.transpose(x, order) if is_tracked(x) else array_of(x).transpose(order)


def _reverse_sequence(attributes: Attributes, x: Tensor, lengths: Tensor) -> Tensor:
    """Reverses the first elements of each sequence of a batch."""
    time, batch = attributes.get("time_axis", 0), attributes.get("batch_axis", 1)
    array = array_of(x)
    steps = array.shape[time]
    counts = host_array(lengths).astype(numpy.int64)
    order = numpy.tile(numpy.arange(steps), (len(counts), 1))
    for row, count in enumerate(counts):
        order[row, :count] = order[row, :count][::-1]
    places = order.T if time < batch else order
    index: list[Any] = [slice(None)] * array.ndim
    rows = numpy.arange(len(counts))
    index[time] = places
    index[batch] = rows[None, :] if time < batch else rows[:, None]
    return F.get_item(x, tuple(index)) if is_tracked(x) else array[tuple(index)]


def _center_crop_pad(attributes: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    array = array_of(x)
    axes = [a % array.ndim for a in attributes.get("axes", range(array.ndim))]
    pairs = [(0, 0)] * array.ndim
    for axis, length in zip(axes, ints_of(shape), strict=True):
        n = array.shape[axis]
        before = (length - n) // 2 if length >= n else -((n - length) // 2)
        pairs[axis] = (before, length - n - before)
    return pad_axes(x, pairs)


OPERATORS: dict[str, Callable[..., Any]] = {
    "CenterCropPad": _center_crop_pad,
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
