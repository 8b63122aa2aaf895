"""Profiler: where the time of a training goes (public module ``chainer.profiler``)."""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import dataclass
from html import escape
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.core.arrays.acceleration import advice, participants
from chainer.core.arrays.lookup import backends_in_use
from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.config.configuration import threads
from chainer.core.spans import active
from chainer.core.utils.atomic_file import replacing
from chainer.functions.hooks._report import with_unit

if TYPE_CHECKING:
    from chainer.core.typing import FilePath

_NS_UNITS = ("ns", "us", "ms", "s")
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Span(NamedTuple):
    """A piece of time.

    Attributes:
        category: ``'forward'``, ``'backward'``, ``'update'`` or ``'data'``.
        name: Name of a function or class.
        begin: When it began, in nanoseconds.
        end: When it ended, in nanoseconds.
        thread: Identifier of the thread.

    Example:
        >>> with chainer.profiler.profile() as profile:
        ...     y = F.relu(np.array([-1.0, 1.0]))
        >>> (span,) = profile.spans
        >>> span.name, span.begin < span.end
        ('ReLU', True)
    """

    category: str
    name: str
    begin: int
    end: int
    thread: int


@dataclass
class Row:
    """The spans of one category and name.

    Attributes:
        category: See :class:`Span`.
        name: See :class:`Span`.
        calls: Number of spans.
        total: Total time of the spans in seconds.
        own: Total time without the spans inside them.
        longest: The longest one, in seconds.

    Example:
        >>> with chainer.profiler.profile() as profile:
        ...     y = F.relu(np.array([-1.0, 1.0]))
        >>> (row,) = profile.rows()
        >>> row.calls, row.own == row.total == row.longest
        (1, True)
    """

    category: str
    name: str
    calls: int = 0
    total: float = 0.0
    own: float = 0.0
    longest: float = 0.0


