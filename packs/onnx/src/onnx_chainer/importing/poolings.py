"""Poolings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.convolutions import Windows, padded, windows_of
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.values import Tensor, array_of, host_array, is_float

if TYPE_CHECKING:
    from chainer.typing import Array


def _output_lengths(
    attributes: Attributes, lengths: tuple[int, ...], ksize: list[int], windows: Windows
) -> list[int]:
    """Returns the lengths of the spatial axes of the output."""
    ceil = bool(attributes.get("ceil_mode", 0))
    found = []
    for n, k, s, d, before, behind in zip(lengths, ksize, *windows, strict=True):
        span = n + before + behind - (d * (k - 1) + 1)
        count = (-(-span // s) if ceil else span // s) + 1
        # A window that begins in the padding behind is left out.
        if ceil and (count - 1) * s >= n + before:
            count -= 1
        found.append(count)
    return found


def _columns(
    x: Tensor, ksize: list[int], windows: Windows, counts: list[int], value: float
) -> tuple[Any, list[Any]]:
    """Returns the elements of all windows, as one axis at the end, and their places in the input.

    Args:
        x: Input, of the shape (batch, channels, ...).
        ksize: Size of the windows.
        windows: Steps, distances and padding.
        counts: Lengths of the output.
        value: Tensor of elements outside of the input.
    """
    lengths = array_of(x).shape[2:]
    ndim = len(lengths)
    strides, dilations, before, _ = windows
    check_shape("pooling", (*array_of(x).shape[:2], *counts, *ksize))
    places = []
    for i in range(ndim):
        at = numpy.arange(counts[i])[:, None] * strides[i] + numpy.arange(ksize[i]) * dilations[i]
        shape = [1] * (2 * ndim)
        shape[i], shape[ndim + i] = at.shape
        places.append(at.reshape(shape))
    # Padding behind, up to the last element of the last window.
    behind = [
        max(int(p.max(initial=0)) + 1 - n - b, 0)
        for p, n, b in zip(places, lengths, before, strict=True)
    ]
    wide = padded(x, list(before), behind, value)
    found = F.get_item(wide, (slice(None), slice(None), *numpy.broadcast_arrays(*places)))
    inside = [p - b for p, b in zip(places, before, strict=True)]
    return F.reshape(found, (*found.shape[: 2 + ndim], -1)), inside


def _is_plain(attributes: Attributes, windows: Windows) -> bool:
    """Returns whether Chainer's pooling has this form: equal padding, no dilation, rounded down."""
    return (
        windows.before == windows.behind
        and all([d == 1 for d in windows.dilations])
        and not attributes.get("ceil_mode", 0)
    )


def _max_pool(attributes: Attributes, x: Tensor) -> Any:
    ksize = attributes["kernel_shape"]
    lengths = array_of(x).shape[2:]
    windows = windows_of(attributes, lengths, ksize)
    wants_indexes = attributes.outputs > 1
    if _is_plain(attributes, windows) and is_float(x) and not wants_indexes:
        return F.max_pooling_nd(
            x, tuple(ksize), tuple(windows.strides), tuple(windows.before), cover_all=False
        )
    counts = _output_lengths(attributes, lengths, ksize, windows)
    dtype = array_of(x).dtype
    if not is_float(x):
        # Integers of 8 bits are exact in float32.
        y = _max_pool(attributes, array_of(x).astype("f"))
        if wants_indexes:
            return y[0].array.astype(dtype), y[1]
        return y.array.astype(dtype)
    elements, places = _columns(x, ksize, windows, counts, -numpy.inf)
    y = F.max(elements, axis=-1)
    return (y, _flat_places(attributes, elements, places, lengths)) if wants_indexes else y


def _flat_places(
    attributes: Attributes, elements: Any, places: list[Any], lengths: tuple[int, ...]
) -> Any:
    """Returns where in the flattened input each maximum is."""
    ndim = len(lengths)
    best = host_array(elements).argmax(axis=-1)
    column_major = bool(attributes.get("storage_order", 0))
    order = list(range(ndim))
    # Axes from the one that runs fastest; column-major order swaps the spatial axes.
    order = order if column_major else order[::-1]
    flat: Any = 0
    step = 1
    for axis in order:
        flat = flat + numpy.broadcast_arrays(*places)[axis] * step
        step *= lengths[axis]
    flat = flat.reshape((*flat.shape[:ndim], -1))
    flat = numpy.broadcast_to(flat, elements.shape)
    chosen = numpy.take_along_axis(flat, best[..., None], -1)[..., 0]
    n, c = elements.shape[:2]
    images = numpy.arange(n * c).reshape((n, c) + (1,) * ndim) * step
    return (chosen + images).astype(numpy.int64)


