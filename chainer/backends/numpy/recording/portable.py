"""Programs as data of JSON: the form in which a file of a captured step holds them.

``chainer_step_player`` runs them. It knows the calls of NumPy that a file may name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy

import chainer_step_player
from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves
from chainer.backends.numpy.recording.planning import Plan
from chainer.backends.numpy.recording.tape import Call, TapeNumber
from chainer.core.arrays.recorder import MemoryOfPrograms, NotRecordableError, VaryingNumber
from chainer.core.typing import DType

_ndarray: Any = numpy.ndarray

#: Names of the operations of reference kernels for NumPy arrays, by the kernel's identity. Kernels
#: live as long as the process.
reference_kernels: dict[int, tuple[str, object]] = {}

#: Named tuples of these modules are arguments of kernels, such as the geometry of a pooling.
_RECORDS = "chainer.backends.operations."

Json = Any


@dataclasses.dataclass
class RecordedCalls:
    """The parts of a program.

    Attributes:
        calls: The calls.
        plan: Places of intermediate results.
        arguments: References to the arguments.
        outputs: References to the results.
        numbers: Numbers, and the arrays that hold them.
    """

    calls: list[Call]
    plan: Plan
    arguments: list[Ref]
    outputs: list[Ref]
    numbers: list[tuple[TapeNumber, Any]]

    def release(self, direct: Iterable[int]) -> None:
        """Gives up values of the recorded run, which only it needed.

        Args:
            direct: Numbers of the arguments that the program gets as they are.
        """
        unused = {self.arguments[i].buffer for i in direct}
        for call in self.calls:
            for leaf in leaves((call.args, call.kwargs, call.out)):
                if isinstance(leaf, Held):
                    leaf.value = None
                elif isinstance(leaf, Ref) and leaf.buffer in unused:
                    leaf.array = None
        for ref in self.arguments:
            if ref.buffer in unused:
                ref.array = ref.buffer.memory = None

    def portable(self, memory: MemoryOfPrograms) -> dict[str, Json]:
        """Returns the program as data of JSON; see :meth:`Program.portable`."""
        return _Encoder(self, memory).encoded()


class _Encoder:
    """Encodes one program."""

    def __init__(self, recorded: RecordedCalls, memory: MemoryOfPrograms) -> None:
        self._recorded, self._memory = recorded, memory
        self._buffers: dict[Buffer, int] = {}
        self._places: list[list[Json]] = []
        self._held: dict[Held, int] = {}
        self._scalars: dict[int, tuple[int, VaryingNumber]] = {}

    def encoded(self) -> dict[str, Json]:
        recorded = self._recorded
        numbers = []
        for number, array in recorded.numbers:
            index = self._memory.index(array)
            self._places.append(["memory", index])
            place = [len(self._places) - 1, 0, [], [], _dtype(array.dtype)]
            numbers.append([self._memory.formula(number), place])
        for ref in recorded.arguments:  # the file has no need of their values
            self._buffers[ref.buffer] = len(self._places)
            self._places.append(["own", ref.buffer.nbytes])
        inputs = [self._place(ref) for ref in recorded.arguments]
        calls = [self._call(call) for call in recorded.calls]
        outputs = [self._place(ref) for ref in recorded.outputs]
        return {
            "inputs": inputs,
            "numbers": numbers,
            "calls": calls,
            "outputs": outputs,
            "scalars": [self._memory.formula(number) for _, number in self._scalars.values()],
            "buffers": self._places,
            "scratch": recorded.plan.nbytes,
        }

    def _place(self, ref: Ref) -> list[Json]:
        buffer = ref.buffer
        index = self._buffers.get(buffer)
        if index is None:
            index = self._buffers[buffer] = len(self._places)
            if buffer.memory is not None:
                place = ["memory", self._memory.index(buffer.memory)]
            elif buffer in self._recorded.plan.offsets:
                place = ["scratch", self._recorded.plan.offsets[buffer], buffer.nbytes]
            else:
                place = ["own", buffer.nbytes]
            self._places.append(place)
        return [index, ref.offset, list(ref.shape), list(ref.strides), _dtype(ref.dtype)]

    def _call(self, call: Call) -> list[Json]:
        kwargs = [[name, self._value(value)] for name, value in call.kwargs.items()]
        args = [self._value(a) for a in call.args]
        out = None if call.out is None else self._value(call.out)
        return [call.kind.name, name_of(call.function), args, kwargs, out, list(call.errors)]

    def _value(self, value: Any) -> Json:
        if isinstance(value, Ref):
            return {"array": self._place(value)}
        if isinstance(value, _ndarray):  # a number, see simplify._with_arrays
            index = self._memory.index(value)
            self._places.append(["memory", index])
            place = [len(self._places) - 1, 0, list(value.shape), list(value.strides)]
            return {"array": [*place, _dtype(value.dtype)]}
        if type(value) in (tuple, list):
            return {type(value).__name__: [self._value(v) for v in value]}
        if type(value) is dict:
            return {"dict": [[str(k), self._value(v)] for k, v in value.items()]}
        if isinstance(value, Held):
            return {"held": self._held.setdefault(value, len(self._held))}
        if isinstance(value, VaryingNumber):
            found = self._scalars.setdefault(id(value), (len(self._scalars), value))
            return {"scalar": found[0]}
        if isinstance(value, slice):
            return {"slice": [self._value(v) for v in (value.start, value.stop, value.step)]}
        cls: type[Any] = type(value)
        if cls.__module__.startswith(_RECORDS) and hasattr(value, "_fields"):
            name = f"{cls.__module__.removeprefix(_RECORDS)}.{cls.__qualname__}"
            return {"record": [name, [self._value(v) for v in value]]}
        return _constant(value)


def _constant(value: Any) -> Json:
    """Returns the form of a value that is the same in each run and has no parts."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if value is Ellipsis:
        return {"ellipsis": None}
    if isinstance(value, numpy.dtype):
        return {"dtype": _dtype(value)}
    if isinstance(value, type) and issubclass(value, (numpy.generic, bool, int, float)):
        return {"dtype": _dtype(numpy.dtype(value))}
    if isinstance(value, (numpy.bool_, numpy.integer, numpy.floating)):
        return {"number": [_dtype(value.dtype), value.item()]}
    raise NotRecordableError(f"a call gets a {type(value).__name__}, which a file cannot hold")


