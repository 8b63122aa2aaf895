"""Function hook that measures memory of the CuPy memory pool."""

from __future__ import annotations

from typing import Any, TextIO

from chainer.backends import cuda
from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.streams import STANDARD_OUTPUT, current_stream
from chainer.functions.hooks._report import function_name, print_table
from chainer.functions.hooks._reports import texts_with_unit, unit_and_stream

#: Unit -> how many of it are a byte; the largest unit first.
_UNITS = {
    unit: 1024.0**-n
    for n, unit in reversed([*enumerate(("B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB"))])
}


class CupyMemoryProfileHook(FunctionHook):
    """Function hook for measuring memory usage of functions in the CuPy memory pool.

    Attributes:
        call_history: List of tuples of the name of the function that called this hook, the bytes it
            used from the memory pool, and the bytes the pool acquired from the device for it.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        On a GPU. Each function is a line of the report:

        >>> from chainer.backends import cuda
        >>> x = cuda.to_gpu(np.ones((2, 3), np.float32))
        >>> with chainer.function_hooks.CupyMemoryProfileHook() as hook:
        ...     y = F.relu(x)
        >>> [name for name, used, acquired in hook.call_history]
        ['ReLU']
    """

    name = "CupyMemoryProfileHook"

    def __init__(self) -> None:
        cuda.check_cuda_available()
        self.call_history: list[tuple[str, int, int]] = []
        self._starts: list[tuple[int, int]] = []

    def _state(self) -> tuple[int, int]:
        pool = cuda.cupy.get_default_memory_pool()
        return pool.used_bytes(), pool.total_bytes()

    def _end(self, function: Any) -> None:
        used, total = self._starts.pop()
        now_used, now_total = self._state()
        record = (function_name(function), max(now_used - used, 0), max(now_total - total, 0))
        self.call_history.append(record)

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Notes the state of the pool."""
        self._starts.append(self._state())

    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Records what was used since."""
        self._end(function)

    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Notes the state of the pool."""
        self._starts.append(self._state())

    def backward_postprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Records what was used since."""
        self._end(function)

    def total_used_bytes(self) -> int:
        """Returns total bytes that functions used from the memory pool."""
        return sum(used for _, used, _ in self.call_history)

    def total_acquired_bytes(self) -> int:
        """Returns total bytes that the memory pool acquired from the device."""
        return sum(acquired for _, _, acquired in self.call_history)

    def summary(self) -> dict[str, dict[str, int]]:
        """Returns a summary of memory profiling in functions.

        Returns:
            dict: Keys are function names, values dictionaries of ``used_bytes``, ``acquired_bytes``
                and ``occurrence``.
        """
        summary: dict[str, dict[str, int]] = {}
        for name, used, acquired in self.call_history:
            record = summary.setdefault(
                name, {"used_bytes": 0, "acquired_bytes": 0, "occurrence": 0}
            )
            record["used_bytes"] += used
            record["acquired_bytes"] += acquired
            record["occurrence"] += 1
        return summary

    def print_report(
        self, unit: str | TextIO = "auto", file: TextIO | str | None = STANDARD_OUTPUT
    ) -> None:
        """Prints a summary report of memory profiling in functions.

        Args:
            unit (str): ``'B'``, ``'KB'``, ``'MB'`` and so on, to ``'ZB'``. ``'auto'``: the one that
                fits the largest size of each column. ``'auto_foreach'``: the one that fits each
                size. A stream is accepted here, too, as in release 4.
            file: Text stream to print to; ``sys.stdout`` by default.

        Raises:
            KeyError: If ``unit`` is something else.
        """
        unit, stream = unit_and_stream(unit, file, _UNITS)
        summary = self.summary()
        used = texts_with_unit([r["used_bytes"] for r in summary.values()], unit, _UNITS)
        acquired = texts_with_unit([r["acquired_bytes"] for r in summary.values()], unit, _UNITS)
        occurrences = [str(record["occurrence"]) for record in summary.values()]
        rows = list(zip(summary, used, acquired, occurrences, strict=True))
        head = ("FunctionName", "UsedBytes", "AcquiredBytes", "Occurrence")
        print_table(head, rows, current_stream(stream))
