"""Fusion: runs of elementwise calls and sums become native functions.

The calls are put in another order, in which those that can be fused stand together and no call
reads or writes what another one has still to read or write. What only calls of one loop read needs
no memory. A provider of :data:`~chainer.backends.operations.loops.native_loops` compiles each run;
:mod:`.native` tries it against the calls of NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy

from chainer.backends.numpy.kernels.loops import NoNativeLoops
from chainer.backends.numpy.recording.dependencies import (
    Dependencies,
    Parents,
    ReadyCalls,
    depends_on_arguments_alone,
)
from chainer.backends.numpy.recording.loops import Entry, LoopOfCalls, is_fusible
from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.native import Compiler, NativeCalls
from chainer.backends.numpy.recording.planning import Plan
from chainer.backends.numpy.recording.simplify import is_elementwise
from chainer.backends.numpy.recording.sums import is_sum
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.operations.loops import native_loops

#: Calls that are looked at beyond the first one that is not placed. A wide window lets more of them
#: be fused, but their results may have to wait longer, which needs more memory: then a narrower
#: window is tried.
_WINDOWS = (64, 16, 4)

#: Calls of one native function.
_MOST_CALLS = 64

#: Longer programs work on large arrays block by block, and take long to look at.
_LONGEST_PROGRAM = 5000

#: Arguments and results up to this size are copied for native functions.
_MOST_BYTES_COPIED = 1 << 16

#: Memory that native functions may need beyond the memory of the calls.
_SPARE_BYTES = 1 << 18


def native_compiler() -> Compiler | None:
    """Returns what compiles native functions; None if no provider does."""
    compiler = native_loops.select(numpy.empty(0, numpy.float32))
    # Within a converter of arrays, which is of no use: programs have arrays of NumPy.
    kernel = getattr(compiler, "reference", compiler)
    return None if isinstance(kernel, NoNativeLoops) else kernel


def with_native_loops(
    calls: list[Call],
    arguments: Sequence[Ref],
    outputs: Sequence[Ref],
    parents: Parents,
    nbytes: int,
) -> list[Call]:
    """Returns calls that compute the same, with native functions in place of some.

    Args:
        calls: The calls, which stay as they are.
        arguments: References to the arguments.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        nbytes: Memory of the intermediate results of the calls.
    """
    compiler = native_compiler()
    if compiler is None or len(calls) > _LONGEST_PROGRAM:
        return calls
    # Native functions have fixed addresses, so that these would have to be copied at each call.
    apart = {r.buffer for r in (*arguments, *outputs) if r.buffer.nbytes > _MOST_BYTES_COPIED}
    uses = Dependencies(calls, outputs, parents, depends_on_arguments_alone)
    can_be_fused = [
        is_fusible(call) and apart.isdisjoint([r.buffer for r in call.references()])
        for call in calls
    ]
    most = max(nbytes * 1.1, nbytes + _SPARE_BYTES)
    for window in _WINDOWS:
        result: list[Call] = []
        for run in _ordered(calls, uses, can_be_fused, window):
            result += _fused(calls, run, uses, compiler)
        # In another order, more results may wait at the same time.
        if Plan(result, list(outputs), parents, set()).nbytes <= most:
            return result
    return calls


def _ordered(
    calls: list[Call], uses: Dependencies, can_be_fused: list[bool], window: int
) -> list[list[int]]:
    """Returns the numbers of the calls in another order, as runs to fuse and single calls."""
    order = ReadyCalls(dict(enumerate(uses.before)))
    made = [False] * len(calls)
    first = 0
    runs: list[list[int]] = []
    while first < len(calls):
        run = _next_run(calls, order, can_be_fused, first + window)
        runs.append(run)
        for i in run:
            made[i] = True
        while first < len(calls) and made[first]:
            first += 1
    return runs


def _next_run(
    calls: list[Call], order: ReadyCalls, can_be_fused: list[bool], end: int
) -> list[int]:
    """Makes the next calls, of which none has the number ``end``, and returns their numbers."""
    others = [i for i in order.ready if i < end and not can_be_fused[i]]
    if others:
        order.make(min(others))
        return [min(others)]
    run: list[int] = []
    while len(run) < _MOST_CALLS:
        near = sorted([i for i in order.ready if i < end and can_be_fused[i]])
        if run:
            near = [i for i in near if calls[i].errors == calls[run[0]].errors]
        if not near:
            break
        # One of the same shape continues the loop.
        shape = _shape(calls[run[-1]]) if run else None
        chosen = next((i for i in near if _shape(calls[i]) == shape), near[0])
        order.make(chosen)
        run.append(chosen)
    return run


def _shape(call: Call) -> Any:
    return is_sum(call), next(references(call.out)).shape


def _repeats_rows(call: Call) -> bool:
    """Returns whether an elementwise call repeats an array, such as a bias for each row.

    NumPy needs a microsecond more to prepare such a call, and a loop for each row. So a native
    function pays for a single one.
    """
    if not is_elementwise(call):
        return False
    shape = next(references(call.out)).shape
    return any([ref.shape not in ((), shape) for ref in references(call.args)])


def _fused(calls: list[Call], run: list[int], uses: Dependencies, compiler: Compiler) -> list[Call]:
    """Returns native functions and calls in place of calls that stand together."""
    if not run or (len(run) == 1 and not _repeats_rows(calls[run[0]])):
        return [calls[i] for i in run]
    native = _native(calls, run, uses, compiler)
    if native is not None:
        return [native]
    first_sum = next((n for n, i in enumerate(run) if is_sum(calls[i])), None)
    if first_sum is None:
        return [calls[i] for i in run]
    # A long sum, or one that NumPy takes in another order, stands by itself.
    before, after = run[:first_sum], run[first_sum + 1 :]
    return [
        *_fused(calls, before, uses, compiler),
        calls[run[first_sum]],
        *_fused(calls, after, uses, compiler),
    ]


def _native(
    calls: list[Call], run: list[int], uses: Dependencies, compiler: Compiler
) -> Call | None:
    """Returns a native function in place of calls; None if it does not pay."""
    entries: list[Entry] = []
    for i in run:
        if not entries or not entries[-1].add(i, calls[i]):
            entry = LoopOfCalls.of(i, calls[i])
            if entry is None:
                return None
            entries.append(entry)
    for entry in entries:
        numbers = set(entry.numbers)
        entry.keep([i for i in entry.numbers if not uses.readers[i] <= numbers])
    native = NativeCalls.of(entries, [calls[i] for i in run], compiler)
    if native is None:
        return None
    errors = calls[run[0]].errors
    return Call(
        Kind.NATIVE, cast(Any, native), native.reads, {}, (*native.writes, *native.scratch), errors
    )


def buffers_of_native(calls: Iterable[Call]) -> set[Buffer]:
    """Returns the buffers that native functions use: they need a fixed place."""
    return {ref.buffer for c in calls if c.kind is Kind.NATIVE for ref in c.references()}
