"""Sums and products that NumPy computes slowly, by other calls of NumPy with the same bits.

``numpy.add.reduce`` takes 11 us to sum an array of shape (24, 24, 3) over its last axis. Adding the
three slices takes 3 us, and adds the same numbers in the same order. The product of a column and a
row takes 7 us by ``matmul`` and 3 us by ``multiply``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy

from chainer.backends.numpy.recording.alternatives import Way, replaced_by_fastest
from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.tape import Call, Kind

#: Smaller arrays are summed in a microsecond.
_FEWEST_ELEMENTS = 512

#: Longer axes have a sum of partial sums in NumPy, and too many slices.
_MOST_SLICES = 7


def with_faster_calls(calls: list[Call]) -> list[Call]:
    """Returns calls with other calls in place of slow sums and products."""
    found: list[Call] = []
    for call in calls:
        found += _faster_sum(call) or _faster_product(call) or [call]
    return found


def is_sum(call: Call) -> bool:
    """Returns whether a call is a sum of an array in its own floating-point dtype."""
    if call.kind is not Kind.UFUNC or getattr(call.function, "__self__", None) is not numpy.add:
        return False
    if getattr(call.function, "__name__", "") != "reduce" or len(call.args) != 1:
        return False
    source, target = call.args[0], next(references(call.out))
    return (
        isinstance(source, Ref)
        and source.dtype == target.dtype
        and source.dtype.kind == "f"
        and call.kwargs.keys() <= {"axis", "keepdims"}
    )


def _faster_sum(call: Call) -> list[Call] | None:
    if not is_sum(call):
        return None
    source, target = call.args[0], next(references(call.out))
    axes = call.kwargs["axis"] if isinstance(call.kwargs["axis"], tuple) else (call.kwargs["axis"],)
    if len(axes) != 1 or not isinstance(axes[0], int) or not target.is_whole():
        return None
    nbytes = source.size * source.dtype.itemsize
    extent = sum([(n - 1) * stride for n, stride in zip(source.shape, source.strides)])
    if source.size < _FEWEST_ELEMENTS or extent + source.dtype.itemsize != nbytes:
        return None  # a small array, or a view with gaps or repeated elements
    axis = axes[0] % len(source.shape)
    ways: list[Way] = [_slices] if 1 < source.shape[axis] <= _MOST_SLICES else []
    if axis and len(source.shape) > 2 and axis < len(source.shape) - 1:
        ways.append(_axis_first)
    return replaced_by_fastest(call, [source], target, ways)


def _slices(call: Call, sources: Sequence[Ref], target: Ref) -> Iterator[Call]:
    """Adds the slices of an axis one after the other."""
    (source,), axis = sources, _axis_of(call, sources)
    parts = [_slice_of(source, axis, i) for i in range(source.shape[axis])]
    out = _without_axis(target, call, axis)
    before = parts[0]
    for part in parts[1:]:
        yield Call(Kind.UFUNC, numpy.add, (before, part), {}, (out,), call.errors)
        before = out
    yield _with_zero(call, out)


def _axis_first(call: Call, sources: Sequence[Ref], target: Ref) -> Iterator[Call]:
    """Copies the array with the axis in front, and sums whole rows."""
    (source,), axis = sources, _axis_of(call, sources)
    front = [axis, *[i for i in range(len(source.shape)) if i != axis]]
    shape = tuple([source.shape[i] for i in front])
    strides = tuple([source.strides[i] for i in front])
    moved = Ref(source.buffer, source.offset, shape, strides, source.dtype)
    if source.array is not None:
        moved.array = source.array.transpose(front)
    itemsize = source.dtype.itemsize
    rows = numpy.empty(shape, numpy.uint8).strides
    packed = tuple([stride * itemsize for stride in rows])
    copy = Ref(Buffer(source.size * itemsize), 0, shape, packed, source.dtype)
    yield Call(Kind.UFUNC, numpy.positive, (moved,), {}, (copy,), call.errors)
    out = _without_axis(target, call, axis)
    yield Call(Kind.UFUNC, numpy.add.reduce, (copy,), {"axis": 0}, (out,), call.errors)


def _axis_of(call: Call, sources: Sequence[Ref]) -> int:
    axis = call.kwargs["axis"]
    return (axis[0] if isinstance(axis, tuple) else axis) % len(sources[0].shape)


def _slice_of(ref: Ref, axis: int, i: int) -> Ref:
    shape, strides = list(ref.shape), list(ref.strides)
    del shape[axis], strides[axis]
    array = None if ref.array is None else ref.array[(slice(None),) * axis + (i,)]
    offset = ref.offset + i * ref.strides[axis]
    return Ref(ref.buffer, offset, tuple(shape), tuple(strides), ref.dtype, array)


def _without_axis(target: Ref, call: Call, axis: int) -> Ref:
    """Returns the target without the axis that ``keepdims`` keeps."""
    return _slice_of(target, axis, 0) if call.kwargs.get("keepdims") else target


def _faster_product(call: Call) -> list[Call] | None:
    """Returns the product of a column and a row as an elementwise one."""
    if call.function is not numpy.matmul or len(call.args) != 2 or call.kwargs:
        return None
    target = next(references(call.out))
    if not all([isinstance(ref, Ref) and len(ref.shape) == 2 for ref in (*call.args, target)]):
        return None
    a, b = call.args
    if a.shape[1] != 1 or target.size == 0 or not a.dtype == b.dtype == target.dtype:
        return None
    if a.dtype.kind != "f" or a.buffer is target.buffer or b.buffer is target.buffer:
        return None
    return replaced_by_fastest(call, [a, b], target, [_elementwise, _elementwise_and_zero])


def _elementwise(call: Call, sources: Sequence[Ref], target: Ref) -> Iterator[Call]:
    """Multiplies the elements."""
    yield Call(Kind.UFUNC, numpy.multiply, tuple(sources), {}, (target,), call.errors)


def _elementwise_and_zero(call: Call, sources: Sequence[Ref], target: Ref) -> Iterator[Call]:
    """Multiplies the elements, and adds zero where BLAS does."""
    yield from _elementwise(call, sources, target)
    yield _with_zero(call, target)


def _with_zero(call: Call, target: Ref) -> Call:
    """Returns a call that makes negative zeros positive: NumPy begins sums with zero."""
    zero = numpy.zeros((), target.dtype)
    return Call(Kind.UFUNC, numpy.add, (target, zero), {}, (target,), call.errors)
