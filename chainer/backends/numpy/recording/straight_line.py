"""Recorded calls as one Python function without branches."""

from __future__ import annotations

import ctypes
import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from chainer.backends.numpy.recording.kept_results import KeptBuffer, check_shape, laid_out
from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves, references, replaced
from chainer.backends.numpy.recording.opaque import conversion_to_memory
from chainer.backends.numpy.recording.planning import ALIGNMENT, Plan
from chainer.backends.numpy.recording.products import is_dot
from chainer.backends.numpy.recording.recurrences import AllSteps
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.tape import Call, Errors, Kind
from chainer.backends.numpy.recording.whole_calls import released, writes_to_memory
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber
from chainer.core.typing import HostArray

_ndarray: Any = numpy.ndarray

#: Functions whose result has the shape that it had, whatever the values are.
_FIXED_SHAPE = frozenset(
    (
        *(numpy.where, numpy.asarray, numpy.arange, numpy.zeros, numpy.ones, numpy.full),
        *(_ndarray.astype, _ndarray.__getitem__, _ndarray.copy, numpy.zeros_like),
    )
)

#: Functions that convert an array to the dtype of the result.
_CONVERSIONS = frozenset((numpy.asarray, _ndarray.astype, _ndarray.copy, numpy.copy))

#: NumPy wants the output of these by name.
_BY_NAME = frozenset((numpy.maximum, numpy.minimum))


#: Lines of one function. While Python compiles a function, each line takes 5 kB of memory.
_LONGEST_PART = 200


@dataclasses.dataclass(frozen=True)
class Interface:
    """The arguments and the results of a function of recorded calls.

    Attributes:
        arguments: References to all arguments.
        direct: Numbers of the arguments that calls take as they are. The others are copied to the
            memory of their references.
        outputs: References to all outputs.
        fresh: Numbers of the outputs that calls write to new arrays. The others are copied.
        numbers: Functions that return numbers, and the arrays that hold them.
        kept: Memory of results that calls get as kernels return them. Others are copied.
    """

    arguments: list[Ref]
    direct: list[int]
    outputs: list[Ref]
    fresh: list[int]
    numbers: list[tuple[Callable[[], float], Any]]
    kept: dict[Buffer, KeptBuffer]


