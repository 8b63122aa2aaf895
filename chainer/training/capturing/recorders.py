"""Which recorder records a call, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import NotRecordableError, Recorder
from chainer.core.config.configuration import threads
from chainer.core.typing import VariableLike
from chainer.training.capturing.state import StateTree, array_of

_T = TypeVar("_T")


def common_backend(found: Iterable[VariableLike], tree: StateTree) -> Backend:
    """Returns the backend of arguments and parameters.

    Raises:
        NotRecordableError: If they belong to several, or a parameter is not initialized.
    """
    for p in tree.parameters:
        if p.array is None:
            raise NotRecordableError(f"parameter {p.name!r} is not initialized")
    backends = {backend_of(array_of(x)) for x in (*found, *tree.parameters)}
    if len(backends) != 1:
        names = sorted([backend.name for backend in backends])
        raise NotRecordableError(f"its arrays belong to {len(backends)} backends: {names}")
    return backends.pop()


def recorder_of(backend: Backend) -> Recorder:
    """Returns a new recorder; raises NotRecordableError if the backend has none."""
    recorder = backend.recorder(backend.device())
    if recorder is None:
        raise NotRecordableError(f"backend {backend.name!r} cannot record")
    return recorder


def recorded(recorder: Recorder, function: Callable[[], _T]) -> _T:
    """Runs a function while a recorder records what it does; returns what it returns."""
    threads.state.recorder = recorder
    try:
        result = recorder.run(function)
    finally:
        threads.state.recorder = None
    return result