def _dtype(dtype: DType) -> str:
    name = dtype.str
    if dtype.hasobject or numpy.dtype(name) != dtype:
        raise NotRecordableError(f"a file of a step cannot hold arrays of {dtype}")
    return name


def name_of(function: Any) -> str:
    """Returns the name of the function of a call.

    Raises:
        NotRecordableError: If a file cannot name it.
    """
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    found = ""
    if isinstance(function, numpy.ufunc):
        found = f"ufunc:{name}"
    elif isinstance(owner, numpy.ufunc):
        found = f"ufunc:{owner.__name__}.{name}"
    elif isinstance(owner, numpy.random.RandomState):
        found = f"random:{name}"
    elif id(owner) in reference_kernels:
        return f"kernel:{reference_kernels[id(owner)][0]}.{name}"
    elif getattr(_ndarray, name, None) is function:
        found = f"method:{name}"
    else:
        for prefix, module in ("", numpy), ("linalg.", numpy.linalg), ("fft.", numpy.fft):
            if getattr(module, name, None) is function:
                found = f"function:{prefix}{name}"
                break
    try:
        known = chainer_step_player.resolve(found, numpy.random)
    except chainer_step_player.StepFileError:
        known = None
    # A ufunc of another library may have the name of one of NumPy's.
    if known is None or (known is not function and known != function):
        module = getattr(function, "__module__", None) or type(owner).__module__
        raise NotRecordableError(f"it calls {module}.{name}(), which files of steps do not know")
    return found
