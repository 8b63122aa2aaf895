"""Native functions in place of calls of NumPy: compiled, tried once, and called.

A function is kept only if it computes the bits of the calls on an example, and in less time. It
tells which floating-point errors have occurred. If NumPy would report one of them, the calls are
repeated by NumPy, which gives the warnings and errors of the step as written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy

from chainer.backends.numpy.recording.alternatives import have_same_bits, shortest_times
from chainer.backends.numpy.recording.loops import (
    Entry,
    Operand,
    masks_of,
    nest_of,
    overlap,
    place_of,
)
from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.operations.loops import Loop, Sum
from chainer.core.typing import HostArray

#: A native function has to take at most this share of the time of the calls.
_WORTH = 0.9

#: Functions of less memory hold the interpreter's lock: to release it takes as long as they do.
_LONG = 1 << 18

#: The kinds of floating-point errors, by the bits that a native function returns.
_ERRORS = {1: "divide", 2: "over", 4: "under", 8: "invalid"}

_run_shortly = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_run_long = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Compiler(Protocol):
    """An implementation of the operation ``native_loops``."""

    def compile(self, parts: tuple[Loop | Sum, ...]) -> int | None:
        """Returns the address of a function; see the operation."""
        ...


#: Whether functions pay, by their parts: shapes and strides decide, not values.
_paying: dict[tuple[Loop | Sum, ...], bool] = {}


class NativeCalls:
    """A native function, and the calls that it takes the place of.

    Attributes:
        reads: References that it reads.
        writes: References that it writes.
        scratch: References of memory that it needs while it runs.
        parts: Its loops.
        function: Runs it; gets the address of the table of addresses.
    """

    function: Callable[[Any], int]

    def __init__(self, entries: Sequence[Entry], calls: list[Call]) -> None:
        self._calls = calls
        loads = [(k, a) for k, entry in enumerate(entries) for a in _loaded(entry)]
        stores = [(k, a) for k, entry in enumerate(entries) for a in _stored(entry)]
        # Arrays that are read and then overwritten are kept: NumPy may have to make the calls.
        lost = {place_of(w): w for k, w in stores for j, r in loads if j <= k and overlap(w, r)}
        self._kept = [(ref, _copy_of(ref)) for ref in lost.values()]
        copies = [_copying(*pair) for pair in self._kept]
        self.parts = (*copies, *[entry.part for entry in entries])
        self._arrays: list[Operand] = [a for pair in self._kept for a in pair]
        self._arrays += [a for entry in entries for a in entry.arrays]
        self.reads = tuple([a for _, a in loads])
        self.writes = tuple([a for _, a in stores])
        self.scratch = tuple([copy for _, copy in self._kept])

    @classmethod
    def of(
        cls, entries: Sequence[Entry], calls: list[Call], compiler: Compiler
    ) -> NativeCalls | None:
        """Returns the native function of calls; None if there is none, or if it does not pay."""
        native = cls(entries, calls)
        parts = native.parts
        if _paying.get(parts) is False:
            return None
        address = compiler.compile(parts)
        if address is None:
            return None
        nbytes = sum([a.size * a.dtype.itemsize for a in native._arrays])
        native.function = (_run_long if nbytes > _LONG else _run_shortly)(address)
        if parts not in _paying:
            _paying[parts] = native._pays()
        return native if _paying[parts] else None

    def repair(self, errors: int, array_of: Callable[[Ref], HostArray]) -> None:
        """Makes the calls by NumPy if it would report errors that have occurred.

        Args:
            errors: The errors that the native function has returned.
            array_of: Returns the array of a reference; of one that has no memory, a new one.
        """
        treatments = cast("dict[str, str]", numpy.geterr())
        if all([treatments[kind] == "ignore" for bit, kind in _ERRORS.items() if errors & bit]):
            return
        for ref, copy in self._kept:
            numpy.copyto(array_of(ref), array_of(copy))
        _make(_lines(self._calls, array_of))

    def table(self, array_of: Callable[[Ref], HostArray]) -> HostArray:
        """Returns the addresses of the arrays."""
        arrays = [array_of(a) if isinstance(a, Ref) else a for a in self._arrays]
        return numpy.array([a.__array_interface__["data"][0] for a in arrays], numpy.uintp)

    def _pays(self) -> bool:
        """Returns whether it computes the same as the calls, in less time."""
        memory: dict[Buffer, HostArray] = {}
        for ref in (*self.scratch, *[ref for call in self._calls for ref in call.references()]):
            nbytes = ref.offset + ref.extent()
            if ref.buffer not in memory or memory[ref.buffer].size < nbytes:
                memory[ref.buffer] = numpy.empty(nbytes, numpy.uint8)

        def array_of(ref: Ref) -> HostArray:
            return numpy.ndarray(ref.shape, ref.dtype, memory[ref.buffer], ref.offset, ref.strides)

        def fill(specials: Sequence[float]) -> None:
            for seed, ref in enumerate(self.reads):
                numbers = numpy.arange(ref.size) + seed
                if ref.dtype == bool:
                    values = numbers % 3 > 0
                else:
                    values = 1.0 + numbers % 13 / 7
                    # Others beside each, since it matters which one of two zeros is the larger.
                    some = numpy.roll(specials, seed)[: ref.size]
                    values[: len(some)] = some
                array_of(ref)[...] = values.reshape(ref.shape)

        table = self.table(array_of)
        pointer = ctypes.c_void_p(table.ctypes.data)
        lines = _lines(self._calls, array_of)
        results: list[list[HostArray]] = []
        runs = (lambda: self.function(pointer)), (lambda: _make(lines))
        with numpy.errstate(all="ignore"):
            for run in runs:
                fill((0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-41, -1.0))
                run()
                results.append([array_of(ref).copy() for ref in self.writes])
            fill(())
            native, calls = shortest_times(*runs)
        same = all([have_same_bits(a, b) for a, b in zip(*results, strict=True)])
        return same and native < _WORTH * calls


def _lines(calls: list[Call], array_of: Callable[[Ref], Any]) -> list[tuple[Any, ...]]:
    return [
        (
            call.kind,
            call.function,
            [array_of(a) if isinstance(a, Ref) else a for a in call.args],
            call.kwargs,
            array_of(next(references(call.out))),
        )
        for call in calls
    ]


def _make(lines: list[tuple[Any, ...]]) -> None:
    for kind, function, args, kwargs, out in lines:
        if kind is Kind.ASSIGN:
            numpy.copyto(out, function(*args, **kwargs))
        else:
            function(*args, **kwargs, out=out)


def _stored(entry: Entry) -> list[Ref]:
    stores = (1,) if isinstance(entry.part, Sum) else [i for _, i in entry.part.stores]
    return [entry.arrays[i] for i in stores]


def _loaded(entry: Entry) -> list[Ref]:
    loads = (0,) if isinstance(entry.part, Sum) else entry.part.loads
    return [entry.arrays[i] for i in loads if isinstance(entry.arrays[i], Ref)]


def _copy_of(ref: Ref) -> Ref:
    """Returns new memory for the values of a reference, laid out alike."""
    return Ref(Buffer(ref.extent()), 0, ref.shape, ref.strides, ref.dtype)


def _copying(ref: Ref, copy: Ref) -> Loop:
    nest = nest_of(ref.shape, [ref, copy])
    assert nest is not None  # its elements are neighbors, as in the loop that writes them
    masks = masks_of([ref, copy])
    dtype = "float32" if masks else ref.dtype.name
    return Loop(nest[0], dtype, nest[1], (0,), (), ((0, 1),), masks)