class Profile:
    """The record of :func:`profile`; prints as a table.

    Attributes:
        spans: The spans, in the order in which they ended.
        memory: Pairs of a time in nanoseconds and the memory of the process in bytes; empty unless
            memory was asked for.
        seconds: Time between the beginning and the end.

    Example:
        >>> with chainer.profiler.profile() as profile:
        ...     y = F.relu(np.array([-1.0, 1.0]))
        >>> [(row.category, row.name, row.calls) for row in profile.rows()]
        [('forward', 'ReLU', 1)]
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.memory: list[tuple[int, int]] = []
        self._begin = self._end = 0

    @property
    def seconds(self) -> float:
        """Time from the beginning to the end, or until now if the profile has not ended."""
        return ((self._end or perf_counter_ns()) - self._begin) / 1e9

    def rows(self) -> list[Row]:
        """Returns the sums by category and name, ordered by ``own`` time, longest first."""
        found: dict[tuple[str, str], Row] = {}
        # An inner span ends before the outer one. So when a span ends, its children are the spans
        # that began after it and that no other span contains.
        open_spans: dict[int, list[Span]] = {}
        for span in self.spans:
            pending = open_spans.setdefault(span.thread, [])
            inside = 0
            while pending and pending[-1].begin >= span.begin:
                child = pending.pop()
                inside += child.end - child.begin
            pending.append(span)
            row = found.setdefault((span.category, span.name), Row(span.category, span.name))
            length = span.end - span.begin
            row.calls += 1
            row.total += length / 1e9
            row.own += (length - inside) / 1e9
            row.longest = max(row.longest, length / 1e9)
        return sorted(found.values(), key=lambda row: -row.own)

    def _cells(self) -> list[list[str]]:
        whole = self.seconds or 1.0
        cells = [["category", "name", "calls", "own time", "share", "total", "mean"]]
        for row in self.rows():
            cells.append(
                [
                    row.category,
                    row.name,
                    f"{row.calls:,}",
                    _time(row.own),
                    f"{row.own / whole:.1%}",
                    _time(row.total),
                    _time(row.total / row.calls),
                ]
            )
        return cells

    def _sum(self) -> str:
        rest = self.seconds - sum(row.own for row in self.rows())
        text = f"{_time(self.seconds)} in all, {_time(max(0.0, rest))} of it in Python between them"
        if self.memory:
            peak = max(size for _, size in self.memory)
            growth = self.memory[-1][1] - self.memory[0][1]
            sign = "-" if growth < 0 else "+"
            text += f"; memory: at most {_size(peak)}, {sign}{_size(abs(growth))} at the end"
        return text

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = [
            "  ".join(
                text.ljust(width) if i < 2 else text.rjust(width)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        ]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], self._sum(), *_advice()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        title = "".join(f"<th>{escape(text)}</th>" for text in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        table = f"<thead><tr>{title}</tr></thead><tbody>{body}</tbody>"
        return f"<table>{table}</table><p>{escape(self._sum())}</p>"

    def save_trace(self, path: FilePath) -> None:
        """Writes the spans as a trace, which https://ui.perfetto.dev and Chrome show.

        Args:
            path: File to write, in JSON.
        """
        process = os.getpid()
        events: list[dict[str, Any]] = [
            {
                "name": span.name,
                "cat": span.category,
                "ph": "X",  # a complete event; times are in microseconds
                "ts": (span.begin - self._begin) / 1e3,
                "dur": (span.end - span.begin) / 1e3,
                "pid": process,
                "tid": span.thread,
            }
            for span in self.spans
        ]
        events += [
            {
                "name": "memory",
                "ph": "C",
                "ts": (time - self._begin) / 1e3,
                "pid": process,
                "args": {"bytes": size},
            }
            for time, size in self.memory
        ]
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def _advice() -> list[str]:
    """Returns a line on the switch for speed, if it is off and a provider would take part."""
    policy = threads.state.policy
    working = [each for each in participants() if each.reason is None]
    return [] if policy.accelerates or not working else [f"accelerate: {advice(policy)}"]


class profile(FunctionHook):
    """Context manager that records what a training does: ``with profile() as result: ...``.

    Functions (forward and backward) are recorded in this thread; updates of optimizers, iterators
    and the conversion of batches in all threads. Recording takes less than two microseconds per
    function, and computations are the same as without a profile: what the backward of a function
    computes inside is part of its time. Profiles cannot be nested.

    Args:
        memory (bool): Whether to read the memory use of the process after each function. This
            takes a few more microseconds per function, and works only on Linux.
        synchronize (bool): Whether to wait for the accelerators after each function, so that its
            time includes their work. Otherwise times only cover starting that work.

    Raises:
        RuntimeError: If another profile is active, or the memory cannot be read.

    Example:
        >>> with chainer.profiler.profile() as result:
        ...     y = F.sum(F.relu(np.ones((2, 3), np.float32)))
        >>> sorted((row.name, row.calls) for row in result.rows())
        [('ReLU', 1), ('Sum', 1)]
        >>> result.save_trace('trace.json')  # doctest: +SKIP
    """

    name = "profiler"
    # A profiled training computes as it does without a profiler.
    inside_backward = False

    def __init__(self, memory: bool = False, synchronize: bool = False) -> None:
        if memory and not sys.platform.startswith("linux"):
            raise RuntimeError(f"memory=True works on Linux, not on {sys.platform}")
        self._read_memory = memory
        self._synchronize = synchronize
        self._begins: list[int] = []
        self._result = Profile()
        self._statm = -1
        # The hooks run for every function, so they only collect events. The spans are created when
        # the profile ends.
        self._events: list[tuple[str, str, int, int]] = []
        self._thread = 0

    def __enter__(self) -> Profile:  # type: ignore[override]
        if active.recorder is not None:
            raise RuntimeError("another profile is active; profiles cannot be nested")
        self._thread = threading.get_ident()
        self._begins, self._events, self._result = [], [], Profile()
        if self._read_memory:
            self._statm = os.open("/proc/self/statm", os.O_RDONLY)
            self._note_memory()
        super().__enter__()
        active.recorder = self
        self._result._begin = perf_counter_ns()
        return self._result

    def __exit__(self, *exc: object) -> None:
        self._result._end = perf_counter_ns()
        active.recorder = None
        super().__exit__(*exc)
        result = self._result
        result.spans += [
            Span(category, name, begin, end, self._thread)
            for category, name, begin, end in self._events
        ]
        result.spans.sort(key=lambda span: span.end)
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1

    def span(self, category: str, name: str, begin: int, end: int) -> None:
        """Records a span; see :mod:`chainer.core.spans`."""
        self._result.spans.append(Span(category, name, begin, end, threading.get_ident()))

    def _note_memory(self) -> None:
        pages = int(os.pread(self._statm, 100, 0).split()[1])
        self._result.memory.append((perf_counter_ns(), pages * os.sysconf("SC_PAGE_SIZE")))

    def _finished(self, category: str, function: Any) -> None:
        if self._synchronize:
            _synchronize_all()
        end = perf_counter_ns()
        # The name, not the node, which would keep the graph alive.
        self._events.append((category, function._impl_name, self._begins.pop(), end))
        if self._read_memory:
            self._note_memory()

    def forward_preprocess(self, function: Any, in_data: Any) -> None:
        """Notes the time."""
        self._begins.append(perf_counter_ns())

    def forward_postprocess(self, function: Any, in_data: Any) -> None:
        """Records the function."""
        self._finished("forward", function)

    def backward_preprocess(self, function: Any, in_data: Any, out_grad: Any) -> None:
        """Notes the time."""
        self._begins.append(perf_counter_ns())

    def backward_postprocess(self, function: Any, in_data: Any, out_grad: Any) -> None:
        """Records the function."""
        self._finished("backward", function)


def _synchronize_all() -> None:
    """Waits for the current devices of the accelerators whose arrays have been used."""
    for backend in backends_in_use():
        if backend.is_accelerator:
            backend.synchronize(backend.device())


def _time(seconds: float) -> str:
    return with_unit(seconds * 1e9, _NS_UNITS, 1000)


def _size(size: float) -> str:
    return with_unit(size, _BYTE_UNITS, 1024)
