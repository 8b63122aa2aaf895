"""The array namespace of recordings: NumPy's functions, whose results are recorded."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy

from chainer.backends.numpy.recording.tape import (
    _ABOUT_ARRAYS,
    Kind,
    TapeArray,
    bare,
    current,
    shares_memory,
    taped,
)


class Namespace(types.ModuleType):
    """A module that looks like one of NumPy's."""

    def __init__(self, name: str, source: Any) -> None:
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._source, name)
        if isinstance(value, types.ModuleType):
            value = Namespace(f"{self.__name__}.{name}", value)
        elif callable(value) and not isinstance(value, (type, numpy.ufunc)):
            value = _making_recorded_arrays(name, value)
        setattr(self, name, value)
        return value


def _making_recorded_arrays(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    if name in _ABOUT_ARRAYS:
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        # A function that got an array of the recording is on the tape already.
        if type(result) is not numpy.ndarray:
            return result
        tape = current.tape
        if tape is not None and not shares_memory(result, (args, kwargs)):
            tape.buffers.made(result)
            if not name.startswith("empty"):
                # The step may change the array later, and then needs its first values again.
                tape.add(Kind.ASSIGN, function, bare(args), bare(kwargs), result)
        return taped(result)

    call.__name__ = name
    return call


xp: Any = Namespace(__name__ + ".xp", numpy)
xp.ndarray = TapeArray
