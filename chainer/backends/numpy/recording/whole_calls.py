"""Kernels whose calls are recorded as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from chainer.backends.numpy.recording.memory import Held, leaves
from chainer.backends.numpy.recording.tape import record_whole
from chainer.core.arrays.kernel import JoinedRows, Operation
from chainer.core.arrays.recorder import NotRecordableError


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
