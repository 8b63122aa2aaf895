"""Kernels whose calls are recorded as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy

from chainer.backends.numpy.recording.memory import Held, Opaque, leaves
from chainer.backends.numpy.recording.tape import Kind, Tape, bare, current, shares_memory, taped
from chainer.core.arrays.kernel import JoinedRows, Operation
from chainer.core.arrays.lookup import find_backend
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber
from chainer.core.config.configuration import threads

_ndarray = numpy.ndarray
_Generic: Any = numpy.generic


class RecordedMethod(NamedTuple):
    """A method of a kernel.

    Attributes:
        operation: Operation of the kernel.
        name: Name of the method.
        kernel: The kernel.
    """

    operation: Operation
    name: str
    kernel: Any


#: Methods of kernels whose calls are recorded. Kernels live as long as the process.
_methods: dict[Callable[..., Any], RecordedMethod] = {}

#: Names of the calls in the fusions that these kernels offer.
_fused_names: set[str] = set()


def recorded_method(method: Callable[..., Any]) -> RecordedMethod | None:
    """Returns which method of which kernel a recorded function is; None for other functions."""
    return _methods.get(method)


@cache
def writes_to_memory(method: Callable[..., Any]) -> bool:
    """Returns whether a recorded method writes its result to memory that it is given.

    Such a method has a keyword ``out``; see :class:`~chainer.kernel.Operation`.
    """
    return method in _methods and "out" in inspect.signature(method).parameters


def is_pure(method: Callable[..., Any]) -> bool:
    """Returns whether a recorded method depends on its arguments alone and does not change them."""
    found = _methods.get(method)
    return found is not None and found.operation.pure


def may_be_fused(operation: str, method: str) -> bool:
    """Returns whether a kernel that was used in a recording computes a method as part of another.

    Args:
        operation: Name of the operation.
        method: Name of the method.
    """
    return f"{operation}.{method}" in _fused_names


def joined_rows(method: Callable[..., Any]) -> JoinedRows | None:
    """Returns how calls of a recorded method are joined; None if they are not."""
    found = _methods.get(method)
    if found is None or not found.operation.pure:
        return None
    return found.operation.joined_rows.get(found.name)


class WholeCalls:
    """A kernel whose calls are put on the tape as they are.

    Args:
        kernel: Kernel for plain arrays.
        operation: Its operation.
    """

    def __init__(self, kernel: Any, operation: Operation) -> None:
        self._kernel = kernel
        for fusion in getattr(kernel, "fusions", ()):
            _fused_names.update([call.name for call in fusion.calls])
        for name in operation.methods:
            method = getattr(kernel, name)
            _methods[method] = RecordedMethod(operation, name, kernel)
            setattr(self, name, partial(record_whole, method))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._kernel, name)
        # A method that the operation does not demand, such as two gradients in one pass.
        return partial(_record_arrays, value) if inspect.isroutine(value) else value


def _record_arrays(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Records a call of a method that must return arrays: other values may decide what follows."""
    result = record_whole(method, *args, **kwargs)
    if any([isinstance(leaf, Held) for leaf in leaves(result)]):
        name = getattr(method, "__qualname__", "a kernel")
        raise NotRecordableError(f"{name} returned a Python value computed from arrays")
    return result


def released(value: Any) -> Any:
    """Returns what is held now in place of :class:`Held` objects, and the values of numbers."""
    if isinstance(value, Held):
        return value.value
    if isinstance(value, VaryingNumber):
        return value.evaluate()
    if isinstance(value, tuple):
        parts = [released(v) for v in value]
        make = getattr(type(value), "_make", tuple)  # hyperparameters are a named tuple
        return make(parts)
    if type(value) is list:
        return [released(v) for v in value]
    return value


def for_kernels(value: Any) -> Any:
    """As :func:`bare`, with holders for arrays in layouts of their own, which kernels read."""
    if isinstance(value, Opaque):
        return value.held
    if type(value) in (tuple, list):
        return type(value)([for_kernels(v) for v in value])
    return bare(value)


def record_whole(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a method of a kernel and puts the call on the tape.

    Args:
        method: Method that gets and returns plain arrays, or other objects with arrays.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Returns:
        The results of the function, as arrays of the recording.
    """
    args = for_kernels(args)
    kwargs = {name: for_kernels(value) for name, value in kwargs.items()}
    # The whole kernel runs again in each repetition, so that it may read values, as without a tape.
    state = threads.state
    recorder, state.recorder = state.recorder, None
    try:
        result = method(*released(args), **{k: released(v) for k, v in kwargs.items()})
    finally:
        state.recorder = recorder
    if current.tape is None:
        return taped(result)
    held = _holding(result)
    _made(current.tape, held, (args, kwargs))
    current.tape.add(Kind.WHOLE, method, args, kwargs, held)
    return taped(held)


def _made(tape: Tape, held: Any, given: Any) -> None:
    """Notes the memory of results, except where they are views of arguments."""
    if isinstance(held, _ndarray):
        if not shares_memory(held, given):
            tape.buffers.made(held)
    elif isinstance(held, (tuple, list)):
        for part in held:
            _made(tape, part, given)


def _no_opaque(array: Any, backend: Backend) -> Held | None:
    return None


#: Returns the holder of an array in a layout of its own; None if its layout is an open one. Set by
#: the recorder, whose backend such arrays need.
hold_opaque: Callable[[Any, Backend], Held | None] = _no_opaque


def _holding(result: Any) -> Any:
    """Returns a result with fixed memory for arrays, and holders for other objects."""
    if result is None or isinstance(result, _ndarray):
        return result
    if isinstance(result, _Generic):
        return numpy.asarray(result)
    if type(result) in (tuple, list):
        return type(result)([_holding(r) for r in result])
    backend = find_backend(type(result))
    if backend is not None:
        held = hold_opaque(result, backend)
        if held is not None:
            return held
        raise NotRecordableError(
            f"a kernel returns an array of backend {backend.name!r}, and only arrays of NumPy can "
            f"be recorded; chainer.config.use_{backend.name} = 'never' turns such kernels off"
        )
    return Held(result)
