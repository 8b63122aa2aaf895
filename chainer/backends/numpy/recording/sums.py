"""Sums over short or middle axes, in the order of NumPy but faster.

``numpy.add.reduce`` takes 11 us to sum an array of shape (24, 24, 3) over its last axis. Adding the
three slices takes 3 us, and adds the same numbers in the same order. Whether another way has the
same bits and is faster depends on NumPy and the machine, so that both are tried: once for each
shape, when the first program with such a sum is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from time import perf_counter
from typing import Any

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.core.typing import DType, Shape

#: Smaller arrays are summed in a microsecond.
_FEWEST_ELEMENTS = 512

#: Longer axes have a sum of partial sums in NumPy, and too many slices.
_MOST_SLICES = 7

#: Samples of a measurement, and calls of each.
_SAMPLES, _CALLS = 5, 20

#: Another way has to take at most this share of the time: measurements vary.
_WORTH = 0.8


def with_faster_sums(calls: list[Call]) -> list[Call]:
    """Returns calls with other calls in place of slow sums."""
    found: list[Call] = []
    for call in calls:
        found += _replacement(call) or [call]
    return found


def _replacement(call: Call) -> list[Call] | None:
    """Returns faster calls with the same bits; None if there are none."""
    axis = call.kwargs.get("axis")
    axes = axis if isinstance(axis, tuple) else (axis,)
    if (
        call.kind is not Kind.UFUNC
        or getattr(call.function, "__self__", None) is not numpy.add
        or getattr(call.function, "__name__", "") != "reduce"
        or len(axes) != 1
        or not isinstance(axes[0], int)
        or not call.kwargs.keys() <= {"axis", "keepdims"}
    ):
        return None
    source, target = call.args[0], next(references(call.out))
    if not isinstance(source, Ref) or source.size < _FEWEST_ELEMENTS or not target.is_whole():
        return None
    if source.dtype != target.dtype or source.dtype.kind != "f" or min(source.strides) < 0:
        return None
    way = _fastest(source.shape, source.strides, source.dtype, axes[0] % len(source.shape))
    return None if way is None else list(way(call, source, target, axes[0] % len(source.shape)))


Way = Callable[[Call, Ref, Ref, int], Iterator[Call]]


def _slices(call: Call, source: Ref, target: Ref, axis: int) -> Iterator[Call]:
    """Adds the slices of an axis one after the other."""
    parts = [_slice_of(source, axis, i) for i in range(source.shape[axis])]
    out = _without_axis(target, call, axis)
    before = parts[0]
    for part in parts[1:]:
        yield Call(Kind.UFUNC, numpy.add, (before, part), {}, (out,), call.errors)
        before = out


def _axis_first(call: Call, source: Ref, target: Ref, axis: int) -> Iterator[Call]:
    """Copies the array with the axis in front, and sums whole rows."""
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


def _slice_of(ref: Ref, axis: int, i: int) -> Ref:
    shape, strides = list(ref.shape), list(ref.strides)
    del shape[axis], strides[axis]
    array = None if ref.array is None else ref.array[(slice(None),) * axis + (i,)]
    offset = ref.offset + i * ref.strides[axis]
    return Ref(ref.buffer, offset, tuple(shape), tuple(strides), ref.dtype, array)


def _without_axis(target: Ref, call: Call, axis: int) -> Ref:
    """Returns the target without the axis that ``keepdims`` keeps."""
    return _slice_of(target, axis, 0) if call.kwargs.get("keepdims") else target


@cache
@numpy.errstate(all="ignore")
def _fastest(shape: Shape, strides: Shape, dtype: DType, axis: int) -> Way | None:
    """Returns a way that is faster than NumPy's and has its bits; None if there is none."""
    ways: list[Way] = [_slices] if 1 < shape[axis] <= _MOST_SLICES else []
    if axis and len(shape) > 2 and axis < len(shape) - 1:
        ways.append(_axis_first)
    if not ways:
        return None
    nbytes = sum([(n - 1) * stride for n, stride in zip(shape, strides)]) + dtype.itemsize
    memory = numpy.zeros(nbytes, numpy.uint8)
    source = numpy.ndarray(shape, dtype, memory, 0, strides)
    if source.size * dtype.itemsize != nbytes:
        return None  # a view with gaps, or one that repeats elements
    # Numbers of all sizes, and zeros of both signs.
    numbers = numpy.arange(source.size)
    values = numpy.sin(numbers * 12.9898) * 10.0 ** (numbers % 4)
    values[::5] = 0.0
    values[::7] = -0.0
    source[...] = values.reshape(shape)
    expected = numpy.add.reduce(source, axis=axis)
    target = numpy.empty_like(expected)
    best, fastest = None, _WORTH * _time(lambda: numpy.add.reduce(source, axis=axis, out=target))
    for way in ways:
        run = _runnable(way, source, target, axis)
        run()
        duration = _time(run)
        if target.tobytes() == expected.tobytes() and duration < fastest:
            best, fastest = way, duration
    return best


def _runnable(way: Way, source: Any, target: Any, axis: int) -> Callable[[], None]:
    """Returns a function that makes the calls of a way on given arrays."""
    memory: dict[Buffer, Any] = {}

    def ref(array: Any) -> Ref:
        return Ref(Buffer(array.nbytes, array), 0, array.shape, array.strides, array.dtype, array)

    def array_of(found: Ref) -> Any:
        if found.array is not None:
            return found.array
        if found.buffer not in memory:
            memory[found.buffer] = numpy.empty(found.shape, found.dtype)
        return memory[found.buffer]

    call = Call(Kind.UFUNC, numpy.add.reduce, (), {"axis": axis}, None)
    lines = [
        (c.function, [array_of(a) for a in c.args], c.kwargs, array_of(c.out[0]))
        for c in way(call, ref(source), ref(target), axis)
    ]

    def run() -> None:
        for function, args, kwargs, out in lines:
            function(*args, **kwargs, out=out)

    return run


def _time(function: Callable[[], Any]) -> float:
    """Returns the smallest time of a call."""
    found: Sequence[float] = []
    for _ in range(_SAMPLES):
        start = perf_counter()
        for _ in range(_CALLS):
            function()
        found = [*found, perf_counter() - start]
    return min(found) / _CALLS
