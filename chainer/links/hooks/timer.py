"""Link hook that measures time."""

from __future__ import annotations

import time
from typing import Any, ClassVar, TextIO

from chainer.core.arrays.device_resident import device_of
from chainer.core.streams import STANDARD_OUTPUT, current_stream
from chainer.core.utils.repr_texts import Plain, call_text
from chainer.functions.hooks._report import print_table
from chainer.functions.hooks._reports import summed_times, texts_with_unit, unit_and_stream
from chainer.links.link import Link
from chainer.links.link_hook import (
    LinkHook,
    _ForwardPostprocessCallbackArgs,
    _ForwardPreprocessCallbackArgs,
)


class TimerHook(LinkHook):
    """Link hook for measuring elapsed time of ``forward`` of links.

    The time of a container includes the time of the links it calls. The hook waits for accelerators
    before and after each call, so that the time of each link includes only its own work.

    Attributes:
        call_history: List of pairs of the class name of a link and the time of a call in seconds,
            in order of completion.

    Example:
        >>> model = chainer.Sequential(L.Linear(3, 2), F.relu, L.Linear(2, 1))
        >>> with chainer.link_hooks.TimerHook() as hook:
        ...     y = model(np.zeros((4, 3), np.float32))
        >>> [name for name, _ in hook.call_history]
        ['Linear', 'Linear', 'Sequential']
        >>> hook.print_report()  # doctest: +SKIP
          LinkName  ElapsedTime  Occurrence
            Linear     392.38us           2
        Sequential     507.74us           1
    """

    name = "TimerHook"

    #: Unit -> how many of it make a second.
    table: ClassVar[dict[str, float]] = {"sec": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        self._starts: list[float] = []
        self._total_time = 0.0

    def __repr__(self) -> str:
        calls = Plain(str(len(self.call_history)))
        seconds = Plain(f"{self._total_time:.3g}")
        return call_text(self, [("calls", calls), ("seconds", seconds)])

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        """Starts the clock."""
        _synchronize(args.link)
        self._starts.append(time.perf_counter())

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        """Stops the clock."""
        _synchronize(args.link)
        elapsed = time.perf_counter() - self._starts.pop()
        self.call_history.append((type(args.link).__name__, elapsed))
        # Calls inside of others are part of the time of those.
        if not self._starts:
            self._total_time += elapsed

    def _forward_failed(self, args: _ForwardPreprocessCallbackArgs) -> None:
        self._starts.pop()

    def total_time(self) -> float:
        """Returns the time of the outermost calls in seconds."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, Any]]:
        """Returns a summary of the times by class of link.

        Returns:
            dict: Keys are class names, in order of first completion; values are dictionaries of
                ``elapsed_time`` (seconds) and ``occurrence``.
        """
        return summed_times(self.call_history)

    def print_report(self, unit: str = "auto", file: TextIO | None = STANDARD_OUTPUT) -> None:
        """Prints a summary report of the times by class of link.

        Args:
            unit (str): ``'sec'``, ``'ms'``, ``'us'`` or ``'ns'``. ``'auto'``: the one that fits the
                largest time. ``'auto_foreach'``: the one that fits each time.
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
        print_table(("LinkName", "ElapsedTime", "Occurrence"), rows, current_stream(stream))


def _synchronize(link: Link) -> None:
    """Waits until the accelerator of a link has finished its work."""
    device = device_of(link)
    if device.backend.is_accelerator:
        device.backend.synchronize(device)
