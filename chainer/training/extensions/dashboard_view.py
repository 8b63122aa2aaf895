"""The panel of the dashboard, drawn by rich."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from chainer.core.installation import install_command
from chainer.training.extensions.dashboard_course import LONGEST_COURSE, Course
from chainer.training.extensions.progress import Progress

try:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.panel import Panel
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    raise ImportError(
        f"Dashboard needs rich on a terminal: {install_command('chainer[rich]')}"
    ) from error

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=+*#@"
_SHORTEST_COURSE = 6

# Columns of the panel's border and the space within, and behind the table.
_FRAME = 6


class LiveView:
    """A panel at the bottom of a terminal.

    Args:
        out: Stream of the terminal.
        title: Title of the panel.
    """

    def __init__(self, out: TextIO, title: str) -> None:
        self._title = title
        self._console = Console(file=out, force_terminal=True)
        # No thread of its own: nothing is drawn while a training is interrupted. Streams that lead
        # elsewhere (2> errors) are left alone.
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            redirect_stdout=out is sys.stdout,
            redirect_stderr=sys.stderr.isatty(),
        )
        self._live.start()

    def draw(self, progress: Progress, courses: Mapping[str, Course], status: str) -> None:
        """Draws the panel anew.

        Args:
            progress: Where the training is.
            courses: Values by name.
            status: Line at the bottom; empty for none.
        """
        # Space for the "^C" that terminals write at the cursor: a new line would shift the panel.
        width = max(self._console.width - 4, 20)
        parts: list[Any] = [_bars(progress), Text(progress.times(), style="dim")]
        if courses:
            parts.append(_table(courses, self._marks, width - _FRAME))
        if status:
            parts.append(Text(status, style="bold"))
        panel = Panel(Group(*parts), title=Text(self._title), width=width)
        self._live.update(panel, refresh=True)

    @property
    def _marks(self) -> str:
        return _ASCII if self._console.options.ascii_only else _BLOCKS

    def close(self) -> None:
        """Leaves the panel where it is and gives the terminal back."""
        self._live.stop()


def _bars(progress: Progress) -> Table:
    bars = Table.grid(padding=(0, 1), expand=True)
    bars.add_column()
    bars.add_column(ratio=1)
    bars.add_column(justify="right")
    if progress.share is not None:
        bars.add_row(
            "training",
            ProgressBar(total=1.0, completed=progress.share),
            f"{progress.share:.0%} of {progress.length}",
        )
    # At the end of an epoch it is the one that has ended.
    before = max(math.ceil(progress.epoch) - 1, 0)
    bars.add_row(
        f"epoch {before + 1}",
        ProgressBar(total=1.0, completed=progress.epoch - before),
        f"iteration {progress.iteration}",
    )
    return bars


def _table(courses: Mapping[str, Course], marks: str, width: int) -> Table:
    """Returns a table of the last, least and largest values, and the courses as far as they fit."""
    rows: list[tuple[str, str, str, str]] = []
    values: list[list[float]] = []
    for key, course in courses.items():
        numbers = list(course.newest)
        last = _number(numbers[-1] if numbers else None)
        rows.append((key, last, _number(course.low), _number(course.high)))
        values.append(numbers)
    names = ("", "last", "min", "max")
    taken = sum(max(len(name), *(len(row[i]) for row in rows)) + 2 for i, name in enumerate(names))
    length = min(max(width - taken, _SHORTEST_COURSE), LONGEST_COURSE)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("", no_wrap=True, ratio=1)
    for name in names[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("course", no_wrap=True)
    for row, numbers in zip(rows, values, strict=True):
        table.add_row(*map(Text, (*row, sparkline(numbers[-length:], marks))))
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def sparkline(values: Sequence[float], marks: str = _BLOCKS) -> str:
    """Returns values as marks of different height, ``?`` for values that are not finite."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    steps = len(marks) - 1

    def mark(value: float) -> str:
        if not math.isfinite(value):
            return "?"
        share = (value - low) / (high - low) if high > low else 0.5
        return marks[round(share * steps)]

    return "".join(map(mark, values))
