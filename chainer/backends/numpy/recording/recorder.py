"""The recorder of NumPy arrays."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from chainer.backends._cpu import CpuDevice
from chainer.backends.numpy.recording import opaque, whole_calls
from chainer.backends.numpy.recording.early_updates import with_early_updates
from chainer.backends.numpy.recording.flat_updates import FlatUpdates, UpdateCalls
from chainer.backends.numpy.recording.fused_calls import FusedProgram, with_fused_calls
from chainer.backends.numpy.recording.joining import with_joined_calls
from chainer.backends.numpy.recording.kept_results import kept_results
from chainer.backends.numpy.recording.memory import (
    Buffer,
    Held,
    Opaque,
    Ref,
    leaves,
    references,
    root,
)
from chainer.backends.numpy.recording.namespace import xp
from chainer.backends.numpy.recording.native_loops import (
    buffers_of_native,
    native_compiler,
    with_native_loops,
)
from chainer.backends.numpy.recording.planning import Plan
from chainer.backends.numpy.recording.portable import RecordedCalls, reference_kernels
from chainer.backends.numpy.recording.recurrences import AllSteps, with_recurrences
from chainer.backends.numpy.recording.row_sums import with_row_sums
from chainer.backends.numpy.recording.simplify import simplified, written
from chainer.backends.numpy.recording.straight_line import (
    Interface,
    StraightLine,
    direct_arguments,
    fresh_outputs,
)
from chainer.backends.numpy.recording.tape import (
    Kind,
    Tape,
    TapeArray,
    TapeNumber,
    bare,
    current,
    floating_point_errors,
)
from chainer.backends.numpy.recording.whole_calls import WholeCalls, may_be_fused
from chainer.core.arrays import lookup
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import Operation, Recording
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import (
    MemoryOfPrograms,
    NotRecordableError,
    Program,
    Recorder,
)
from chainer.core.config.configuration import threads
from chainer.core.lazy import resolve
from chainer.core.typing import Array

#: Operations whose steps are recorded if they are small, are small up to this size of their first
#: argument. Kernels divide larger ones into so many blocks that a call of the kernel costs nothing
#: beside them.
_MOST_BYTES_IN_STEPS = 8 << 20


#: Results of providers' kernels up to this size are computed by the steps of the reference, which
#: loops join with other calls. Kernels work on larger ones with several threads.
_MOST_BYTES_IN_LOOPS = 1 << 20


class StepsInLoops:
    """A provider's kernel of an exact operation, or the steps of the reference in native loops.

    A kernel makes a new array, which is then copied; loops write to planned memory, and take up
    what comes before and after. Numbers are the same, but for signs of zeros and NaN: so steps
    replace the kernel only where results may differ by roundings.

    Args:
        in_steps: Reference for arrays of recordings.
        whole: Kernel whose calls are recorded as they are.
        operation: The operation.
    """

    def __init__(self, in_steps: Any, whole: WholeCalls, operation: Operation) -> None:
        def chosen(name: str, *args: Any) -> Any:
            arrays = [a for a in args if hasattr(a, "dtype")]
            use_steps = (
                threads.state.policy.accelerates
                and all([type(a) is TapeArray and a.nbytes <= _MOST_BYTES_IN_LOOPS for a in arrays])
                and native_compiler() is not None
                # A kernel that computes the call in a pass of its own saves more.
                and not may_be_fused(operation.name, name)
            )
            return getattr(in_steps if use_steps else whole, name)(*args)

        self._whole = whole
        for name in operation.methods:
            setattr(self, name, partial(chosen, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)  # a method that the operation does not demand


class StepsIfSmall:
    """A kernel whose steps are recorded if the first argument is small, else its calls.

    Args:
        in_steps: Kernel for arrays of recordings.
        whole: Kernel whose calls are recorded as they are.
        methods: Names of its methods.
    """

    def __init__(self, in_steps: Any, whole: WholeCalls, methods: tuple[str, ...]) -> None:
        def chosen(name: str, array: Array, *args: Any, **kwargs: Any) -> Any:
            kernel = in_steps if array.nbytes <= _MOST_BYTES_IN_STEPS else whole
            return getattr(kernel, name)(array, *args, **kwargs)

        for name in methods:
            setattr(self, name, partial(chosen, name))


class RecordingBackend(Backend):
    """The backend of the arrays of recordings: NumPy arrays whose calls are kept."""

    name = "numpy-recording"
    array_types = (TapeArray,)
    family = lookup.HOST_FAMILY
    # An array that the step makes with NumPy, such as a state of zeros: calls on it are recorded.
    converts_inputs = True

    @property
    def xp(self) -> Any:
        """The namespace whose results are recorded."""
        return xp

    def devices(self) -> Sequence[Device]:
        """Returns the CPU: these arrays are on the device of NumPy's."""
        return (CpuDevice(),)

    def from_host(self, array: Array, device: Device) -> Array:
        """Returns the array as one of the recording, in the same memory."""
        return array.view(TapeArray)

    def to_host(self, array: Array) -> Array:
        """Returns the plain array, in the same memory."""
        return bare(array)

    def make_kernel(
        self, factory: Callable[[Backend], Any], operation: Operation, is_reference: bool
    ) -> Any:
        """Returns a kernel of which a call is one call on the tape, unless its steps pay."""
        recording = operation.recording
        if is_reference and recording is Recording.STEPS:
            return factory(self)
        plain = factory(lookup.get_backend("numpy"))
        if is_reference:
            reference_kernels[id(plain)] = operation.name, plain
        if recording is Recording.JOINED:
            return UpdateCalls(plain, factory(self) if is_reference else None)
        whole = WholeCalls(plain, operation)
        if is_reference and recording is Recording.SMALL_STEPS:
            return StepsIfSmall(factory(self), whole, operation.methods)
        if operation.is_exact:
            return StepsInLoops(resolve(operation.reference)(self), whole, operation)
        return whole


