"""Updates right after their gradients: what is in the cache need not be read from memory.

A step as written computes all gradients first, and updates the parameters then. A large gradient
is in no cache any more when its update reads it, and all gradients need memory at the same time.
Here a gradient is converted to NumPy's layout as soon as it is known, and an update is made as soon
as no later call reads the old values. What is computed stays the same bit by bit.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator

from chainer.backends.numpy.recording.dependencies import Parents
from chainer.backends.numpy.recording.fused_calls import IN_PLACE
from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves
from chainer.backends.numpy.recording.opaque import conversion_to_memory
from chainer.backends.numpy.recording.tape import Call, Kind

#: Updates of smaller parameters stay where they are: their gradients stay in the cache, and calls
#: of updates side by side can be joined.
_LEAST_BYTES = 1 << 16

_Position = tuple[int, int]


def with_early_updates(
    calls: list[Call], updates: Collection[Call], parents: Parents, fixed: set[Buffer]
) -> list[Call]:
    """Returns the calls in another order.

    Args:
        calls: The calls.
        updates: The calls among them that update parameters, one call each. An update
            depends on its arguments alone.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        fixed: Memory that calls may read which do not refer to it.
    """
    early = {id(call) for call in _large(updates, fixed)}
    if not early:
        return calls
    last: dict[Hashable, _Position] = {}
    in_place: _Position = (-1, 0)
    placed: list[tuple[_Position, Call]] = []
    for i, call in enumerate(calls):
        touched = set(_touched(call, parents))
        position = i, 0
        is_conversion = _is_conversion(call)
        if id(call) in early or is_conversion:
            after = max([last.get(x, (-1, 0)) for x in touched], default=(-1, 0))
            if is_conversion:
                after = max(after, in_place)
            # Of several calls after the same one, the order stays.
            position = after[0], i + 1
        elif call.function in IN_PLACE:
            in_place = position
        for x in touched:
            last[x] = max(last.get(x, position), position)
        placed.append((position, call))
    placed.sort(key=lambda entry: entry[0])
    return [call for _, call in placed]


def _large(updates: Collection[Call], fixed: set[Buffer]) -> Iterator[Call]:
    for call in updates:
        refs = list(call.references())
        is_large = any([ref.size * ref.dtype.itemsize >= _LEAST_BYTES for ref in refs])
        if is_large and fixed.isdisjoint([ref.buffer for ref in refs]):
            yield call


def _is_conversion(call: Call) -> bool:
    return call.kind is Kind.WHOLE and conversion_to_memory(call.function) is not None


def _touched(call: Call, parents: Parents) -> Iterator[Hashable]:
    """Yields the memory and the values of kernels that a call reads or writes."""
    for leaf in leaves((call.args, call.kwargs, call.out)):
        if isinstance(leaf, Ref):
            yield parents.get(leaf.buffer, (leaf.buffer, 0))[0]
        elif isinstance(leaf, Held):
            yield leaf
