"""Spans of time that a profiler may record: updates, data loading, conversions.

Functions that are called once an iteration are marked by :func:`measured`. While nothing records,
the mark costs about a tenth of a microsecond.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Recorder(Protocol):
    """Records spans."""

    def span(self, category: str, name: str, begin: int, end: int) -> None:
        """Records a span.

        Args:
            category: Group of the call: ``'update'``.
            name: Name of the function.
            begin: Time in nanoseconds.
            end: Time in nanoseconds.
        """
        ...


class _Active:
    """The recorder that is active in this process; None if there is none."""

    recorder: Recorder | None = None


active = _Active()


def measured(category: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator for functions whose calls are recorded while a profiler is active.

    Args:
        category: Group of the calls: ``'update'`` or ``'data'``. The span of a method has the name
            of the object's class.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        is_method = "." in function.__qualname__

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            recorder = active.recorder
            if recorder is None:
                return function(*args, **kwargs)
            begin = perf_counter_ns()
            try:
                return function(*args, **kwargs)
            finally:
                first: Any = args[0] if args and is_method else None
                name = function.__name__ if first is None else type(first).__name__
                recorder.span(category, name, begin, perf_counter_ns())

        return wrapper

    return decorate
