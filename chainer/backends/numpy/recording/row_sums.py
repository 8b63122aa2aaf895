"""Selections of rows whose result is only added at other rows, as one call.

Messages between the nodes of a graph are rows that ``embed_id`` or ``get_item`` selects and
``scatter_add`` adds at other nodes; gradients are alike. The array of all messages has a row
for each neighbor of each node, and is written and read for nothing. A provider of
:data:`~chainer.backends.operations.row_sums.selected_row_sums` adds the rows directly.

Each pair is tried once on an example, and is replaced if bits are the same and the time is less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy

from chainer.backends.numpy.kernels.row_sums import SelectedRowSumsKernel
from chainer.backends.numpy.recording.alternatives import have_same_bits, shortest_times
from chainer.backends.numpy.recording.dependencies import Parents
from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import recorded_method
from chainer.backends.operations.embeddings import embedding
from chainer.backends.operations.indexing import scatter_add
from chainer.backends.operations.row_sums import selected_row_sums
from chainer.core.arrays.kernel import Operation
from chainer.core.typing import HostArray

#: The call has to take at most this share of the time of the two calls.
_WORTH = 0.9

_getitem: Any = numpy.ndarray.__getitem__


class Adder(Protocol):
    """An implementation of the operation ``selected_row_sums``."""

    def add(self, a: HostArray, targets: HostArray, b: HostArray, sources: HostArray, /) -> bool:
        """Adds rows; see the operation."""
        ...


class _Selection(NamedTuple):
    """A call that selects rows.

    Attributes:
        call: The call.
        rows: The array that it writes.
        source: The matrix.
        indices: Which rows.
    """

    call: Call
    rows: Ref
    source: Ref
    indices: Ref

    def run(self, source: HostArray, indices: HostArray) -> HostArray:
        """Returns the rows."""
        if self.call.function is _getitem:
            return source[indices]
        return self.call.function(indices, source, None)


class _Addition(NamedTuple):
    """A call that adds rows.

    Attributes:
        call: The call.
        rows: The rows.
        target: The matrix that it writes.
        indices: Where.
        is_new: Whether the matrix consists of zeros before.
    """

    call: Call
    rows: Ref
    target: Ref
    indices: Ref
    is_new: bool

    def run(self, target: HostArray, indices: HostArray, rows: HostArray) -> None:
        """Adds the rows."""
        if self.is_new:
            target[...] = self.call.function(indices, rows, target.shape, None)
        else:
            self.call.function(target, (indices,), rows)


def with_row_sums(
    calls: list[Call], outputs: Sequence[Ref], parents: Parents, in_objects: set[Buffer]
) -> list[Call]:
    """Returns calls that compute the same, where rows are added as they are selected.

    Args:
        calls: The calls, which stay as they are.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        in_objects: Buffers that objects refer to.
    """
    uses = Counter([b for call in calls for b in {ref.buffer for ref in call.references()}])
    fixed = {ref.buffer for ref in outputs} | in_objects | set(parents)
    selections: dict[Buffer, tuple[int, _Selection]] = {}
    dropped: set[int] = set()
    result = list(calls)
    for i, call in enumerate(calls):
        addition = _addition(call)
        number, selection = -1, None
        if addition is not None:
            number, selection = selections.get(addition.rows.buffer, (-1, None))
        if addition is not None and selection is not None and _fit(selection, addition):
            between = [
                parents.get(ref.buffer, (ref.buffer, 0))[0]
                for c in calls[number + 1 : i]
                for ref in written(c)
            ]
            read = [selection.source.buffer, selection.indices.buffer]
            found = None
            if {parents.get(b, (b, 0))[0] for b in read}.isdisjoint(between):
                found = _joined(selection, addition)
            if found is not None:
                result[i] = found
                dropped.add(number)
        selection = _selection(call)
        if selection is not None:
            buffer = selection.rows.buffer
            if uses[buffer] == 2 and buffer not in fixed and buffer.memory is None:
                selections[buffer] = i, selection
    return [call for i, call in enumerate(result) if i not in dropped]


def _method_of(call: Call) -> tuple[Operation, str] | None:
    """Returns the operation and the method that a call makes; None if it makes none."""
    found = recorded_method(call.function)
    return None if found is None else (found.operation, found.name)


def _selection(call: Call) -> _Selection | None:
    """Returns what a call selects; None if it does not select rows of a matrix by integers."""
    out = call.out
    if call.kind is Kind.ASSIGN and call.function is _getitem and not call.kwargs:
        source, index = call.args
        indices = _indices(index)
    elif call.kind is Kind.WHOLE and _method_of(call) == (embedding, "forward"):
        if call.kwargs or call.args[2] is not None:
            return None
        index, source, _ = call.args
        indices = _indices(index)
    else:
        return None
    if indices is None or not (isinstance(out, Ref) and isinstance(source, Ref)):
        return None
    is_rows = len(source.shape) > 1 and out.shape == (*indices.shape, *source.shape[1:])
    if not is_rows or not source.is_contiguous() or not out.is_whole():
        return None
    return _Selection(call, out, source, indices)


def _addition(call: Call) -> _Addition | None:
    """Returns what a call adds; None if it does not add rows to a matrix by integers."""
    if call.kind is not Kind.WHOLE or call.kwargs:
        return None
    found = _method_of(call)
    if found == (scatter_add, "add_at"):
        target, index, rows = call.args
    elif found == (embedding, "backward") and call.args[3] is None:
        index, rows, _, _ = call.args
        target = call.out
    else:
        return None
    indices = _indices(index)
    if indices is None or not (isinstance(target, Ref) and isinstance(rows, Ref)):
        return None
    if len(target.shape) < 2 or not target.is_contiguous() or not rows.is_contiguous():
        return None
    return _Addition(call, rows, target, indices, found == (embedding, "backward"))


def _indices(index: Any) -> Ref | None:
    """Returns the integer array of an index; None if that is not all."""
    if type(index) is tuple and len(index) == 1:
        (index,) = index
    if isinstance(index, Ref) and index.dtype.kind in ("i", "u") and index.shape:
        return index
    return None


def _fit(selection: _Selection, addition: _Addition) -> bool:
    """Returns whether an addition adds the selected rows, from another matrix of the dtype."""
    source, target = selection.source, addition.target
    return (
        selection.rows.offset == addition.rows.offset
        and selection.rows.size == addition.rows.size
        and selection.rows.dtype == addition.rows.dtype == source.dtype == target.dtype
        and source.dtype.kind == "f"
        and prod(source.shape[1:]) == prod(target.shape[1:])
        and selection.indices.size == addition.indices.size
        and source.buffer is not target.buffer
        and addition.indices.buffer is not target.buffer
        and selection.call.errors == addition.call.errors
    )


def _joined(selection: _Selection, addition: _Addition) -> Call | None:
    """Returns the call in place of two; None if it does not pay."""
    source, target = selection.source, addition.target
    matrices = [numpy.empty((0, prod(ref.shape[1:])), ref.dtype) for ref in (target, source)]
    adder = selected_row_sums.select(*matrices)
    if isinstance(getattr(adder, "reference", adder), SelectedRowSumsKernel):
        return None  # it makes the two calls, block by block
    call = _row_sum(selection, addition, adder)
    refs = target, addition.indices, source, selection.indices
    key = (
        *(addition.call.function, selection.call.function, adder),
        *[(ref.shape, ref.dtype) for ref in refs],
    )
    if key not in _paying:
        _paying[key] = _measured(selection, addition, call)
    if not _paying[key]:
        return None
    args = (addition.indices, source, selection.indices)
    if not addition.is_new:
        args = (target, *args)
    return Call(Kind.OUT, call, args, {}, target, addition.call.errors)


def _row_sum(selection: _Selection, addition: _Addition, adder: Adder) -> Callable[..., None]:
    """Returns the function that a program calls."""

    def selected_row_sum(*given: HostArray, out: HostArray) -> None:
        targets, b, sources = given[-3:]
        if addition.is_new:
            out.fill(0)
        matrices = out.reshape(len(out), -1), b.reshape(len(b), -1)
        if not adder.add(matrices[0], targets, matrices[1], sources):
            # The calls of the step as written raise its error.
            addition.run(out, targets, selection.run(b, sources).reshape(addition.rows.shape))
            raise IndexError("an index of rows is out of bounds")

    return selected_row_sum


#: Whether joined calls pay, by the kernels and the shapes and dtypes of their arrays.
_paying: dict[Any, bool] = {}


@numpy.errstate(all="ignore")
def _measured(selection: _Selection, addition: _Addition, joined_call: Callable[..., None]) -> bool:
    """Returns whether the joined call has the bits of the two calls, in less time."""
    random = numpy.random.RandomState(0)  # of its own: the step's numbers stay what they are
    refs = addition.target, addition.indices, selection.source, selection.indices
    target, at, source, of = [(ref.shape, ref.dtype) for ref in refs]
    b = (random.randn(*source[0]) * 10.0 ** random.randint(-3, 4, source[0])).astype(source[1])
    before = random.randn(*target[0]).astype(target[1])
    # Few of the rows, too, so that many terms of different size add up.
    targets, sources = [
        (random.randint(0, max(count // divisor, 1), shape)).astype(dtype)
        for (shape, dtype), count, divisor in ((at, len(before), 2), (of, len(b), 1))
    ]
    rows = addition.rows.shape
    results = [before.copy(), before.copy()]

    def calls() -> None:
        selected = selection.run(b, sources).reshape(rows)
        addition.run(results[0], targets, selected)

    def joined() -> None:
        joined_call(targets, b, sources, out=results[1])

    if not (b.size and before.size and targets.size):
        return False
    calls()
    joined()
    if not have_same_bits(*results):
        return False
    longest, time = shortest_times(calls, joined)
    return time < _WORTH * longest
