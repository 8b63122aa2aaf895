"""Calls that copy numbers to other places, as elementwise calls on parts of arrays.

Steps of a recurrent layer may consist of them (:mod:`.repeated_steps`): the state that is joined
with the input, and gradients of parts that are put into one array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.backends.numpy.recording.memory import Ref
from chainer.backends.numpy.recording.tape import Call, Kind

_ndarray: Any = numpy.ndarray


def with_moves(calls: list[Call]) -> list[Call]:
    """Returns calls with elementwise copies in place of calls that copy.

    Args:
        calls: The calls, which stay as they are.
    """
    return [move for call in calls for move in _moves(call)]


def _moves(call: Call) -> Iterator[Call]:
    out, args = call.out, call.args
    if call.function is _ndarray.__setitem__ and call.kind is Kind.WRITE:
        target = _part(args[0], args[1]) if isinstance(args[0], Ref) else None
        if target is not None and _is_like(args[2], target):
            yield _copy(args[2], target, call)
            return
    elif call.function is _ndarray.copy and _is_like(args[0], out):
        yield _copy(args[0], out, call)
        return
    elif call.function is numpy.zeros and isinstance(out, Ref) and out.dtype.kind == "f":
        yield _copy(numpy.zeros((), out.dtype), out, call)
        return
    elif call.function is numpy.concatenate and isinstance(out, Ref):
        axis = call.kwargs.get("axis", 0)
        if set(call.kwargs) <= {"axis"} and isinstance(axis, int):
            targets = list(_pieces(args[0], out, axis % len(out.shape)))
            if len(args) == 1 and all([_is_like(*pair) for pair in zip(args[0], targets)]):
                for source, target in zip(args[0], targets, strict=True):
                    yield _copy(source, target, call)
                return
    yield call


def _copy(source: Any, target: Ref, call: Call) -> Call:
    return Call(Kind.UFUNC, numpy.positive, (source,), {}, (target,), call.errors)


def _is_like(source: Any, target: Any) -> bool:
    """Returns whether numbers are copied one by one, without conversion."""
    if not (isinstance(source, Ref) and isinstance(target, Ref)):
        return False
    # NumPy copies through memory of its own where source and target overlap.
    is_apart = source.buffer is not target.buffer
    return is_apart and (source.shape, source.dtype) == (target.shape, target.dtype)


def _pieces(sources: Any, out: Ref, axis: int) -> Iterator[Ref]:
    """Yields the parts of a joined array."""
    start = 0
    for source in sources:
        stop = start + source.shape[axis]
        found = _part(out, (*[slice(None)] * axis, slice(start, stop)))
        assert found is not None
        yield found
        start = stop


def _part(ref: Ref, index: Any) -> Ref | None:
    """Returns the part of an array at an index; None if that is not a view."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all([isinstance(part, (int, slice)) or part is Ellipsis for part in parts]):
        return None
    if any([isinstance(part, bool) for part in parts]):
        return None
    # NumPy finds the place, in an array of one number with the strides of the other array.
    model = numpy.lib.stride_tricks.as_strided(
        numpy.empty((), ref.dtype), ref.shape, ref.strides, writeable=False
    )
    view = model[index]
    offset = view.__array_interface__["data"][0] - model.__array_interface__["data"][0]
    array = None if ref.array is None else ref.array[index]
    return Ref(ref.buffer, ref.offset + offset, view.shape, view.strides, ref.dtype, array)