class StraightLine:
    """Makes a function of recorded calls.

    Arrays, functions and constants become global names of the function: each call is one line.

    Args:
        calls: The calls.
        plan: Places of intermediate results.
        interface: Arguments and results.
        is_continued: Whether another program needs what kernels keep for later calls.

    Attributes:
        run: The function. It gets a sequence of arrays, and returns a list of new ones.
    """

    run: Callable[[Sequence[Any]], list[Any]]

    def __init__(
        self, calls: list[Call], plan: Plan, interface: Interface, is_continued: bool = False
    ) -> None:
        self._names: dict[str, Any] = {
            "copyto": numpy.copyto,
            "store": _store,
            "errstate": numpy.errstate,
            "ndarray": _ndarray,
            "contiguous": numpy.ascontiguousarray,
            "empty": numpy.empty,
            "laid_out": laid_out,
        }
        self._known: dict[Any, str] = {}
        self._plan = plan
        # Aligned, so that BLAS and NumPy find what they find in arrays of their own.
        memory = numpy.empty(plan.nbytes + ALIGNMENT, numpy.uint8)
        start = -memory.__array_interface__["data"][0] % ALIGNMENT
        self._memory = memory[start : start + plan.nbytes]
        self._names["memory"] = memory
        self._bytes: dict[Buffer, HostArray] = {}
        self._given: dict[Buffer, str] = {}
        for i in interface.direct:
            self._given[interface.arguments[i].buffer] = f"x{i}"
        for i in interface.fresh:
            self._given[interface.outputs[i].buffer] = f"y{i}"
        self._made = {x for call in calls for x in leaves(call.out) if isinstance(x, Held)}
        self._is_continued = is_continued
        self._held: dict[Held, str] = {}
        self._kept = interface.kept
        self._kept_names: dict[Any, str] = {}
        parts = self._parts(calls)
        if len(parts) == 1:
            lines = parts[0]
        else:
            # Results of kernels pass from part to part.
            names = [*self._held.values(), *self._kept_names.values()]
            shared = [f"global {', '.join(names)}"] if names else []
            given = ", ".join(self._given.values())
            lines = [f"part{i}({given})" for i in range(len(parts))]
            for i, part in enumerate(parts):
                self._compiled(f"part{i}", given, [*shared, *part])
        lines = [*self._entry(interface), *lines, *self._exit(interface)]
        self.run = self._compiled("run", "arguments", lines)

    def _entry(self, interface: Interface) -> list[str]:
        """Returns the lines that put arguments in their places and make arrays for results."""
        count = len(interface.arguments)
        lines = [f"{''.join([f'x{i}, ' for i in range(count)])} = arguments"] if count else []
        for i, ref in enumerate(interface.arguments):
            if i in interface.direct:
                other = f"x{i}.__class__ is not ndarray or x{i}.strides != {ref.strides!r}"
                lines.append(f"if {other}: x{i} = contiguous(x{i})")
            else:
                lines.append(f"copyto({self._name(ref.array, 'a')}, x{i})")
        for evaluate, array in interface.numbers:
            value = f"{self._name(evaluate, 'f')}()"
            lines.append(f"{self._name(array, 'a')}[()] = {value}")
        for i in interface.fresh:
            ref = interface.outputs[i]
            lines.append(f"y{i} = empty({ref.shape!r}, {self._name(ref.dtype, 'd')})")
        return lines

    def _exit(self, interface: Interface) -> list[str]:
        """Returns the line that returns the results."""
        results = [
            f"y{i}" if i in interface.fresh else f"{self._name(self.array(ref), 'a')}.copy()"
            for i, ref in enumerate(interface.outputs)
        ]
        return [f"return [{', '.join(results)}]"]

    def _parts(self, calls: list[Call]) -> list[list[str]]:
        """Returns the lines of all calls, in parts of limited length."""
        until = self._last_uses(calls)
        parts: list[list[str]] = [[]]
        errors: Errors = ()
        for index, call in enumerate(calls):
            if len(parts[-1]) >= _LONGEST_PART:
                parts.append([])
                errors = ()
            if call.errors and call.errors != errors:
                treatments = ", ".join([f"{kind}={value!r}" for kind, value in call.errors])
                parts[-1].append(f"with errstate({treatments}):")
            errors = call.errors
            lines = self._lines(call)
            lines += [f"{name} = None" for name in self._names_of(until.get(index, ()))]
            parts[-1] += [f"    {line}" if errors else line for line in lines]
        return parts

    def _compiled(self, name: str, parameters: str, lines: list[str]) -> Callable[..., Any]:
        """Returns a function that consists of given lines."""
        body = "\n    ".join(lines or ["pass"])
        code = compile(f"def {name}({parameters}):\n    {body}\n", "<recorded step>", "exec")
        exec(code, self._names)
        return self._names[name]

    def array(self, ref: Ref) -> HostArray:
        """Returns the array that a reference represents in the program."""
        if ref.array is not None:
            return ref.array
        buffer = ref.buffer
        data = self._bytes.get(buffer)
        if data is None:
            if buffer.memory is not None:
                data = _bytes_of(buffer.memory)
            else:
                offset = self._plan.offsets[buffer]
                data = self._memory[offset : offset + buffer.nbytes]
            self._bytes[buffer] = data
        return numpy.ndarray(ref.shape, ref.dtype, data, ref.offset, ref.strides)

    # -- names ------------------------------------------------------------------------------------

    def _name(self, value: Any, letter: str, key: Any = None) -> str:
        key = (letter, id(value)) if key is None else key
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{letter}{len(self._known)}"
            self._names[name] = value
        return name

    def _ref(self, ref: Ref) -> str:
        given = self._given.get(ref.buffer)
        if given is not None:
            return given
        if ref.buffer in self._kept:
            return self._kept_name(ref)
        key = ref.place()
        return self._known.get(key) or self._name(self.array(ref), "a", key)

    def _kept_name(self, ref: Ref) -> str:
        return self._kept_names.setdefault(ref.place(), f"k{len(self._kept_names)}")

    def _held_name(self, held: Held) -> str:
        if not self._is_own(held):
            # The object carries the value from the program that computes it to the other one.
            return f"{self._name(held, 'o')}.value"
        return self._held.setdefault(held, f"h{len(self._held)}")

    def _is_own(self, held: Held) -> bool:
        """Returns whether a value is computed and used by this program alone."""
        return held in self._made and not self._is_continued

    def _expression(self, value: Any) -> str:
        """Returns the Python expression of an argument."""
        if isinstance(value, Ref):
            return self._ref(value)
        if value is None or type(value) in (bool, int):
            return repr(value)
        found = list(leaves(value))
        if any([self._has_a_name(x) for x in found]):
            if isinstance(value, Held):
                return self._held_name(value)
            if type(value) in (tuple, list):
                parts = "".join([self._expression(v) + ", " for v in value])
                return f"({parts})" if type(value) is tuple else f"[{parts}]"
            raise NotRecordableError(f"a kernel gets what another one kept in a {type(value)}")
        whole = replaced(value, self.array)
        if any([isinstance(x, VaryingNumber) for x in found]):
            return f"{self._name(released, 'f')}({self._name(whole, 'c')})"
        self._names.setdefault("_alive", []).append(whole)  # its identity is a key
        return self._name(whole, "c")

    def _has_a_name(self, value: Any) -> bool:
        """Returns whether each repetition has another object for an argument."""
        if isinstance(value, Ref):
            return value.buffer in self._given or value.buffer in self._kept
        return isinstance(value, Held)

    # -- lines ------------------------------------------------------------------------------------

    def _native(self, call: Call) -> list[str]:
        """Returns the line that calls a native function, and NumPy if there are errors."""
        native: Any = call.function
        if isinstance(native, AllSteps):
            return [f"{self._name(native.prepared(self.array), 'f')}()"]
        table = native.table(self.array)
        self._names.setdefault("_alive", []).append(table)
        pointer = self._name(ctypes.c_void_p(table.ctypes.data), "t")

        def repair(errors: int) -> None:
            new: dict[Buffer, HostArray] = {}

            def array_of(ref: Ref) -> HostArray:
                buffer = ref.buffer
                if buffer.memory is not None or buffer in self._plan.offsets:
                    return self.array(ref)
                if buffer not in new:
                    new[buffer] = numpy.empty(buffer.nbytes, numpy.uint8)
                return numpy.ndarray(ref.shape, ref.dtype, new[buffer], ref.offset, ref.strides)

            native.repair(errors, array_of)

        function, repairing = self._name(native.function, "f"), self._name(repair, "f")
        return [f"r = {function}({pointer})", f"if r: {repairing}(r)"]

    def _lines(self, call: Call) -> list[str]:
        if call.kind is Kind.NATIVE:
            return self._native(call)
        function = self._function(call.function)
        args = [self._expression(a) for a in call.args]
        kwargs = [f"{name}={self._expression(value)}" for name, value in call.kwargs.items()]
        if call.kind is Kind.UFUNC:
            return [self._call_of_ufunc(call, function, args, kwargs)]
        if call.kind is Kind.OUT:
            return [f"{function}({', '.join([*args, *kwargs])}, out={self._expression(call.out)})"]
        into = conversion_to_memory(call.function) if call.kind is Kind.WHOLE else None
        if into is not None and isinstance(call.out, Ref):
            # Directly, since a copy of the converted array would be another pass over memory.
            return [f"{self._function(into)}({args[0]}, {self._expression(call.out)})"]
        if call.kind is Kind.WHOLE and self._is_given_memory(call):
            # Otherwise the result would be copied: as long as an update takes, for large weights.
            kwargs.append(f"out={self._expression(call.out)}")
        expression = f"{function}({', '.join([*args, *kwargs])})"
        if call.function is _ndarray.__getitem__:
            expression = f"{args[0]}[{args[1]}]"
        elif call.function is _ndarray.__setitem__:
            return [f"{args[0]}[{args[1]}] = {args[2]}"]
        if call.kind is Kind.WRITE or call.out is None:
            return [expression]
        if call.function in _CONVERSIONS and isinstance(call.args[0], Ref):
            return [f"copyto({self._expression(call.out)}, {args[0]}, 'unsafe')"]
        if call.kind is Kind.ASSIGN and call.function in _FIXED_SHAPE:
            return [f"copyto({self._expression(call.out)}, {expression})"]
        by = getattr(call.function, "__qualname__", type(call.function).__name__)
        return [f"r = {expression}", *self._stores(call.out, "r", by)]

    def _is_given_memory(self, call: Call) -> bool:
        """Returns whether a kernel writes directly to the memory of its result."""
        out = call.out
        if not isinstance(out, Ref) or not out.is_contiguous() or out.buffer in self._given:
            return False
        # Memory that is read at the same time must not be overwritten.
        read = {ref.buffer for ref in references((call.args, call.kwargs))}
        outer = self._plan.outer
        is_read = outer(out.buffer) in {outer(buffer) for buffer in read}
        return not is_read and writes_to_memory(call.function)

    def _call_of_ufunc(self, call: Call, function: str, args: list[str], kwargs: list[str]) -> str:
        outputs = [self._expression(o) for o in call.out]
        if is_dot(call):
            return f"{self._function(_ndarray.dot)}({', '.join([*args, *outputs])})"
        is_ufunc = isinstance(call.function, numpy.ufunc)
        if len(outputs) == 1 and not kwargs and is_ufunc and call.function not in _BY_NAME:
            # By position, which NumPy reads faster than by name.
            return f"{function}({', '.join([*args, *outputs])})"
        out = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"{function}({', '.join([*args, *kwargs, f'out={out}'])})"

    def _stores(self, out: Any, name: str, by: str) -> list[str]:
        """Returns the lines that put a result where later calls find it.

        Args:
            out: Where calls find it.
            name: Its name.
            by: The function that returned it, for messages.
        """
        if out is None:
            return []
        if isinstance(out, Held):
            return [f"{self._held_name(out)} = {name}"]
        if isinstance(out, Ref):
            if out.buffer in self._kept:
                return self._keeps(out, name, by)
            target = self._ref(out)
            return [f"if {name} is not {target}: store({target}, {name}, {by!r})"]
        lines: list[str] = []
        parts = [f"{name}_{i}" for i in range(len(out))]
        if parts:
            lines.append(f"{', '.join(parts)}, = {name}")
        for part, value in zip(parts, out, strict=True):
            lines += self._stores(value, part, by)
        return [*lines, *[f"{part} = None" for part in [name, *parts]]]

    def _keeps(self, out: Ref, name: str, by: str) -> list[str]:
        """Returns the lines that give a result, and views of it, their names."""
        target, dtype = self._kept_name(out), self._name(out.dtype, "d")
        is_own = f"{name}.__class__ is ndarray and {name}.base is None"
        expected = f"{out.shape!r}, {out.strides!r}, {dtype}"
        same = f"({name}.shape, {name}.strides, {name}.dtype) == ({expected})"
        other = f"laid_out({name}, {out.shape!r}, {dtype}, memory, {by!r})"
        lines = [f"{target} = {name} if {is_own} and {same} else {other}"]
        for ref in self._kept[out.buffer].views.values():
            given = f"{ref.shape!r}, {self._name(ref.dtype, 'd')}, {target}, {ref.offset}"
            lines.append(f"{self._kept_name(ref)} = ndarray({given}, {ref.strides!r})")
        return lines

    def _function(self, function: Callable[..., Any]) -> str:
        # Bound methods of ufuncs and kernels are made anew each time they are asked for.
        owner = getattr(function, "__self__", None)
        key = ("f", id(owner), getattr(function, "__name__", "")) if owner is not None else None
        return self._name(function, "f", key)

    def _last_uses(self, calls: list[Call]) -> dict[int, list[Held | Buffer]]:
        """Returns what each call needs last, of the results that repetitions make anew."""
        last: dict[Held | Buffer, int] = {}
        for index, call in enumerate(calls):
            for leaf in leaves((call.args, call.kwargs, call.out)):
                if isinstance(leaf, Held):
                    last[leaf] = index
                elif isinstance(leaf, Ref) and leaf.buffer in self._kept:
                    last[leaf.buffer] = index
        found: dict[int, list[Held | Buffer]] = {}
        for value, index in last.items():
            found.setdefault(index, []).append(value)
        return found

    def _names_of(self, values: Sequence[Held | Buffer]) -> list[str]:
        """Returns the names of results that are not needed any more."""
        names: list[str] = []
        for value in values:
            if isinstance(value, Buffer):
                kept = self._kept[value]
                names += [self._kept_names[place] for place in (*kept.made, *kept.views)]
            elif self._is_own(value):
                names.append(self._held_name(value))
        return names