def _average_pool(attributes: Attributes, x: Tensor) -> Tensor:
    ksize = attributes["kernel_shape"]
    lengths = array_of(x).shape[2:]
    windows = windows_of(attributes, lengths, ksize)
    counted = bool(attributes.get("count_include_pad", 0))
    if _is_plain(attributes, windows):
        return F.average_pooling_nd(
            x, tuple(ksize), tuple(windows.strides), tuple(windows.before),
            pad_value=0 if counted else None,
        )  # fmt: skip
    counts = _output_lengths(attributes, lengths, ksize, windows)
    elements, places = _columns(x, ksize, windows, counts, 0.0)
    number = _numbers_of_elements(places, lengths, windows, counted)
    total = F.sum(elements, axis=-1)
    xp = get_array_module(array_of(x))
    return total / xp.asarray(numpy.broadcast_to(number, total.shape).astype(total.dtype))


def _numbers_of_elements(
    places: list[Any], lengths: tuple[int, ...], windows: Windows, counted: bool
) -> Any:
    """Returns how many elements each window averages."""
    ndim = len(lengths)
    inside = True
    for place, n, before, behind in zip(
        places, lengths, windows.before, windows.behind, strict=True
    ):
        # Declared padding counts if asked for; what rounding up adds behind it never does.
        low, high = (-before, n + behind) if counted else (0, n)
        inside = inside & ((place >= low) & (place < high))
    found = numpy.asarray(inside)
    return found.reshape((*found.shape[:ndim], -1)).sum(axis=-1)


def _lp_pool(attributes: Attributes, x: Array) -> Tensor:
    ksize = attributes["kernel_shape"]
    lengths = array_of(x).shape[2:]
    windows = windows_of(attributes, lengths, ksize)
    counts = _output_lengths(attributes, lengths, ksize, windows)
    elements, _ = _columns(x, ksize, windows, counts, 0.0)
    return _norm(elements, attributes.get("p", 2), -1, False)


def _norm(x: Array, p: int, axis: Any, keepdims: bool) -> Any:
    if p == 1:
        return F.sum(F.absolute(x), axis=axis, keepdims=keepdims)
    if p == 2:
        return F.sqrt(F.sum(x * x, axis=axis, keepdims=keepdims))
    return F.sum(F.absolute(x) ** p, axis=axis, keepdims=keepdims) ** (1 / p)


def _global_lp_pool(attributes: Attributes, x: Array) -> Tensor:
    axes = tuple(range(2, array_of(x).ndim))
    return _norm(x, attributes.get("p", 2), axes, True)


def _global(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(attributes: Attributes, x: Tensor) -> Tensor:
        return function(x, axis=tuple(range(2, array_of(x).ndim)), keepdims=True)

    return compute


def _max_unpool(
    attributes: Attributes, x: Tensor, indexes: Tensor, output_shape: Tensor | None = None
) -> Tensor:
    array = array_of(x)
    ksize = attributes["kernel_shape"]
    windows = windows_of(attributes, array.shape[2:], ksize)
    lengths = [
        (n - 1) * s + k - before - behind
        for n, k, s, before, behind in zip(
            array.shape[2:], ksize, windows.strides, windows.before, windows.behind, strict=True
        )
    ]
    shape = (*array.shape[:2], *lengths)
    check_shape("MaxUnpool", shape)
    flat = host_array(indexes).astype(numpy.int64)
    xp = get_array_module(array)
    zeros = xp.zeros(int(numpy.prod(shape)), array.dtype)
    y = F.reshape(F.scatter_add(zeros, flat.reshape(-1), F.reshape(x, (-1,))), shape)
    if output_shape is None:
        return y
    # The indexes belong to the shorter output; a longer one has zeros behind.
    wanted = [int(n) for n in host_array(output_shape)]
    return padded(y, [0] * len(lengths), [w - n for w, n in zip(wanted[2:], lengths, strict=True)])


OPERATORS: dict[str, Callable[..., Any]] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global(F.average),
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global(F.max),
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
