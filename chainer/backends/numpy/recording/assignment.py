"""Single assignment: each value that a recorded step computes gets memory of its own.

Kernels write to one array several times (``gx = y * y; gx *= gy``), so that its memory alone does
not tell which value a call reads. With memory of its own, a value that was computed before is
found. The plan of the memory lets calls write in place again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy

from chainer.backends.numpy.recording.memory import (
    Buffer,
    Held,
    Ref,
    leaves,
    references,
    replaced,
)
from chainer.backends.numpy.recording.tape import Call, Kind


def with_single_assignment(calls: list[Call], kept: Iterable[Buffer]) -> None:
    """Gives each whole write of an intermediate result but the last memory of its own.

    Args:
        calls: The calls, whose references are changed.
        kept: Memory that is part of other memory, and stays.
    """
    last: dict[Buffer, int] = {}
    times: dict[Buffer, int] = {}
    for i, call in enumerate(calls):
        ref = _whole_write(call)
        if ref is not None:
            last[ref.buffer] = i
            times[ref.buffer] = times.get(ref.buffer, 0) + 1
    # Results that kernels keep may refer to the memory, and would not follow.
    fixed = {*kept}
    for call in calls:
        if any([isinstance(leaf, Held) for leaf in leaves((call.args, call.kwargs, call.out))]):
            fixed.update([ref.buffer for ref in call.references()])
    renamed = {b for b, count in times.items() if count > 1 and b not in fixed}
    current: dict[Buffer, Buffer] = {}

    def now(ref: Ref) -> Ref:
        buffer = current.get(ref.buffer)
        if buffer is None:
            return ref
        return Ref(buffer, ref.offset, ref.shape, ref.strides, ref.dtype)

    for i, call in enumerate(calls):
        target = _whole_write(call)
        old = call.out
        call.args, call.kwargs = replaced((call.args, call.kwargs), now)
        if target is None or target.buffer not in renamed:
            call.out = replaced(old, now)
        elif last[target.buffer] == i:
            current.pop(target.buffer, None)
        else:
            current[target.buffer] = Buffer(target.buffer.nbytes)
            call.out = replaced(old, now)


def _whole_write(call: Call) -> Ref | None:
    """Returns the intermediate result that a call of a ufunc writes as a whole."""
    if call.kind is not Kind.UFUNC or not isinstance(call.function, numpy.ufunc):
        return None
    targets = list(references(call.out))
    if len(targets) != 1 or "where" in call.kwargs:
        return None
    (ref,) = targets
    return ref if ref.buffer.memory is None and ref.is_whole() else None
