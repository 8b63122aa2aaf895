"""Native loops of recorded steps: elementwise calls and sums as code of LLVM.

The code is written here, not compiled from Python: that takes milliseconds for a loop, where Numba
takes a third of a second. Vector instructions are explicit, so that LLVM need not prove that arrays
share no memory, which it gives up for more than a few arrays. No instruction has flags of fast
arithmetic: products and sums are not contracted, and all results have the bits of NumPy.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
from chainer.backends.operations.loops import Loop, Sum

from chainer_numba.native_code import loaded
from chainer_numba.step_calls import CALLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chainer.backend import Backend
    from chainer.kernel import ArraySpec, Recurrence
    from chainer.typing import Array

#: Bits of <fenv.h> by processor, for division by zero, overflow, underflow and invalid.
_ERRORS = {
    **dict.fromkeys(("x86_64", "AMD64"), (4, 8, 16, 1)),
    **dict.fromkeys(("aarch64", "arm64"), (2, 4, 8, 1)),
}

#: Bytes of a vector. Processors with shorter ones take several instructions.
_VECTOR = 64

#: Longer sums would need more code.
_LONGEST_SUM = 1 << 14

_BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
#: Comparisons, by names of NumPy and of LLVM. All but the last are false for NaN.
_COMPARISONS = {
    "greater": "ogt",
    "greater_equal": "oge",
    "less": "olt",
    "less_equal": "ole",
    "equal": "oeq",
    "not_equal": "une",
}
_TYPES = {"float32": ("float", 4), "float64": ("double", 8)}


class NativeLoopsKernel:
    """Kernel of ``native_loops``.

    It makes all steps of a recurrent layer in one call, too.

    Args:
        backend: Backend of the arrays.
    """

    step_calls = CALLS

    def __init__(self, backend: Backend) -> None:
        self._addresses: dict[tuple[Loop | Sum, ...], int | None] = {}

    def compile(self, parts: tuple[Loop | Sum, ...]) -> int | None:
        """Returns the address of a function that runs loops; see the operation."""
        if parts not in self._addresses:
            self._addresses[parts] = self._compiled(parts)
        return self._addresses[parts]

    def supports_steps(
        self, recurrence: Recurrence, steps: Mapping[str, Sequence[ArraySpec | None]]
    ) -> bool | str:
        """Returns whether all steps are made in one call, or why not; see the operation."""
        from chainer_numba import step_programs

        return step_programs.are_suitable(recurrence, steps)

    def all_steps(
        self, recurrence: Recurrence, steps: Mapping[str, Sequence[Array | None]]
    ) -> Callable[[], None]:
        """Returns a function that makes all steps; see the operation."""
        from chainer_numba import step_programs

        return step_programs.AllSteps(recurrence, steps)

    def _compiled(self, parts: tuple[Loop | Sum, ...]) -> int | None:
        errors = _ERRORS.get(platform.machine())
        long = any([isinstance(part, Sum) and part.shape[1] > _LONGEST_SUM for part in parts])
        if errors is None or long or not _has_status_functions():
            return None
        return loaded(_Code(errors).of(parts), "run")[0]


@cache
def _has_status_functions() -> bool:
    """Makes the functions of C that tell floating-point errors known to LLVM."""
    try:
        library = ctypes.CDLL(None)
        for name in ("feclearexcept", "fetestexcept"):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            llvm.add_symbol(name, address)
    except (AttributeError, OSError, TypeError):
        return False  # Windows has others
    return True


def _of_lanes(kind: str, lanes: int) -> str:
    return kind if lanes == 1 else f"<{lanes} x {kind}>"


# -- writing code ---------------------------------------------------------------------------------


class _Code:
    """Writes one function.

    Args:
        errors: Bits of floating-point errors of the C library.
    """

    def __init__(self, errors: tuple[int, ...]) -> None:
        self._errors = errors
        self._lines: list[str] = []
        self._functions: dict[str, list[str]] = {}
        self._declared = {
            "declare i32 @feclearexcept(i32)",
            "declare i32 @fetestexcept(i32)",
        }
        self._count = 0
        self._block = "entry"

    def of(self, parts: tuple[Loop | Sum, ...]) -> str:
        """Returns the code of a function ``run`` that runs loops one after the other."""
        mask = sum(self._errors)
        self._value(f"call i32 @feclearexcept(i32 {mask})")
        first = 0
        for part in parts:
            arrays = [self._pointer(first + i) for i in range(len(part.strides))]
            first += len(arrays)
            if isinstance(part, Loop):
                self._write_loop(part, arrays)
            else:
                self._write_sum(part, arrays)
        found = self._value(f"call i32 @fetestexcept(i32 {mask})")
        result = "0"
        for i, bit in enumerate(self._errors):
            is_set = self._value(f"icmp ne i32 {self._value(f'and i32 {found}, {bit}')}, 0")
            added = self._value(f"select i1 {is_set}, i32 {1 << i}, i32 0")
            result = self._value(f"or i32 {result}, {added}")
        body = [
            "define i32 @run(ptr %arrays) {",
            "entry:",
            *self._lines,
            f"  ret i32 {result}",
            "}",
        ]
        functions = [line for lines in self._functions.values() for line in lines]
        return "\n".join([*sorted(self._declared), *functions, *body, ""])

    # -- parts of code

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _value(self, instruction: str) -> str:
        name = f"%{self._name()}"
        self._lines.append(f"  {name} = {instruction}")
        return name

    def _pointer(self, i: int) -> str:
        place = self._value(f"getelementptr ptr, ptr %arrays, i64 {i}")
        return self._value(f"load ptr, ptr {place}")

    def _moved(self, pointer: str, index: str, stride: int) -> str:
        if stride == 0 or index == "0":
            return pointer
        offset = self._value(f"mul i64 {index}, {stride}")
        return self._value(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    @contextmanager
    def _repeated(self, count: int) -> Iterator[str]:
        """Writes a loop; yields the name of its index."""
        if count == 1:
            yield "0"
            return
        head, latch, done = self._name(), self._name(), self._name()
        index, following = f"%{self._name()}", f"%{self._name()}"
        before = self._block
        self._lines += [
            f"  br label %{head}",
            f"{head}:",
            f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ]",
        ]
        self._block = head
        yield index
        self._lines += [
            f"  br label %{latch}",
            f"{latch}:",
            f"  {following} = add i64 {index}, 1",
            f"  %{done}.c = icmp ult i64 {following}, {count}",
            f"  br i1 %{done}.c, label %{head}, label %{done}",
            f"{done}:",
        ]
        self._block = done

    def _nest(
        self,
        shape: tuple[int, ...],
        strides: list[Any],
        pointers: list[str],
        body: Callable[..., None],
    ) -> None:
        """Writes nested loops over the outer axes."""
        if not shape:
            body(pointers)
            return
        with self._repeated(shape[0]) as index:
            moved = [self._moved(p, index, s[0]) for p, s in zip(pointers, strides, strict=True)]
            self._nest(shape[1:], [s[1:] for s in strides], moved, body)

    def _along(self, count: int, lanes: int, body: Callable[[str, int], None]) -> None:
        """Writes vectors and what is left of a row.

        Args:
            count: Number of elements.
            lanes: Number of elements of a vector.
            body: Writes the work at an index, for a number of elements.
        """
        whole = count // lanes
        if whole:
            with self._repeated(whole) as index:
                scaled = "0" if index == "0" else self._value(f"mul i64 {index}, {lanes}")
                body(scaled, lanes)
        if count % lanes:
            with self._repeated(count % lanes) as index:
                place = self._value(f"add i64 {index}, {whole * lanes}")
                body(place, 1)

    def _splat(self, scalar: str, kind: str, lanes: int) -> str:
        if lanes == 1:
            return scalar
        vector = f"<{lanes} x {kind}>"
        one = self._value(f"insertelement {vector} zeroinitializer, {kind} {scalar}, i64 0")
        return self._value(
            f"shufflevector {vector} {one}, {vector} zeroinitializer, "
            f"<{lanes} x i32> zeroinitializer"
        )

    # -- loops

    def _write_loop(self, loop: Loop, arrays: list[str]) -> None:
        kind, size = _TYPES[loop.dtype]
        shape, strides = loop.shape or (1,), [s or (0,) for s in loop.strides]
        kinds = {i: "i1" if i in loop.masks else kind for i in loop.loads}

        def row(pointers: list[str]) -> None:
            repeated = {
                i: self._loaded(pointers[i], kinds[i], size, i in loop.masks)
                for i in loop.loads
                if strides[i][-1] == 0
            }

            def element(index: str, lanes: int) -> None:
                vector, truths = _of_lanes(kind, lanes), _of_lanes("i1", lanes)
                # Each value with its type.
                values: list[tuple[str, str]] = []
                places = {
                    i: self._moved(p, index, 1 if i in loop.masks else size)
                    if strides[i][-1]
                    else p
                    for i, p in enumerate(pointers)
                }
                for i in loop.loads:
                    of = _of_lanes(kinds[i], lanes)
                    if i in repeated:
                        values.append((self._splat(repeated[i], kinds[i], lanes), of))
                    else:
                        values.append((self._loaded(places[i], of, size, i in loop.masks), of))
                for name, operands in loop.steps:
                    values.append(self._step(name, vector, truths, [values[i] for i in operands]))
                for value, i in loop.stores:
                    self._store(*values[value], places[i], vector, size, i in loop.masks)

            self._along(shape[-1], _VECTOR // size, element)

        self._nest(shape[:-1], strides, arrays, row)

    def _loaded(self, place: str, kind: str, size: int, is_mask: bool) -> str:
        if not is_mask:
            return self._value(f"load {kind}, ptr {place}, align {size}")
        bytes_ = kind.replace("i1", "i8")
        value = self._value(f"load {bytes_}, ptr {place}, align 1")
        return self._value(
            f"icmp ne {bytes_} {value}, {'0' if kind == 'i1' else 'zeroinitializer'}"
        )

    def _store(
        self, value: str, kind: str, place: str, vector: str, size: int, is_mask: bool
    ) -> None:
        if is_mask:
            bytes_ = kind.replace("i1", "i8")
            value = self._value(f"zext {kind} {value} to {bytes_}")
            self._lines.append(f"  store {bytes_} {value}, ptr {place}, align 1")
        else:
            value = self._number((value, kind), vector)
            self._lines.append(f"  store {vector} {value}, ptr {place}, align {size}")

    def _number(self, operand: tuple[str, str], vector: str) -> str:
        """Returns a value as a number."""
        value, kind = operand
        return value if kind == vector else self._value(f"uitofp {kind} {value} to {vector}")

    def _step(
        self, name: str, vector: str, truths: str, operands: list[tuple[str, str]]
    ) -> tuple[str, str]:
        """Returns a value and its type."""
        if name == "where":
            condition, *rest = operands
            a, b = [self._number(x, vector) for x in rest]
            chosen = f"select {truths} {condition[0]}, {vector} {a}, {vector} {b}"
            return self._value(chosen), vector
        numbers = [self._number(x, vector) for x in operands]
        if name in _COMPARISONS:
            return self._value(f"fcmp {_COMPARISONS[name]} {vector} {', '.join(numbers)}"), truths
        return self._arithmetic(name, vector, truths, numbers), vector

    def _arithmetic(self, name: str, vector: str, truths: str, operands: list[str]) -> str:
        if name in _BINARY:
            return self._value(f"{_BINARY[name]} {vector} {', '.join(operands)}")
        if name in ("maximum", "minimum"):
            a, b = operands
            # The second one of equal operands, as vector instructions choose.
            is_beyond = self._value(
                f"fcmp {'ogt' if name == 'maximum' else 'olt'} {vector} {a}, {b}"
            )
            is_nan = self._value(f"fcmp uno {vector} {a}, {a}")
            is_first = self._value(f"or {truths} {is_beyond}, {is_nan}")
            return self._value(f"select {truths} {is_first}, {vector} {a}, {vector} {b}")
        if name == "negative":
            return self._value(f"fneg {vector} {operands[0]}")
        if name in ("sqrt", "absolute"):
            intrinsic = "sqrt" if name == "sqrt" else "fabs"
            suffix = vector.strip("<>").replace(" x ", "").replace("float", "f32")
            suffix = suffix.replace("double", "f64")
            suffix = f"v{suffix}" if vector[0] == "<" else suffix
            self._declared.add(f"declare {vector} @llvm.{intrinsic}.{suffix}({vector})")
            return self._value(f"call {vector} @llvm.{intrinsic}.{suffix}({vector} {operands[0]})")
        return operands[0]  # positive

    # -- sums

    def _write_sum(self, part: Sum, arrays: list[str]) -> None:
        kind, size = _TYPES[part.dtype]
        (outer, length, inner), (source, target) = part.shape, part.strides
        with self._repeated(outer) as i:
            x, y = self._moved(arrays[0], i, source[0]), self._moved(arrays[1], i, target[0])
            if inner == 1:
                total = self._value(f"call {kind} @{self._pairwise(kind, size, length)}(ptr {x})")
                total = self._value(f"fadd {kind} {total}, 0.0")
                self._lines.append(f"  store {kind} {total}, ptr {y}, align {size}")
                return

            def column(index: str, lanes: int) -> None:
                vector = kind if lanes == 1 else f"<{lanes} x {kind}>"
                place, total = self._moved(x, index, size), "zeroinitializer"
                if lanes == 1:
                    total = "0.0"
                total = self._summed(place, vector, total, length, source[1], size)
                at = self._moved(y, index, size)
                self._lines.append(f"  store {vector} {total}, ptr {at}, align {size}")

            self._along(inner, _VECTOR // size, column)

    def _summed(
        self, place: str, vector: str, start: str, count: int, stride: int, size: int
    ) -> str:
        """Adds vectors one after the other; returns the sum."""
        if count == 1:
            value = self._value(f"load {vector}, ptr {place}, align {size}")
            return self._value(f"fadd {vector} {start}, {value}")
        head, done = self._name(), self._name()
        index, following, total = [f"%{self._name()}" for _ in range(3)]
        result = f"%{self._name()}"
        before = self._block
        self._lines += [
            f"  br label %{head}",
            f"{head}:",
            f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{head} ]",
            f"  {total} = phi {vector} [ {start}, %{before} ], [ {result}, %{head} ]",
        ]
        at = self._moved(place, index, stride)
        value = self._value(f"load {vector}, ptr {at}, align {size}")
        self._lines += [
            f"  {result} = fadd {vector} {total}, {value}",
            f"  {following} = add i64 {index}, 1",
            f"  %{done}.c = icmp ult i64 {following}, {count}",
            f"  br i1 %{done}.c, label %{head}, label %{done}",
            f"{done}:",
        ]
        self._block = done
        return result

    def _pairwise(self, kind: str, size: int, count: int) -> str:
        """Writes a function that sums neighbors as NumPy does; returns its name."""
        name = f"sum_{kind}_{count}"
        if name in self._functions:
            return name
        self._functions[name] = []  # before the functions that it calls
        lines, self._lines = self._lines, []
        block, self._block = self._block, "entry"
        if count > 128:
            half = count // 2
            half -= half % 8
            left, right = [self._pairwise(kind, size, n) for n in (half, count - half)]
            a = self._value(f"call {kind} @{left}(ptr %x)")
            place = self._value(f"getelementptr i8, ptr %x, i64 {half * size}")
            b = self._value(f"call {kind} @{right}(ptr {place})")
            total = self._value(f"fadd {kind} {a}, {b}")
        else:
            total = self._short_sum(kind, size, count)
        self._functions[name] = [
            f"define internal {kind} @{name}(ptr %x) {{",
            *("entry:", *self._lines, f"  ret {kind} {total}", "}"),
        ]
        self._lines, self._block = lines, block
        return name

    def _short_sum(self, kind: str, size: int, count: int) -> str:
        eights = count // 8
        if eights:
            vector = f"<8 x {kind}>"
            partial = self._value(f"load {vector}, ptr %x, align {size}")
            if eights > 1:
                place = self._value(f"getelementptr i8, ptr %x, i64 {8 * size}")
                partial = self._summed(place, vector, partial, eights - 1, 8 * size, size)
            r = [self._value(f"extractelement {vector} {partial}, i64 {i}") for i in range(8)]
            while len(r) > 1:
                r = [self._value(f"fadd {kind} {a}, {b}") for a, b in zip(r[::2], r[1::2])]
            total = r[0]
        else:
            total = self._value(f"load {kind}, ptr %x, align {size}")
        for i in range(eights * 8 if eights else 1, count):
            place = self._value(f"getelementptr i8, ptr %x, i64 {i * size}")
            value = self._value(f"load {kind}, ptr {place}, align {size}")
            total = self._value(f"fadd {kind} {total}, {value}")
        return total
