"""Kernels whose calls are recorded as they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from chainer.backends.numpy.recording.memory import Held, leaves
from chainer.backends.numpy.recording.tape import record_whole
from chainer.core.arrays.recorder import NotRecordableError


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
