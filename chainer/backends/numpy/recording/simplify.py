"""Makes recorded calls cheaper without changing a bit of what they compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy

from chainer.backends.numpy.recording.assignment import with_single_assignment
from chainer.backends.numpy.recording.memory import (
    Buffer,
    Held,
    Ref,
    leaves,
    references,
    replaced,
)
from chainer.backends.numpy.recording.sums import with_faster_calls
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import is_pure
from chainer.core.arrays.recorder import VaryingNumber

_ndarray: Any = numpy.ndarray

#: Functions that end in the method ``reduce`` of a ufunc, with some Python code before it.
_REDUCTIONS: dict[Any, Any] = {
    _ndarray.sum: numpy.add,
    numpy.sum: numpy.add,
    _ndarray.max: numpy.maximum,
    numpy.max: numpy.maximum,
    _ndarray.min: numpy.minimum,
    numpy.min: numpy.minimum,
}

#: Functions that make the same array at each call, if their arguments are not arrays.
_MAKERS = frozenset(
    (numpy.arange, numpy.zeros, numpy.ones, numpy.full, numpy.eye, numpy.identity, numpy.linspace)
)

#: The same, of which arguments give shape and dtype alone.
_LIKE = frozenset((numpy.zeros_like, numpy.ones_like))

#: Functions without side effects whose result depends on their arguments alone.
_PURE = frozenset((numpy.where, _ndarray.__getitem__, numpy.asarray, _ndarray.astype, numpy.take))


#: Functions that write to their first argument alone.
_WRITE_FIRST = frozenset(
    (_ndarray.__setitem__, _ndarray.fill, _ndarray.sort, _ndarray.partition, numpy.copyto)
)


def simplified(calls: list[Call], outputs: list[Ref], kept: set[Buffer]) -> list[Call]:
    """Returns calls that compute the same, bit by bit.

    - Sums and maxima become methods of ufuncs; Python numbers become arrays, which NumPy takes in
      half the time.
    - A call without array arguments, such as ``arange``, is made once.
    - Each value gets memory of its own. One that was computed already is not computed again, nor is
      a product with an array of ones, such as the gradient of a loss.
    - A value that is not used is not computed, and an array is not filled with one number for
      elementwise calls.
    - Sums and products that NumPy computes slowly become other calls.

    Args:
        calls: Recorded calls.
        outputs: Results of the program.
        kept: Buffers that are parts of others, and have to be written.
    """
    calls = [_as_ufunc(call) for call in calls]
    calls, constants = _without_constants(calls, kept)
    with_single_assignment(calls, kept)
    calls, outputs[:] = _without_repetitions(calls, outputs, kept, _ones(constants))
    used = {ref.buffer for ref in outputs} | kept
    calls = _without_unused(_without_fills(calls, used), used)
    return with_faster_calls(calls)


def written(call: Call) -> Iterable[Ref]:
    """Returns the references that a call may write to."""
    if call.kind is Kind.WRITE:
        function = call.function
        is_at = isinstance(getattr(function, "__self__", None), numpy.ufunc)
        if function in _WRITE_FIRST or is_at:
            return references(call.args[:1])
    if call.kind is Kind.WHOLE and is_pure(call.function):
        return references(call.out)
    if call.kind in (Kind.WRITE, Kind.WHOLE, Kind.UPDATE):
        return call.references()
    return references(call.out)


def _as_ufunc(call: Call) -> Call:
    """Returns a call with less Python code before the work."""
    if call.kind is Kind.UFUNC:
        if isinstance(call.function, numpy.ufunc):
            call.args = _with_arrays(call.function, call.args)
        return call
    if _is_copy(call):
        # An elementwise call, which others can be joined with.
        target, _, source = call.args
        return Call(Kind.UFUNC, numpy.positive, (source,), {}, (target,), call.errors)
    ufunc = _REDUCTIONS.get(call.function) if call.kind is Kind.OUT else None
    if (
        ufunc is None
        or len(call.args) != 1
        or not set(call.kwargs) <= {"axis", "dtype", "keepdims"}
    ):
        return call
    # The methods of ufuncs reduce the first axis by default, the functions all axes.
    kwargs = {"axis": None, **call.kwargs}
    return Call(Kind.UFUNC, ufunc.reduce, call.args, kwargs, (call.out,), call.errors)


def _with_arrays(ufunc: numpy.ufunc, args: Any) -> Any:
    """Returns arguments with arrays without axes in place of Python numbers."""
    if not any([type(a) in (int, float) for a in args]) or len(args) != ufunc.nin:
        return args
    kinds = [a.dtype if isinstance(a, Ref) else type(a) for a in args]
    try:
        dtypes = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))  # type: ignore[arg-type]
        return tuple(
            [
                numpy.array(a, dtype) if type(a) in (int, float) else a
                for a, dtype in zip(args, dtypes)
            ]
        )
    except (TypeError, OverflowError):
        return args  # such as a comparison with a number that the dtype cannot hold


def _count_writes(calls: list[Call]) -> Counter[Buffer]:
    return Counter([buffer for call in calls for buffer in {r.buffer for r in written(call)}])


def _without_constants(
    calls: list[Call], kept: set[Buffer]
) -> tuple[list[Call], dict[Buffer, Any]]:
    """Computes results that are the same each time, and leaves their calls out.

    Returns:
        tuple: The other calls; and the arrays of results that were computed, by their memory.
    """
    writes = _count_writes(calls)
    constants: dict[Buffer, Any] = {}
    left: list[Call] = []
    for call in calls:
        target = _target_of_constant(call)
        if (
            target is None
            or target.buffer.memory is not None
            or target.buffer in kept
            or writes[target.buffer] != 1
        ):
            left.append(call)
        elif call.kind is Kind.WRITE:
            array = numpy.empty(target.shape, target.dtype)
            array.fill(*call.args[1:])
            constants[target.buffer] = array
        else:
            args = replaced(call.args, lambda r: numpy.empty(r.shape, r.dtype))
            constants[target.buffer] = call.function(*args, **call.kwargs)
    # Other calls and outputs find the array through the buffer.
    for buffer, memory in constants.items():
        buffer.memory = memory
    return left, constants


def _ones(constants: dict[Buffer, Any]) -> set[Buffer]:
    """Returns the memory of arrays whose elements are all one."""
    return {buffer for buffer, array in constants.items() if array.size and (array == 1).all()}


def _factor(call: Call, target: Ref, ones: set[Buffer]) -> Ref | None:
    """Returns the array that a call multiplies by ones, which changes no bit of a number."""
    if not ones or call.function is not numpy.multiply or not is_elementwise(call):
        return None
    if target.dtype.kind not in "fiu":  # a product of complex numbers has zeros of other signs
        return None
    layout = target.shape, target.strides, target.dtype
    for one, other in (call.args, call.args[::-1]):
        if isinstance(one, Ref) and one.buffer in ones and isinstance(other, Ref):
            is_intermediate = other.buffer.memory is None and other.is_whole()
            if is_intermediate and (other.shape, other.strides, other.dtype) == layout:
                return other
    return None


def _target_of_constant(call: Call) -> Ref | None:
    """Returns what a call writes if it writes the same each time."""
    if call.kind is Kind.WRITE and call.function is _ndarray.fill:
        target = call.args[0]
        # A number that varies is filled in anew.
        constant = isinstance(target, Ref) and type(call.args[1]) in (int, float)
        return target if constant and target.is_whole() else None
    if call.kind is not Kind.ASSIGN or not isinstance(call.out, Ref) or not call.out.is_whole():
        return None
    if call.function in _MAKERS:
        simple = (Ref, Held, VaryingNumber)
        is_constant = not any([isinstance(x, simple) for x in leaves((call.args, call.kwargs))])
    else:
        is_constant = call.function in _LIKE and len(call.args) == 1 and not call.kwargs
    return call.out if is_constant else None


def _without_repetitions(
    calls: list[Call], outputs: list[Ref], kept: set[Buffer], ones: set[Buffer]
) -> tuple[list[Call], list[Ref]]:
    """Leaves out calls whose result another call has computed."""
    writes = _count_writes(calls)
    versions: Counter[Buffer] = Counter()
    known: dict[Any, Ref] = {}
    same: dict[Buffer, Buffer] = {}

    def current(ref: Ref) -> Ref:
        buffer = same.get(ref.buffer)
        if buffer is None:
            return ref
        return Ref(buffer, ref.offset, ref.shape, ref.strides, ref.dtype)

    left: list[Call] = []
    for call in calls:
        call.args, call.kwargs = replaced((call.args, call.kwargs), current)
        call.out = replaced(call.out, current)
        target = _only_target(call)
        if target is not None and writes[target.buffer] == 1 and target.buffer not in kept:
            key = _key(call, versions)
            found = known.get(key) if key is not None else None
            if found is None:
                factor = _factor(call, target, ones)
                if factor is not None and writes[factor.buffer] == 1 and factor.buffer not in kept:
                    found = factor
                elif _is_fill(call) and call.args[0].buffer in ones:
                    ones.add(target.buffer)
            if found is not None:
                same[target.buffer] = found.buffer
                continue
            if key is not None:
                known[key] = target
        for buffer in {r.buffer for r in written(call)}:
            versions[buffer] += 1
        left.append(call)
    return left, [current(ref) for ref in outputs]


def _only_target(call: Call) -> Ref | None:
    """Returns the intermediate result that a call computes as a whole, if it computes one."""
    out = call.out
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if call.kind is Kind.ASSIGN and call.function not in _PURE:
        return None
    if call.kind not in (Kind.UFUNC, Kind.ASSIGN) or not isinstance(out, Ref):
        return None
    return out if out.buffer.memory is None and out.is_whole() else None


def _key(call: Call, versions: Counter[Buffer]) -> Any:
    """Returns what calls with the same result have in common; None if that is not known."""

    def part(value: Any) -> Any:
        if isinstance(value, Ref):
            return value.place(), versions[value.buffer]
        if isinstance(value, (tuple, list)):
            return type(value), tuple([part(v) for v in value])
        if isinstance(value, _ndarray):  # a number, see _with_arrays
            return value.dtype, value.tobytes()
        if value is None or isinstance(value, (int, float, str, numpy.dtype, type)):
            return type(value), value
        raise KeyError  # what only its own class can compare, such as a slice

    target: Any = _only_target(call)
    try:
        arguments = part(call.args), part(list(call.kwargs.items()))
    except KeyError:
        return None
    function = call.function
    owner = getattr(function, "__self__", None)
    name = (id(owner), function.__name__) if owner is not None else function
    return name, arguments, target.shape, target.strides, target.dtype, call.errors


def is_elementwise(call: Call) -> bool:
    """Returns whether a call computes each element of one array from elements of others."""
    function = call.function
    return (
        call.kind is Kind.UFUNC
        and isinstance(function, numpy.ufunc)
        and function.signature is None
        and len(call.out) == 1
        and not call.kwargs
    )


def _without_fills(calls: list[Call], used: set[Buffer]) -> list[Call]:
    """Lets elementwise calls read a number in place of an array that is filled with it.

    Functions fill small arrays where a view of the number would do, since that is faster when they
    run singly.
    """
    writes = _count_writes(calls)
    last_write = {ref.buffer: i for i, call in enumerate(calls) for ref in written(call)}
    fills: dict[Buffer, Call] = {}

    def number(ref: Ref) -> Ref:
        fill = fills.get(ref.buffer)
        return ref if fill is None or fill.out[0].place() != ref.place() else fill.args[0]

    for i, call in enumerate(calls):
        if _is_fill(call):
            target, source = call.out[0], call.args[0]
            is_lasting = writes[target.buffer] == 1 and last_write.get(source.buffer, -1) < i
            if is_lasting and target.buffer not in used:
                fills[target.buffer] = call
        elif fills and is_elementwise(call):
            call.args = replaced(call.args, number)
    filling = {id(call) for call in fills.values()}
    read = {r.buffer for call in calls if id(call) not in filling for r in call.references()}
    return [c for c in calls if id(c) not in filling or c.out[0].buffer in read]


def _is_fill(call: Call) -> bool:
    """Returns whether a call fills an intermediate result with a number of its dtype."""
    if call.function is not numpy.positive or not is_elementwise(call):
        return False
    source, target = call.args[0], call.out[0]
    return (
        isinstance(source, Ref)
        and source.shape == ()
        and source.dtype == target.dtype
        and target.is_whole()
        and target.buffer.memory is None
    )


def _is_copy(call: Call) -> bool:
    """Returns whether a call copies an array of floats to all elements of another one."""
    if call.kind is not Kind.WRITE or call.function is not _ndarray.__setitem__:
        return False
    target, index, source = call.args
    return (
        index is Ellipsis
        and isinstance(target, Ref)
        and isinstance(source, Ref)
        and source.buffer is not target.buffer
        and source.dtype == target.dtype
        and target.dtype.kind == "f"
        and len(source.shape) <= len(target.shape)
    )


def _without_unused(calls: list[Call], used: set[Buffer]) -> list[Call]:
    """Leaves out calls of ufuncs whose results are not used."""
    left: list[Call] = []
    for call in reversed(calls):
        if call.kind is Kind.UFUNC:
            targets = [r.buffer for r in references(call.out)]
            if all([b.memory is None and b not in used for b in targets]):
                continue
        used.update([ref.buffer for ref in call.references()])
        left.append(call)
    return left[::-1]
