"""The recorder of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from chainer.backends._cpu import CpuDevice
from chainer.backends.numpy.recording.namespace import xp
from chainer.backends.numpy.recording.tape import (
    Tape,
    TapeArray,
    TapeNumber,
    bare,
    current,
    record_whole,
    root,
)
from chainer.core.arrays import lookup
from chainer.core.arrays.device import Device
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import NotRecordableError, Program, Recorder
from chainer.core.typing import Array

#: Operations of which every call of NumPy is recorded. They are chains of elementwise calls, whose
#: results then need no new memory. Kernels of the others may look at values, or choose other ways
#: for large arrays: they are recorded as a whole.
_IN_STEPS = frozenset(
    (
        *("sgd_update", "momentum_sgd_update", "corrected_momentum_sgd_update", "adam_update"),
        *("nesterov_ag_update", "ada_grad_update", "ada_delta_update", "rmsprop_update"),
        *("rmsprop_graves_update", "smorms3_update", "msvag_update"),
        *("dropout", "linear", "log_softmax", "relu", "softmax", "batch_normalization"),
        *("softmax_cross_entropy", "sigmoid", "tanh", "fixed_batch_normalization"),
    )
)


class WholeCalls:
    """A kernel whose calls are put on the tape as they are.

    Args:
        kernel: Kernel for plain arrays.
        methods: Names of its methods.
    """

    def __init__(self, kernel: Any, methods: tuple[str, ...]) -> None:
        self._kernel = kernel
        for name in methods:
            method = getattr(kernel, name)
            setattr(self, name, partial(record_whole, method))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


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
        self, factory: Callable[[Backend], Any], operation: Any, is_reference: bool
    ) -> Any:
        """Returns a kernel of which a call is one call on the tape, unless its steps pay."""
        if is_reference and operation.name in _IN_STEPS:
            return factory(self)
        return WholeCalls(factory(lookup.get_backend("numpy")), operation.methods)


lookup.add_private_backend(TapeArray, RecordingBackend())


class NumpyProgram(Program):
    """Calls in fixed memory.

    Args:
        tape: What was recorded.
        arguments: The arrays that represent the arguments.
        outputs: The arrays to return copies of.
    """

    def __init__(self, tape: Tape, arguments: list[Array], outputs: list[Array]) -> None:
        self._calls = tape.calls
        self._numbers = list(tape.numbers.values())
        self._arguments = arguments
        self._outputs = outputs
        self.description = f"{len(tape.calls)} calls of NumPy"

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Repeats the calls; see :class:`~chainer.core.arrays.recorder.Program`."""
        copyto = numpy.copyto
        for buffer, array in zip(self._arguments, arguments, strict=True):
            copyto(buffer, array)
        for number, array in self._numbers:
            array[...] = number._evaluate()
        for call in self._calls:
            call()
        return [array.copy() for array in self._outputs]


class NumpyRecorder(Recorder):
    """Records the calls of NumPy that a step makes."""

    def __init__(self) -> None:
        self._tape = Tape()
        self._arguments: list[Array] = []

    def argument(self, array: Array) -> Array:
        """See :meth:`Recorder.argument`."""
        buffer = numpy.array(array)  # a copy: the caller's array keeps its values
        self._arguments.append(buffer)
        return buffer.view(TapeArray)

    def state(self, array: Array) -> Array:
        """See :meth:`Recorder.state`."""
        return array.view(TapeArray)

    def number(self, evaluate: Callable[[], float]) -> float:
        """See :meth:`Recorder.number`."""
        return TapeNumber.of(evaluate)

    def run(self, function: Callable[[], Any]) -> Any:
        """See :meth:`Recorder.run`."""
        if current.tape is not None:
            raise NotRecordableError("another step is being recorded")
        current.tape = self._tape
        try:
            return function()
        finally:
            current.tape = None

    def program(self, outputs: Sequence[Array]) -> Program:
        """See :meth:`Recorder.program`."""
        return NumpyProgram(self._tape, self._arguments, [bare(y) for y in outputs])

    def is_recorded(self, array: object) -> bool:
        """See :meth:`Recorder.is_recorded`."""
        if isinstance(array, TapeArray):
            return True
        # numpy.asarray() makes a plain view of an array of the recording.
        return isinstance(array, numpy.ndarray) and isinstance(array.base, TapeArray)

    def reads(self, array: Array) -> bool:
        """Returns whether a recorded call refers to the memory of an array."""
        owner = root(bare(array))
        return any([_refers((call.args, call.keywords), owner) for call in self._tape.calls])

    def forget(self, argument: Array) -> bool:
        """See :meth:`Recorder.forget`."""
        if self.reads(argument):
            return False
        owner = root(bare(argument))
        self._arguments = [buffer for buffer in self._arguments if buffer is not owner]
        return True

    def plain(self, array: Array) -> Array:
        """See :meth:`Recorder.plain`."""
        return numpy.array(bare(array))


def _refers(value: Any, owner: Any) -> bool:
    if isinstance(value, numpy.ndarray):
        return root(value) is owner
    if isinstance(value, (list, tuple)):
        return any([_refers(v, owner) for v in value])
    if isinstance(value, dict):
        return any([_refers(v, owner) for v in value.values()])
    return False
