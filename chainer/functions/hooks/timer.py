"""Function hook that measures time."""

from __future__ import annotations

import time
from typing import Any, ClassVar, TextIO

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.streams import STANDARD_OUTPUT, current_stream
from chainer.core.utils.repr_texts import Plain, call_text
from chainer.functions.hooks._report import function_name, print_table
from chainer.functions.hooks._reports import summed_times, texts_with_unit, unit_and_stream


class TimerHook(FunctionHook):
    """Function hook for measuring elapsed time of functions.

    Work of accelerators is waited for before and after each function, so that each is charged with
    its own.

    Attributes:
        call_history: List of pairs of the name of the function that called this hook and the time
            it took in seconds.
        table: Unit of time -> how many of it make a second.

    Example:
        >>> with chainer.function_hooks.TimerHook() as hook:
        ...     _ = F.relu(np.zeros((2, 3), np.float32))
        >>> [name for name, _ in hook.call_history]
        ['ReLU']
        >>> hook.print_report()  # doctest: +SKIP
        FunctionName  ElapsedTime  Occurrence
                ReLU      29.33us           1
    """

    name = "TimerHook"
    table: ClassVar[dict[str, float]] = {"sec": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        # Functions may call functions: what runs inside another one is on top of it.
        self._starts: list[float] = []
        self._total_time = 0.0

    def __repr__(self) -> str:
        calls = Plain(str(len(self.call_history)))
        seconds = Plain(f"{self._total_time:.3g}")
        return call_text(self, [("calls", calls), ("seconds", seconds)])

    def _begin(self, arrays: tuple[Any, ...]) -> None:
        _synchronize(arrays)
        self._starts.append(time.perf_counter())

    def _end(self, function: Any, arrays: tuple[Any, ...]) -> None:
        _synchronize(arrays)
        elapsed = time.perf_counter() - self._starts.pop()
        self.call_history.append((function_name(function), elapsed))
        # Calls inside of others are part of the time of those.
        if not self._starts:
            self._total_time += elapsed

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Starts the clock."""
        self._begin(in_data)

    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Stops the clock."""
        self._end(function, in_data)

    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Starts the clock."""
        self._begin((*in_data, *out_grad))

    def backward_postprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Stops the clock."""
        self._end(function, (*in_data, *out_grad))

    def total_time(self) -> float:
        """Returns the time of the outermost calls in seconds."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, Any]]:
        """Returns a summary of time profiling in functions.

        Returns:
            dict: Keys are function names, values dictionaries of ``elapsed_time`` (seconds) and
                ``occurrence``.
        """
        return summed_times(self.call_history)

    def print_report(
        self, unit: str | TextIO = "auto", file: TextIO | str | None = STANDARD_OUTPUT
    ) -> None:
        """Prints a summary report of time profiling in functions.

        Args:
            unit (str): ``'sec'``, ``'ms'``, ``'us'`` or ``'ns'``. ``'auto'``: the one that fits the
                largest time. ``'auto_foreach'``: the one that fits each time. A stream is accepted
                here, too, as in release 4.
            file: Text stream to print to; ``sys.stdout`` by default.

        Raises:
            KeyError: If ``unit`` is something else.
        """
        unit, stream = unit_and_stream(unit, file, self.table)
        summary = self.summary()
        times = texts_with_unit([r["elapsed_time"] for r in summary.values()], unit, self.table)
        rows = [
            (name, text, str(record["occurrence"]))
            for (name, record), text in zip(summary.items(), times, strict=True)
        ]
        print_table(("FunctionName", "ElapsedTime", "Occurrence"), rows, current_stream(stream))


def _synchronize(arrays: tuple[Any, ...]) -> None:
    for array in arrays:
        backend = find_backend(type(array))
        if backend is not None and backend.is_accelerator:
            backend.synchronize(backend.device_of(array))
            return
