"""Results of kernels that later calls get as they are, without a copy to planned memory.

A kernel without a keyword ``out`` makes new arrays in each repetition. Copying them took 7% of a
captured Transformer and 4% of an LSTM over whole sequences (Intel Xeon, one thread, chainer-numba).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Ref, references, root
from chainer.backends.numpy.recording.opaque import conversion_to_memory
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import writes_to_memory
from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.typing import HostArray

#: Making a view takes as long as copying so many bytes.
_BYTES_OF_A_VIEW = 4096

Places = dict[tuple[Any, ...], Ref]


@dataclasses.dataclass(frozen=True)
class KeptBuffer:
    """Memory that a kernel makes in each repetition.

    Attributes:
        made: The arrays that the kernel returns, by their places: one, or several that do not
            overlap.
        views: Other arrays that calls get, by their places: parts of a single array.
    """

    made: Places
    views: Places


def kept_results(
    calls: list[Call], others: set[Buffer], parents: dict[Buffer, tuple[Buffer, int]]
) -> dict[Buffer, KeptBuffer]:
    """Returns the memory that calls get as a kernel returns it.

    Args:
        calls: The calls.
        others: Buffers that something else than the calls refers to, or that need a fixed place.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """
    left_out = others | set(parents) | {parent for parent, _ in parents.values()}
    made: dict[Buffer, Places] = {}
    used: dict[Buffer, Places] = {}
    for call in calls:
        keeps = _returns_new_arrays(call)
        results = list(references(call.out))
        for buffer in {ref.buffer for ref in results}:
            if not keeps or buffer in made or buffer.memory is not None:
                left_out.add(buffer)
            made.setdefault(buffer, {})
        for ref in results:
            made[ref.buffer][ref.place()] = ref
        direct = list(_direct((call.args, *call.kwargs.values(), call.out)))
        for ref in direct:
            used.setdefault(ref.buffer, {})[ref.place()] = ref
        if len(direct) != sum(1 for _ in call.references()):
            # Within a dictionary, where a line of Python cannot name them.
            left_out.update([ref.buffer for ref in call.references()])
    found: dict[Buffer, KeptBuffer] = {}
    for buffer, places in made.items():
        if buffer in left_out:
            continue
        views = {place: ref for place, ref in used[buffer].items() if place not in places}
        kept = KeptBuffer(places, views)
        if _pays(buffer, kept):
            found[buffer] = kept
    return found


def _returns_new_arrays(call: Call) -> bool:
    """Returns whether a call is one of a kernel that is not given memory for its result."""
    if call.kind is not Kind.WHOLE or conversion_to_memory(call.function) is not None:
        return False
    return not (isinstance(call.out, Ref) and writes_to_memory(call.function))


def _pays(buffer: Buffer, kept: KeptBuffer) -> bool:
    """Returns whether the arrays have names of their own, and few views."""
    refs = sorted(kept.made.values(), key=lambda ref: ref.offset)
    if any([not ref.shape or ref.dtype.hasobject or not ref.is_contiguous() for ref in refs]):
        return False
    if len(refs) == 1:
        return refs[0].is_whole() and len(kept.views) * _BYTES_OF_A_VIEW <= buffer.nbytes
    # Several arrays must not share elements: each one has a name of its own.
    ends = [ref.offset + ref.extent() for ref in refs]
    overlap = any([end > ref.offset for end, ref in zip(ends, refs[1:], strict=False)])
    return not kept.views and not overlap


def _direct(value: Any) -> Iterator[Ref]:
    """Yields the references within nested tuples and lists alone."""
    if isinstance(value, Ref):
        yield value
    elif type(value) in (tuple, list):
        for part in value:
            yield from _direct(part)


def laid_out(
    value: Any, shape: tuple[int, ...], dtype: Any, memory: HostArray, by: str
) -> HostArray:
    """Returns a result as the array that it was when the step was recorded, copied if need be.

    Args:
        value: The result.
        shape: Shape that it had.
        dtype: Data type that it had.
        memory: Planned memory. A kernel may return an argument in one call and not in another, and
            the place of the argument is used again.
        by: Name of the function that returned it.

    Raises:
        NotRecordableError: If it has another shape.
    """
    check_shape(value, shape, by)
    is_own = value.__class__ is numpy.ndarray and root(value) is not memory
    if is_own and value.dtype == dtype and value.flags.c_contiguous:
        return value
    return numpy.array(value, dtype, order="C", subok=False)


def check_shape(value: Any, shape: tuple[int, ...], by: str) -> None:
    """Checks that a result has the shape that it had when the step was recorded.

    Args:
        value: The result.
        shape: Shape that it had.
        by: Name of the function that returned it.

    Raises:
        NotRecordableError: If it has another one.
    """
    if numpy.shape(value) != shape:
        raise NotRecordableError(
            f"a result of {by} has the shape {numpy.shape(value)}; when the step was recorded, it "
            f"had {shape}"
        )
