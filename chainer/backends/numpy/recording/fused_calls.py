"""Fused calls: kernels make calls one after the other as one, where their providers offer it.

Providers list what they offer in an attribute ``fusions`` of their kernels
(:class:`~chainer.kernel.Fusion`). Nothing here knows an operation by name.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from chainer.backends.numpy.recording.dependencies import Parents, depends_on_arguments_alone
from chainer.backends.numpy.recording.memory import Buffer, Held, Opaque, Ref, leaves
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import recorded_method
from chainer.core.arrays.fusion import FusedCall, Fusion
from chainer.core.arrays.kernel_declaration import ArraySpec
from chainer.core.arrays.recorder import VaryingNumber

#: Operators that change an array in place, and with it what other objects show.
IN_PLACE = frozenset((operator.iadd, operator.isub, operator.imul, operator.itruediv))

#: Longer programs take long to look at.
_LONGEST_PROGRAM = 20000

#: Calls between two that are fused: more would have to be looked at one by one.
_MOST_BETWEEN = 256


class FusedProgram(NamedTuple):
    """Calls after fusion.

    Attributes:
        calls: The calls.
        count: Number of fused calls.
        is_exact: Whether they compute the same bits as before.
    """

    calls: list[Call]
    count: int
    is_exact: bool


def with_fused_calls(
    calls: list[Call], outputs: Sequence[Ref], parents: Parents, fixed: Collection[Buffer]
) -> FusedProgram:
    """Returns calls with one call of a kernel in place of several, where kernels offer it.

    Args:
        calls: The calls, which stay as they are.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        fixed: Memory that calls may read which do not refer to it.
    """
    if len(calls) > _LONGEST_PROGRAM:
        return FusedProgram(calls, 0, True)
    names = [_name(call) for call in calls]
    offers = _offers(calls)
    if not offers:
        return FusedProgram(calls, 0, True)
    kept = {ref.buffer for ref in outputs} | {*fixed, *parents}
    kept |= {parent for parent, _ in parents.values()}
    uses = _Uses(calls, names, kept)
    taken: set[int] = set()
    placed: dict[int, Call] = {}
    is_exact = True
    # Of several that fit, the longest one saves most.
    for fusion, kernel in sorted(offers, key=lambda offer: -len(offer[0].calls)):
        for first in uses.by_name.get(fusion.calls[0].name, ()):
            chain = uses.chain(first, fusion.calls)
            if chain is None or not taken.isdisjoint(chain):
                continue
            if not any([_kernel(calls[i]) is kernel for i in chain]):
                continue
            fused = _fused([calls[i] for i in chain], fusion, kernel)
            place = None if fused is None else _place(calls, chain)
            if fused is None or place is None:
                continue
            taken.update(chain)
            placed[place] = fused
            is_exact = is_exact and fusion.exact
    left = [placed.get(i, call) for i, call in enumerate(calls) if i in placed or i not in taken]
    return FusedProgram(left, len(placed), is_exact)


def _name(call: Call) -> str | None:
    """Returns the name by which fusions refer to a call."""
    if call.kind is not Kind.WHOLE or call.kwargs:
        return None
    found = recorded_method(call.function)
    if found is not None:
        return f"{found.operation.name}.{found.name}"
    name = getattr(call.function, "__name__", "")
    return f"operator.{name}" if getattr(operator, name, None) is call.function else None


def _kernel(call: Call) -> Any:
    found = recorded_method(call.function)
    return None if found is None else found.kernel


def _offers(calls: list[Call]) -> list[tuple[Fusion, Any]]:
    """Returns what the kernels of a program offer, each with the kernel."""
    kernels = {id(kernel): kernel for kernel in map(_kernel, calls) if kernel is not None}
    return [
        (fusion, kernel) for kernel in kernels.values() for fusion in getattr(kernel, "fusions", ())
    ]


class _Uses:
    """Which calls read and write each value of a program.

    Args:
        calls: The calls.
        names: Their names; None for those that cannot be fused.
        kept: Memory that something else than the calls reads.
    """

    def __init__(self, calls: list[Call], names: list[str | None], kept: set[Buffer]) -> None:
        self._calls = calls
        self._names = names
        self._kept = kept
        self._readers: dict[Any, list[int]] = defaultdict(list)
        self._writers: dict[Any, int] = defaultdict(int)
        self.by_name: dict[str, list[int]] = defaultdict(list)
        for i, call in enumerate(calls):
            for leaf in leaves((call.args, call.kwargs)):
                if isinstance(leaf, (Ref, Held)):
                    self._readers[_value(leaf)].append(i)
            for leaf in leaves(call.out):
                if isinstance(leaf, (Ref, Held)):
                    self._writers[_value(leaf)] += 1
            name = names[i]
            if name is not None:
                self.by_name[name].append(i)

    def chain(self, first: int, pattern: tuple[FusedCall, ...]) -> list[int] | None:
        """Returns the numbers of calls of a pattern; None if they are not alone.

        Args:
            first: Number of the first call.
            pattern: The names of all calls.
        """
        chain = [first]
        for before, after in pairwise(pattern):
            value = self._result(chain[-1], before.result)
            readers = [] if value is None else self._readers[_value(value)]
            # Once: a call may get the same array twice.
            if value is None or len(readers) != 1:
                return None
            (reader,) = readers
            args = self._calls[reader].args
            if self._names[reader] != after.name or len(args) <= after.argument:
                return None
            given = args[after.argument]
            if not _is_same(given, value):
                return None
            chain.append(reader)
        errors = self._calls[first].errors
        return chain if all([self._calls[i].errors == errors for i in chain]) else None

    def _result(self, number: int, position: int | None) -> Ref | Held | None:
        """Returns a result of a call, if nothing but calls of the program can read it."""
        out = self._calls[number].out
        if position is not None:
            out = out[position] if type(out) is tuple and position < len(out) else None
        if isinstance(out, Held):
            return out
        if not isinstance(out, Ref) or out.buffer.memory is not None or not out.is_whole():
            return None
        is_alone = out.buffer not in self._kept and self._writers[out.buffer] == 1
        return out if is_alone else None


def _value(leaf: Ref | Held) -> Any:
    return leaf.buffer if isinstance(leaf, Ref) else leaf


def _is_same(given: Any, value: Ref | Held) -> bool:
    if isinstance(value, Ref):
        return isinstance(given, Ref) and given.place() == value.place()
    return given is value


def _fused(chain: list[Call], fusion: Fusion, kernel: Any) -> Call | None:
    """Returns one call in place of several; None if the kernel does not support them."""
    args = [call.args for call in chain]
    outs = [call.out for call in chain]
    for i, (before, after) in enumerate(pairwise(fusion.calls)):
        args[i + 1] = _with(args[i + 1], after.argument, None)
        outs[i] = None if before.result is None else _with(outs[i], before.result, None)
    if any([isinstance(leaf, VaryingNumber) for leaf in leaves(args)]):
        return None
    if fusion.supports is not None:
        described = _Described()
        if not getattr(kernel, fusion.supports)(*[described.of(a) for a in args]):
            return None
    method = getattr(kernel, fusion.method)
    return Call(Kind.WHOLE, method, tuple(args), {}, tuple(outs), chain[0].errors)


def _with(values: tuple[Any, ...], position: int, value: Any) -> tuple[Any, ...]:
    return (*values[:position], value, *values[position + 1 :])


class _Described:
    """Replaces arrays by their descriptions, the same array by the same object."""

    def __init__(self) -> None:
        self._known: dict[Any, ArraySpec] = {}

    def of(self, value: Any) -> Any:
        """Returns an argument of a call with descriptions in place of arrays."""
        if type(value) is tuple:
            return tuple([self.of(v) for v in value])
        if isinstance(value, Ref):
            spec = ArraySpec(value.shape, value.dtype, value.is_contiguous())
            return self._known.setdefault(value.place(), spec)
        if isinstance(value, Held):
            if not isinstance(value.on_tape(), Opaque):
                return value.value
            spec = ArraySpec.of(value.value)
            assert spec is not None
            return self._known.setdefault(value, spec)
        return value


# -- places ---------------------------------------------------------------------------------------


def _place(calls: list[Call], chain: list[int]) -> int | None:
    """Returns the number of the call in whose place all of a chain can be made; None if none."""
    first, last = chain[0], chain[-1]
    if last - first > _MOST_BETWEEN:
        return None
    between = [i for i in range(first + 1, last) if i not in chain]
    if not any([_conflict(calls[i], calls[j]) for i in chain for j in between if i < j]):
        return last
    if not any([_conflict(calls[i], calls[j]) for i in chain for j in between if i > j]):
        return first
    return None


def _conflict(a: Call, b: Call) -> bool:
    """Returns whether two calls have to keep their order."""
    of_a, of_b = list(leaves((a.args, a.kwargs))), list(leaves((b.args, b.kwargs)))
    held_a, held_b = _held(of_a), _held(of_b)
    made_a, made_b = _held(leaves(a.out)), _held(leaves(b.out))
    if made_a & held_b or made_b & held_a:
        return True
    if (a.function in IN_PLACE and held_b) or (b.function in IN_PLACE and held_a):
        return True
    writes_a = {ref.buffer for ref in written(a)}
    writes_b = {ref.buffer for ref in written(b)}
    all_a = {ref.buffer for ref in a.references()}
    all_b = {ref.buffer for ref in b.references()}
    if writes_a & all_b or writes_b & all_a:
        return True
    # Such as two draws of random numbers.
    return _has_state(a) and _has_state(b)


def _held(values: Any) -> set[Held]:
    return {value for value in values if isinstance(value, Held)}


def _has_state(call: Call) -> bool:
    is_operator = getattr(operator, getattr(call.function, "__name__", ""), None) is call.function
    return not is_operator and not depends_on_arguments_alone(call)