def direct_arguments(calls: list[Call], arguments: list[Ref], others: set[Buffer]) -> list[int]:
    """Returns the numbers of the arguments that calls take as they are, without a copy.

    Args:
        calls: The calls.
        arguments: References to all arguments.
        others: Buffers that something else than the calls refers to.
    """
    places = {
        ref.buffer: ref.place() for ref in arguments if ref.is_whole() and ref.buffer not in others
    }
    for call in calls:
        for ref in references((call.args, call.kwargs)):
            if places.get(ref.buffer) not in (None, ref.place()):
                del places[ref.buffer]
        # A call that may write to the array must not get the user's array.
        for ref in written(call):
            places.pop(ref.buffer, None)
    return [i for i, ref in enumerate(arguments) if ref.buffer in places]


def fresh_outputs(
    calls: list[Call], outputs: list[Ref], parents: dict[Buffer, tuple[Buffer, int]]
) -> list[int]:
    """Returns the numbers of the outputs that calls write to a new array, instead of a copy.

    Args:
        calls: The calls.
        outputs: References to all outputs.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """
    whole = {parent for parent, _ in parents.values()}
    made = {ref.buffer for call in calls for ref in references(call.out)}
    shared = Counter([ref.buffer for ref in outputs])
    made -= {*whole, *parents, *[buffer for buffer, count in shared.items() if count > 1]}
    places = {
        ref.buffer: ref.place()
        for ref in outputs
        if ref.buffer in made and ref.buffer.memory is None and ref.is_whole()
    }
    for call in calls:
        for ref in call.references():
            if places.get(ref.buffer) not in (None, ref.place()):
                del places[ref.buffer]
    return [i for i, ref in enumerate(outputs) if ref.buffer in places]


def _bytes_of(array: Any) -> HostArray:
    """Returns the memory of an array that owns it."""
    return numpy.ndarray((array.nbytes,), numpy.uint8, array.ravel(order="K"))


def _store(target: Any, value: Any, by: str) -> None:
    """Copies a result of a function to the memory that has to hold it."""
    check_shape(value, target.shape, by)
    numpy.copyto(target, value)