_ndarray = numpy.ndarray
_copyto = numpy.copyto
_empty = numpy.empty

_backend = RecordingBackend()
lookup.add_private_backend(TapeArray, _backend)
whole_calls.hold_opaque = partial(opaque.held_array, plain=_backend)


class NumpyProgram(Program):
    """Calls in fixed memory.

    Args:
        recorder: What was recorded.
        outputs: References to the arrays to return copies of.
    """

    def __init__(self, recorder: NumpyRecorder, outputs: list[Ref]) -> None:
        tape = recorder.tape
        updates = FlatUpdates(tape, tape.calls, recorder.owned)
        calls = updates.expanded()
        fixed = tape.buffers.in_objects
        fused = FusedProgram(calls, 0, True)
        if not recorder.is_continued:  # another program may read what passes from call to call
            fused = with_fused_calls(calls, outputs, updates.parents, fixed)
        calls = with_early_updates(fused.calls, updates.whole, updates.parents, fixed)
        calls = simplified(calls, outputs, set(updates.parents))
        self.moved = updates.moved
        arguments, parents = recorder.arguments, updates.parents
        if recorder.joins_calls:
            single = calls
            calls, parents = with_joined_calls(single, outputs, parents)
            self.is_exact = calls is single
        self.is_exact = self.is_exact and fused.is_exact and recorder.is_exact
        plain = Plan(calls, outputs, parents, set())
        made = with_row_sums(calls, outputs, parents, tape.buffers.in_objects)
        if recorder.joins_calls:
            single = made
            made = with_recurrences(single, outputs, parents)
            self.is_exact = self.is_exact and made is single
        # Steps that are made at once may take more memory, and leave loops what they would get.
        nbytes = max(plain.nbytes, Plan(made, outputs, parents, set()).nbytes)
        made = with_native_loops(made, arguments, outputs, parents, nbytes)
        native = buffers_of_native(made)
        others = {ref.buffer for ref in outputs} | tape.buffers.in_objects | native
        direct = direct_arguments(made, arguments, others)
        fresh = [
            i for i in fresh_outputs(made, outputs, parents) if outputs[i].buffer not in native
        ]
        kept = kept_results(made, others, parents)
        plan = Plan(made, outputs, parents, {outputs[i].buffer for i in fresh} | kept.keys())
        evaluated = [(number._evaluate, array) for number, array in tape.numbers.values()]
        interface = Interface(arguments, direct, outputs, fresh, evaluated, kept)
        self._run = StraightLine(made, plan, interface, recorder.is_continued).run
        self._recorded: RecordedCalls | None = None
        if not recorder.is_continued:
            numbers = list(tape.numbers.values())
            # A file of the step has the calls of NumPy.
            self._recorded = RecordedCalls(calls, plain, arguments, outputs, numbers)
            self._recorded.release(direct)
        #: Bytes of the memory of intermediate results.
        self.nbytes = plan.nbytes
        count = sum([call.kind is Kind.NATIVE for call in made])
        functions = f" and {count} native functions" if count else ""
        functions += f", {fused.count} of them fused" if fused.count else ""
        layers = sum([isinstance(call.function, AllSteps) for call in made])
        functions += f", {layers} of them all steps of a layer" if layers else ""
        self.description = (
            f"{len(made) - count} calls of NumPy{functions}, {plan.nbytes} bytes of intermediate "
            "results"
        )

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Repeats the calls; see :class:`~chainer.core.arrays.recorder.Program`."""
        return self._run(arguments)

    def portable(self, memory: MemoryOfPrograms) -> dict[str, Any]:
        """See :meth:`~chainer.core.arrays.recorder.Program.portable`."""
        if self._recorded is None:
            return super().portable(memory)
        return self._recorded.portable(memory)


class NumpyRecorder(Recorder):
    """Records the calls of NumPy that a step makes.

    Attributes:
        tape: The calls.
        arguments: References to the arrays that represent the arguments.
        owned: State arrays that only their place refers to, by the identity of its owner.
        is_continued: Whether another program reads what this one computes.
        joins_calls: Whether products of several steps are made as one, which rounds differently.
    """

    def __init__(self) -> None:
        self.tape = Tape()
        self.arguments: list[Ref] = []
        self.owned: dict[int, Array] = {}
        self.is_continued = False
        # Rounding may differ with providers of kernels, too.
        self.joins_calls = threads.state.policy.accelerates
        self._originals: list[Array] = []
        self._used: set[Buffer] | None = None
        self._program: NumpyProgram | None = None

    def argument(self, array: Array) -> Array:
        """See :meth:`Recorder.argument`."""
        buffer = numpy.array(array)  # a copy: the caller's array keeps its values
        self.arguments.append(self.tape.buffers.refer(buffer))
        self._originals.append(array)
        return buffer.view(TapeArray)

    def state(self, array: Array) -> Array:
        """See :meth:`Recorder.state`."""
        return array.view(TapeArray)

    def own(self, array: Array) -> None:
        """See :meth:`Recorder.own`."""
        # Large states are parts of memory that nothing else refers to: the array and getrefcount().
        if array.base is None or sys.getrefcount(array.base) <= 2:
            self.owned[id(root(array))] = array

    def moved(self) -> Sequence[tuple[Array, Array]]:
        """See :meth:`Recorder.moved`."""
        if self._program is None:
            return ()
        # The old arrays are not kept alive.
        moved, self._program.moved = self._program.moved, []
        return moved

    def kept(self) -> str | None:
        """See :meth:`Recorder.kept`."""
        if any(True for _ in self.tape.arrays.values()):
            gc.collect()  # graphs are cycles
        left = [f"{array.dtype}{list(array.shape)}" for array in self.tape.arrays.values()]
        return left[0] if left else None

    def number(self, evaluate: Callable[[], float]) -> float:
        """See :meth:`Recorder.number`."""
        return TapeNumber.of(evaluate)

    def run(self, function: Callable[[], Any]) -> Any:
        """See :meth:`Recorder.run`."""
        if current.tape is not None:
            raise NotRecordableError("another step is being recorded")
        current.tape = self.tape
        self.tape.errors = floating_point_errors()
        try:
            result = function()
        finally:
            current.tape = None
        for ref, original in zip(self.arguments, self._originals, strict=True):
            if ref.array.tobytes() != original.tobytes():
                raise NotRecordableError("an argument is changed in place")
        return result

    def continued(self) -> Recorder:
        """See :meth:`Recorder.continued`."""
        self.is_continued = True
        self.tape.buffers.pin_all()
        return NumpyRecorder()

    def program(self, outputs: Sequence[Array]) -> Program:
        """See :meth:`Recorder.program`."""
        refer = self.tape.buffers.refer
        outputs = self._plain_outputs(outputs)
        self._program = NumpyProgram(self, [refer(bare(y)) for y in outputs])
        # What only the recording needed: calls, copies of arguments, gradients of the call before.
        self.tape.release()
        self.arguments, self._originals, self._used = [], [], None
        return self._program

    def _plain_outputs(self, outputs: Sequence[Array]) -> Sequence[Array]:
        """Returns the outputs as NumPy arrays: the program converts layouts of providers."""
        current.tape = self.tape
        try:
            return [y.plain() if isinstance(y, Opaque) else y for y in outputs]
        finally:
            current.tape = None

    def is_recorded(self, array: object) -> bool:
        """See :meth:`Recorder.is_recorded`."""
        if isinstance(array, (TapeArray, Opaque)):
            return True
        # numpy.asarray() makes a plain view of an array of the recording.
        return isinstance(array, numpy.ndarray) and isinstance(array.base, TapeArray)

    def reads(self, array: Array) -> bool:
        """Returns whether a recorded call refers to the memory of an array."""
        if self._used is None:
            self._used = {ref.buffer for call in self.tape.calls for ref in call.references()}
        buffer = self.tape.buffers.of(bare(array))
        return buffer in self._used or buffer in self.tape.buffers.in_objects

    def depends_on(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """See :meth:`Recorder.depends_on`; follows the values through all calls."""
        of = self.tape.buffers.of
        reached = {of(bare(array)) for array in arrays}
        if reached & self.tape.buffers.in_objects:
            return True
        for call in self.tape.calls:
            if reached.isdisjoint([r.buffer for r in references((call.args, call.kwargs))]):
                continue
            targets = {ref.buffer for ref in written(call)}
            is_held = any([isinstance(leaf, Held) for leaf in leaves(call.out)])
            lasting = [b for b in targets if b.memory is not None and b not in reached]
            if call.kind is Kind.UPDATE or is_held or lasting:
                return True
            reached |= targets
        return any([of(bare(y)) in reached for y in outputs])

    def forget(self, argument: Array) -> bool:
        """See :meth:`Recorder.forget`."""
        if self.reads(argument):
            return False
        owner = root(bare(argument))
        self.arguments = [ref for ref in self.arguments if ref.buffer.memory is not owner]
        return True

    def plain(self, array: Array) -> Array:
        """See :meth:`Recorder.plain`."""
        return numpy.array(bare(array))
