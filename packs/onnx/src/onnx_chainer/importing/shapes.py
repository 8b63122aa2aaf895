"""Operators that move elements, change shapes and reduce axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.values import array_of, axes_of, ints_of, number_of
from onnx_chainer.tensors import as_numpy


def _reshape(attributes: Any, x: Any, shape: Any = None) -> Any:
    lengths = ints_of(shape) if shape is not None else list(attributes["shape"])
    if not attributes.get("allowzero", 0):
        lengths = [x.shape[i] if n == 0 else n for i, n in enumerate(lengths)]
    return F.reshape(x, tuple(lengths))


def _transpose(attributes: Any, x: Any) -> Any:
    return F.transpose(x, attributes.get("perm"))


def _squeeze(attributes: Any, x: Any, axes: Any = None) -> Any:
    found = axes_of(attributes, axes)
    return F.squeeze(x, found)


def _unsqueeze(attributes: Any, x: Any, axes: Any = None) -> Any:
    found = axes_of(attributes, axes) or ()
    ndim = array_of(x).ndim + len(found)
    for axis in sorted([a % ndim for a in found]):
        x = F.expand_dims(x, axis)
    return x


def _concat(attributes: Any, *xs: Any) -> Any:
    return F.concat(xs, axis=attributes["axis"])


def _split(attributes: Any, x: Any, sizes: Any = None) -> Any:
    axis = attributes.get("axis", 0)
    lengths = ints_of(sizes) if sizes is not None else attributes.get("split")
    if lengths is None:
        n = x.shape[axis]
        part = -(-n // attributes.outputs)
        lengths = [min(part, n - i * part) for i in range(attributes.outputs)]
    if len(lengths) == 1:
        return (x,)
    places = numpy.cumsum(lengths)[:-1].tolist()
    return cast("tuple[Any, ...]", F.split_axis(x, places, axis))


def _slice(attributes: Any, x: Any, *bounds: Any) -> Any:
    if bounds:
        starts, ends = ints_of(bounds[0]), ints_of(bounds[1])
        axes = ints_of(bounds[2]) if len(bounds) > 2 and bounds[2] is not None else None
        steps = ints_of(bounds[3]) if len(bounds) > 3 and bounds[3] is not None else None
    else:
        starts, ends = attributes["starts"], attributes["ends"]
        axes, steps = attributes.get("axes"), None
    index = [slice(None)] * array_of(x).ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis = i if axes is None else axes[i]
        step = 1 if steps is None else steps[i]
        n = x.shape[axis]
        if step < 0:
            # Python has no number for a bound before the first element.
            first = min(start if start >= 0 else start + n, n - 1)
            stop = end if end >= 0 else end + n
            index[axis] = slice(first, None if stop < 0 else stop, step)
        else:
            index[axis] = slice(start, end, step)
    return F.get_item(x, tuple(index))


def _gather(attributes: Any, x: Any, indices: Any) -> Any:
    axis = attributes.get("axis", 0) % array_of(x).ndim
    index = as_numpy(array_of(indices))
    if _is_lookup(x, index, axis):
        # Unlike indexes of get_item these are an input of a function, so that a further export
        # follows what they are computed from.
        return F.embed_id(indices, x)
    # An array of no axes removes the axis, as an integer does.
    item = int(index) if index.ndim == 0 else index
    return F.get_item(x, (*[slice(None)] * axis, item))


def _is_lookup(x: Any, index: Any, axis: int) -> bool:
    """Returns whether rows of a matrix are looked up, as embeddings are."""
    array = array_of(x)
    return (
        (axis, array.ndim, array.dtype.kind) == (0, 2, "f")
        and index.ndim > 0
        and index.size > 0
        and index.min() >= 0
    )


def _gather_elements(attributes: Any, x: Any, indices: Any) -> Any:
    axis = attributes.get("axis", 0) % array_of(x).ndim
    index = as_numpy(array_of(indices)).astype(numpy.int64)
    grid = list(numpy.indices(index.shape))
    grid[axis] = index
    return F.get_item(x, tuple(grid))


def _dft(attributes: Any, x: Any, length: Any = None, axis: Any = None) -> Any:
    """Fourier transform of numbers whose parts are the last axis."""
    ndim = array_of(x).ndim
    place = (attributes.get("axis", 1) if axis is None else ints_of(axis)[0]) % ndim
    if length is not None or attributes.get("onesided", 0) or x.shape[-1] != 2:
        raise ValueError("DFT can be loaded for complex numbers, of the length of the input, only")
    last = F.moveaxis(x, place, -2)
    transform = F.ifft if attributes.get("inverse", 0) else F.fft
    y = F.stack(transform((last[..., 0], last[..., 1])), axis=-1)
    return F.moveaxis(y, -2, place)


def _expand(attributes: Any, x: Any, shape: Any) -> Any:
    target = numpy.broadcast_shapes(x.shape, tuple(ints_of(shape)))
    return F.broadcast_to(x, target)


def _tile(attributes: Any, x: Any, reps: Any) -> Any:
    return F.tile(x, tuple(ints_of(reps)))


def _pad(attributes: Any, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    widths = attributes["pads"] if pads is None else ints_of(pads)
    fill = attributes.get("value", number_of(value)) or 0
    count = len(widths) // 2
    places = range(count) if axes is None else [a % array_of(x).ndim for a in ints_of(axes)]
    pairs = [(0, 0)] * array_of(x).ndim
    for i, axis in enumerate(places):
        pairs[axis] = (widths[i], widths[count + i])
    return pad_axes(x, pairs, attributes.get("mode", "constant"), fill)


def pad_axes(x: Any, pairs: Any, mode: str = "constant", value: Any = 0) -> Any:
    """Pads axes; negative widths cut."""
    index = tuple(
        [slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape, strict=True)]
    )
    x = F.get_item(x, index)
    widths = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if not any([a or b for a, b in widths]):
        return x
    keywords = {"constant_values": value} if mode == "constant" else {}
    return F.pad(x, widths, mode, **keywords)


def _shape(attributes: Any, x: Any) -> Any:
    shape = list(x.shape)[attributes.get("start", 0) : attributes.get("end")]
    return numpy.array(shape, numpy.int64)


def _constant(attributes: Any) -> Any:
    for name, dtype in (("value_float", "f"), ("value_floats", "f"), ("value_int", "q")):
        if name in attributes:
            return numpy.array(attributes[name], dtype)
    if "value_ints" in attributes:
        return numpy.array(attributes["value_ints"], numpy.int64)
    return numpy.array(attributes["value"])


def _constant_of_shape(attributes: Any, shape: Any) -> Any:
    value = numpy.asarray(attributes.get("value", numpy.zeros(1, numpy.float32)))
    return numpy.full(ints_of(shape), value.ravel()[0], value.dtype)


def _flatten(attributes: Any, x: Any) -> Any:
    axis = attributes.get("axis", 1)
    axis = axis if axis >= 0 else axis + array_of(x).ndim
    rows = int(numpy.prod(x.shape[:axis]))
    return F.reshape(x, (rows, int(numpy.prod(x.shape[axis:]))))


def _reduction(function: Callable[..., Any], array_name: str | None = None) -> Callable[..., Any]:
    def compute(attributes: Any, x: Any, axes: Any = None) -> Any:
        found = axes_of(attributes, axes)
        if found == () or (found is None and attributes.get("noop_with_empty_axes", 0)):
            if attributes.get("noop_with_empty_axes", 0):
                return x
            found = None
        keepdims = bool(attributes.get("keepdims", 1))
        if array_of(x).dtype.kind != "f" and array_name is not None:
            y = getattr(get_array_module(array_of(x)), array_name)
            return numpy.asarray(y(array_of(x), axis=found, keepdims=keepdims)).astype(
                array_of(x).dtype
            )
        if found is None:
            found = tuple(range(array_of(x).ndim))
        return function(x, found, keepdims)

    return compute


def _log_sum_exp(x: Any, axes: Any, keepdims: bool) -> Any:
    y = F.logsumexp(x, axes)
    if keepdims:
        for axis in sorted([a % array_of(x).ndim for a in axes]):
            y = F.expand_dims(y, axis)
    return y


def _index_of(name: str) -> Callable[..., Any]:
    def compute(attributes: Any, x: Any) -> Any:
        array = array_of(x)
        axis = attributes.get("axis", 0)
        index = getattr(get_array_module(array), name)(array, axis=axis).astype(numpy.int64)
        return numpy.expand_dims(index, axis) if attributes.get("keepdims", 1) else index

    return compute


def _one_hot(attributes: Any, indices: Any, depth: Any, values: Any) -> Any:
    depth = int(number_of(depth))
    index = as_numpy(array_of(indices)).astype(numpy.int64)
    off, on = as_numpy(array_of(values))
    rows = (index % depth)[..., None] == numpy.arange(depth)
    result = numpy.where(rows, on, off).astype(array_of(values).dtype)
    return numpy.moveaxis(result, -1, attributes.get("axis", -1))


def _trilu(attributes: Any, x: Any, k: Any = None) -> Any:
    name = "triu" if attributes.get("upper", 1) else "tril"
    mask = getattr(numpy, name)(numpy.ones(x.shape[-2:], bool), int(number_of(k) or 0))
    return x * mask.astype(array_of(x).dtype)


def _cumsum(attributes: Any, x: Any, axis: Any) -> Any:
    if attributes.get("exclusive", 0) or attributes.get("reverse", 0):
        raise ValueError("CumSum with exclusive or reverse cannot be loaded")
    return F.cumsum(x, int(number_of(axis)))


def _depth_to_space(attributes: Any, x: Any) -> Any:
    r = attributes["blocksize"]
    if attributes.get("mode", "DCR") == "DCR":
        return F.depth2space(x, r)
    n, c, h, w = x.shape
    y = F.transpose(F.reshape(x, (n, c // r**2, r, r, h, w)), (0, 1, 4, 2, 5, 3))
    return F.reshape(y, (n, c // r**2, h * r, w * r))


def _space_to_depth(attributes: Any, x: Any) -> Any:
    return F.space2depth(x, attributes["blocksize"])


OPERATORS: dict[str, Callable[..., Any]] = {
    "ArgMax": _index_of("argmax"),
    "ArgMin": _index_of("argmin"),
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cumsum,
    "DFT": _dft,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "OneHot": _one_hot,
    "Pad": _pad,
    "ReduceL2": _reduction(lambda x, axes, keep: F.sqrt(F.sum(x * x, axes, keep))),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ReduceMax": _reduction(lambda x, axes, keep: F.max(x, axes, keep), "max"),
    "ReduceMean": _reduction(lambda x, axes, keep: F.average(x, axes, keepdims=keep), "mean"),
    "ReduceMin": _reduction(lambda x, axes, keep: F.min(x, axes, keep), "min"),
    "ReduceProd": _reduction(lambda x, axes, keep: F.prod(x, axes, keep), "prod"),
    "ReduceSum": _reduction(lambda x, axes, keep: F.sum(x, axes, keep), "sum"),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
