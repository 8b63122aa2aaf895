"""Functions that arrange elements anew. They return views where the library does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array
from chainer_array_api.functions import moves, operands
from chainer_array_api.functions.operands import Backend, axes_of, axis_of, deliver, shape_of

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


def reshape(b: Backend, a: ArrayLike, shape: Any, order: str = "C", *, copy: Any = None) -> Array:
    """As :func:`numpy.reshape`."""
    x = operands.array(b, a)
    shape = shape_of(shape)
    if -1 in shape:
        known = -math.prod(shape)
        if shape.count(-1) > 1 or known <= 0 or x.size % known:
            raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
        shape = tuple(x.size // known if n == -1 else n for n in shape)
    if math.prod(shape) != x.size:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    # Fortran's order of an array is C's order of its transpose.
    if order == "F":
        return reshape(b, x.T, shape[::-1]).T
    result = b.reshaped(x, shape)
    return result.copy() if copy else result


def ravel(b: Backend, a: ArrayLike, order: str = "C") -> Array:
    """As :func:`numpy.ravel`."""
    return reshape(b, a, -1, order)


def transpose(b: Backend, a: ArrayLike, axes: Any = None) -> Array:
    """As :func:`numpy.transpose`."""
    x = operands.array(b, a)
    ndim = x.ndim
    if axes is None:
        axes = range(ndim - 1, -1, -1)
    elif len(axes) != ndim:
        raise ValueError(f"axes don't match array: {tuple(axes)} for an array with {ndim} axes")
    elif len(set(axes := axes_of(axes, ndim))) != ndim:
        raise ValueError(f"repeated axis in transpose: {tuple(axes)}")
    return b.permuted(x, tuple(axes))


permute_dims = transpose


def swapaxes(b: Backend, a: ArrayLike, axis1: int, axis2: int) -> Array:
    """As :func:`numpy.swapaxes`."""
    x = operands.array(b, a)
    axes = list(range(x.ndim))
    i, j = axis_of(axis1, x.ndim), axis_of(axis2, x.ndim)
    axes[i], axes[j] = j, i
    return transpose(b, x, axes)


def moveaxis(b: Backend, a: ArrayLike, source: Any, destination: Any) -> Array:
    """As :func:`numpy.moveaxis`."""
    x = operands.array(b, a)
    source, destination = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    axes = [i for i in range(x.ndim) if i not in source]
    # The smallest destination first: each insertion then finds the axes before it in place.
    for place, axis in sorted(zip(destination, source, strict=True)):
        axes.insert(place, axis)
    return transpose(b, x, axes)


def rollaxis(b: Backend, a: ArrayLike, axis: int, start: int = 0) -> Array:
    """As :func:`numpy.rollaxis`."""
    x = operands.array(b, a)
    axis = axis_of(axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    axes = [i for i in range(x.ndim) if i != axis]
    # start counts in the array that still has the axis.
    axes.insert(start - (axis < start), axis)
    return transpose(b, x, axes)


def matrix_transpose(b: Backend, x: ArrayLike) -> Array:
    """As :func:`numpy.matrix_transpose`."""
    return swapaxes(b, x, -1, -2)


def expand_dims(b: Backend, a: ArrayLike, axis: Any) -> Array:
    """As :func:`numpy.expand_dims`."""
    x = operands.array(b, a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = set(axes_of(axis, x.ndim + count))
    lengths = iter(x.shape)
    return reshape_view(b, x, [1 if i in new else next(lengths) for i in range(x.ndim + count)])


def reshape_view(b: Backend, x: Array, shape: Sequence[int]) -> Array:
    """Returns an array with axes of length 1 added or left out; always a view.

    Args:
        b: The backend.
        x: The array.
        shape: The new shape.
    """
    return b.reshaped(x, tuple(shape))


def squeeze(b: Backend, a: ArrayLike, axis: Any = None) -> Array:
    """As :func:`numpy.squeeze`."""
    x = operands.array(b, a)
    if axis is None:
        axes: Any = [i for i, n in enumerate(x.shape) if n == 1]
    else:
        axes = axes_of(axis, x.ndim)
        if any(x.shape[i] != 1 for i in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape_view(b, x, [n for i, n in enumerate(x.shape) if i not in axes])


def flip(b: Backend, m: ArrayLike, axis: Any = None) -> Array:
    """As :func:`numpy.flip`; a copy where the library knows no steps backwards."""
    x = operands.array(b, m)
    return b.array_class(b.moved(moves.flip, (x.native,), (axes_of(axis, x.ndim),)))


def fliplr(b: Backend, m: ArrayLike) -> Array:
    """As :func:`numpy.fliplr`."""
    return flip(b, m, 1)


def flipud(b: Backend, m: ArrayLike) -> Array:
    """As :func:`numpy.flipud`."""
    return flip(b, m, 0)


def roll(b: Backend, a: ArrayLike, shift: Any, axis: Any = None) -> Array:
    """As :func:`numpy.roll`."""
    return b.array_class(b.nx.roll(operands.array(b, a).native, shift, axis=axis))


def repeat(b: Backend, a: ArrayLike, repeats: Any, axis: int | None = None) -> Array:
    """As :func:`numpy.repeat`."""
    x = operands.array(b, a)
    if axis is None:
        x, axis = ravel(b, x), 0
    if isinstance(repeats, (list, tuple)) and len(repeats) == 1:
        (repeats,) = repeats
    if not isinstance(repeats, (int, numpy.integer)):
        counts = operands.array(b, repeats)
        source = operands.astype(b, b.xp.arange(x.shape[axis]), numpy.int64, copy=False)
        counts = operands.astype(b, counts, numpy.int64, copy=False)
        positions = b.array_class(b.nx.repeat(source.native, counts.native))
        return b.xp.take(x, positions, axis)
    parameters = int(repeats), axis_of(axis, x.ndim)
    return b.array_class(b.moved(moves.repeat, (x.native,), parameters))


def tile(b: Backend, A: ArrayLike, reps: Any) -> Array:
    """As :func:`numpy.tile`."""
    return b.array_class(b.moved(moves.tile, (operands.array(b, A).native,), (shape_of(reps),)))


def broadcast_to(b: Backend, array: ArrayLike, shape: Any, subok: bool = False) -> Array:
    """As :func:`numpy.broadcast_to`."""
    x = operands.array(b, array)
    shape = shape_of(shape)
    if numpy.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"cannot broadcast an array of shape {x.shape} to {shape}")
    return b.array_class(b.moved(moves.broadcast, (x.native,), (shape,)))


def broadcast_arrays(b: Backend, *args: ArrayLike, subok: bool = False) -> tuple[Array, ...]:
    """As :func:`numpy.broadcast_arrays`."""
    arrays = [operands.array(b, a) for a in args]
    shape = numpy.broadcast_shapes(*[x.shape for x in arrays])
    return tuple(broadcast_to(b, x, shape) for x in arrays)


def concatenate(
    b: Backend,
    arrays: ArrayLike,
    axis: int | None = 0,
    out: ArrayLike = None,
    dtype: DTypeLike = None,
):
    """As :func:`numpy.concatenate`."""
    arrays = [operands.array(b, a) for a in arrays]
    if axis is None:
        arrays, axis = [ravel(b, x) for x in arrays], 0
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    axis = axis_of(axis, arrays[0].ndim)
    shapes = {(*x.shape[:axis], *x.shape[axis + 1 :]) for x in arrays}
    if len(shapes) > 1 or len({x.ndim for x in arrays}) > 1:
        raise ValueError(f"arrays do not fit along axis {axis}: {[x.shape for x in arrays]}")
    if dtype is None:
        natives = operands.together(b, arrays)
    else:
        natives = [operands.cast(b, x, numpy.dtype(dtype)) for x in arrays]
    return deliver(b, b.moved(moves.join, tuple(natives), (axis,)), out, "concatenate")


concat = concatenate


def stack(
    b: Backend, arrays: ArrayLike, axis: int = 0, out: ArrayLike = None, **kwargs: Any
) -> Array:
    """As :func:`numpy.stack`."""
    arrays = [operands.array(b, a) for a in arrays]
    if len({x.shape for x in arrays}) != 1:
        raise ValueError("all input arrays must have the same shape, and there must be one")
    return concatenate(b, [expand_dims(b, x, axis) for x in arrays], axis, out, **kwargs)


def atleast_1d(b: Backend, *arys: ArrayLike) -> Any:
    """As :func:`numpy.atleast_1d`."""
    return _at_least(b, arys, lambda shape: shape or (1,))


def atleast_2d(b: Backend, *arys: ArrayLike) -> Any:
    """As :func:`numpy.atleast_2d`."""
    return _at_least(b, arys, lambda shape: (1,) * (2 - len(shape)) + shape)


def _at_least(b: Backend, arrays: ArrayLike, shape: Any) -> Any:
    results = [reshape_view(b, x := operands.array(b, a), shape(x.shape)) for a in arrays]
    return results[0] if len(results) == 1 else tuple(results)


def hstack(b: Backend, tup: Any) -> Array:
    """As :func:`numpy.hstack`."""
    arrays = [atleast_1d(b, a) for a in tup]
    return concatenate(b, arrays, 0 if arrays[0].ndim == 1 else 1)


def vstack(b: Backend, tup: Any) -> Array:
    """As :func:`numpy.vstack`."""
    return concatenate(b, [atleast_2d(b, a) for a in tup], 0)


def dstack(b: Backend, tup: Any) -> Array:
    """As :func:`numpy.dstack`."""
    arrays = [atleast_2d(b, a) for a in tup]
    return concatenate(b, [x if x.ndim > 2 else expand_dims(b, x, 2) for x in arrays], 2)


def column_stack(b: Backend, tup: Any) -> Array:
    """As :func:`numpy.column_stack`."""
    arrays = [operands.array(b, a) for a in tup]
    return concatenate(b, [x if x.ndim > 1 else reshape(b, x, (-1, 1)) for x in arrays], 1)


def array_split(b: Backend, ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """As :func:`numpy.array_split`."""
    x = operands.array(b, ary)
    axis = axis_of(axis, x.ndim)
    length = x.shape[axis]
    if isinstance(indices_or_sections, (int, numpy.integer)):
        count = int(indices_or_sections)
        size, more = divmod(length, count)
        ends = numpy.cumsum([size + 1] * more + [size] * (count - more)).tolist()[:-1]
    else:
        ends = [int(i) for i in indices_or_sections]
    before = (slice(None),) * axis
    starts = [0, *ends]
    return [x[(*before, slice(i, j))] for i, j in zip(starts, [*ends, None], strict=True)]


def split(b: Backend, ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """As :func:`numpy.split`."""
    x = operands.array(b, ary)
    if isinstance(indices_or_sections, (int, numpy.integer)):
        length = x.shape[axis_of(axis, x.ndim)]
        if length % indices_or_sections:
            raise ValueError(
                f"{length} rows cannot be split into {indices_or_sections} equal parts"
            )
    return array_split(b, x, indices_or_sections, axis)


def pad(
    b: Backend, array: ArrayLike, pad_width: Any, mode: Any = "constant", **kwargs: Any
) -> Array:
    """As :func:`numpy.pad`; NumPy itself serves the modes that compute with the elements."""
    x = operands.array(b, array)
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (x.ndim, 2)).tolist()
    if mode in ("edge", "reflect", "symmetric", "wrap") and not kwargs:
        for axis, width in enumerate(widths):
            if any(width):
                # NumPy pads the positions of one axis, and take() applies them: each mode is
                # NumPy's own.
                places = numpy.pad(numpy.arange(x.shape[axis]), width, mode)
                x = b.xp.take(x, b.xp.asarray(places), axis)
        return x
    if mode != "constant" or kwargs.keys() - {"constant_values"}:
        return b.xp.on_host("pad")(x, pad_width, mode, **kwargs)
    values = numpy.broadcast_to(numpy.asarray(kwargs.get("constant_values", 0)), (x.ndim, 2))
    shape = tuple(n + i + j for n, (i, j) in zip(x.shape, widths, strict=True))
    result = b.xp.full_like(x, values[0, 0].item() if x.ndim else 0, shape=shape)
    result[tuple(slice(i, i + n) for n, (i, _) in zip(x.shape, widths, strict=True))] = x
    if (values != values.flat[:1]).any():
        for axis, (first, last) in enumerate(values.tolist()):
            # The axes after this one are not padded yet, so to say.
            area: list[Any] = [slice(None)] * (axis + 1)
            area += [slice(w[0], w[0] + n) for w, n in zip(widths[axis + 1 :], x.shape[axis + 1 :])]
            area[axis] = slice(0, widths[axis][0])
            result[tuple(area)] = first
            area[axis] = slice(shape[axis] - widths[axis][1], None)
            result[tuple(area)] = last
    return result


def diagonal(b: Backend, a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """As :func:`numpy.diagonal`."""
    x = operands.array(b, a)
    if axis_of(axis1, x.ndim) == axis_of(axis2, x.ndim):
        raise ValueError("axis1 and axis2 cannot be the same")
    x = moveaxis(b, x, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = offset if offset >= 0 else -offset * columns
    flat = reshape(b, x, (*x.shape[:-2], rows * columns))
    # The diagonal is every (columns + 1)-th element of the flattened matrix; an empty one has no
    # last element to stop at.
    stop = start + (count - 1) * (columns + 1) + 1 if count else start
    return flat[..., start : stop : columns + 1]


def diag(b: Backend, v: ArrayLike, k: int = 0) -> Array:
    """As :func:`numpy.diag`."""
    x = operands.array(b, v)
    if x.ndim == 2:
        return diagonal(b, x, k)
    n = len(x) + abs(k)
    result = b.xp.zeros_like(x, shape=(n * n,))
    start = k if k >= 0 else -k * n
    if len(x):
        result[start : start + (len(x) - 1) * (n + 1) + 1 : n + 1] = x
    return reshape(b, result, (n, n))


def trace(b: Backend, a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, **kwargs: Any):
    """As :func:`numpy.trace`."""
    return b.xp.sum(diagonal(b, a, offset, axis1, axis2), axis=-1, **kwargs)
