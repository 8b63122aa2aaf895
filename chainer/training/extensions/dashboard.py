"""A live view of a training."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from chainer.links.loaded_state import load_optional, parse_json
from chainer.links.serializer import Serializer
from chainer.training.extension import PRIORITY_READER, Extension
from chainer.training.extensions.accumulator import Accumulator
from chainer.training.extensions.dashboard_course import Course
from chainer.training.extensions.logs.encoded_list import EncodedList
from chainer.training.extensions.progress import Progress, Stopwatch

if TYPE_CHECKING:
    from chainer.training.extensions.dashboard_view import LiveView
    from chainer.training.trainer import Trainer

Row = dict[str, float]

#: Rows that a snapshot contains. It is a limit, so that a snapshot does not get slower with the
#: length of the training; the rows of usual trainings are fewer.
ROWS_IN_SNAPSHOT = 10_000


class Dashboard(Extension):
    """Trainer extension that shows the progress and the observed values of a training.

    On a terminal it is a panel below the other output, with bars and the course of every value,
    which is drawn anew as the training goes; it needs rich:
    ``pip install "chainer[rich]"``. Other output appears above it.
    However the training ends (also by an error, Ctrl-C or SIGTERM), the panel stays as it was last
    and the terminal is as before. Elsewhere (in a file, a pipe or a notebook) it is one plain line
    for each interval.

    Args:
        entries: Keys of the observations to show; None for all.
        trigger: When an interval ends, over which values are averaged; a pair such as
            ``(1, 'epoch')`` or a trigger.
        refresh_interval: Seconds between two drawings, at least.
        out: Stream; the standard output by default.

    Attributes:
        rows: The values of each interval. A snapshot contains the newest 10,000 of them; a resumed
            training shows the least and largest values of all.

    Raises:
        ImportError: At the start of the training, on a terminal without rich.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.Dashboard(["main/loss"]))
        >>> trainer.run()  # a panel in a terminal, lines elsewhere
         50%  epoch 1  iteration 2  main/loss ...
        100%  epoch 2  iteration 4  main/loss ...
    """

    trigger = (1, "iteration")
    # After everything that observes, before snapshots.
    priority = PRIORITY_READER - 50

    def __init__(
        self,
        entries: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        refresh_interval: float = 0.2,
        out: TextIO | None = None,
    ) -> None:
        self._averages = Accumulator(trigger, entries)
        self._entries = None if entries is None else list(entries)
        self._refresh_interval = refresh_interval
        self._out = out
        self.rows: list[Row] = []
        self._encoded = EncodedList()
        self._courses: dict[str, Course] = {}
        self._stopwatch: Stopwatch | None = None
        self._view: LiveView | None = None
        self._drawn_at = 0.0
        self._trainer: Trainer | None = None
        self._error: BaseException | None = None

    def initialize(self, trainer: Trainer) -> None:
        """Begins to take the time, and draws the empty panel.

        Args:
            trainer: Trainer that runs the training loop.
        """
        self._trainer = trainer
        self._error = None
        self._stopwatch = Stopwatch(trainer)
        out = sys.stdout if self._out is None else self._out
        if _is_terminal(out):
            # Imported here: rich is not needed for plain lines.
            from chainer.training.extensions.dashboard_view import LiveView

            self._view = LiveView(out, title=trainer.out)
            self._draw(self._stopwatch.measure(trainer))

    def __call__(self, trainer: Trainer) -> None:
        """Adds the present observation, and shows what is new.

        Args:
            trainer: Trainer that calls this operator.
        """
        if self._stopwatch is None:  # called by hand, without a training loop
            self.initialize(trainer)
        assert self._stopwatch is not None
        means = self._averages.add(trainer, also_when_stopped=True)
        if means is not None:
            self._add(means)
        if self._view is not None:
            due = time.perf_counter() - self._drawn_at >= self._refresh_interval
            if due or means is not None:
                self._draw(self._stopwatch.measure(trainer))
        elif means is not None:
            self._print(self._stopwatch.measure(trainer), means)

    def _draw(self, progress: Progress, status: str = "") -> None:
        assert self._view is not None
        self._drawn_at = time.perf_counter()
        self._view.draw(progress, self._shown(), status)

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        for key, value in row.items():
            self._courses.setdefault(key, Course()).add(value)

    def _shown(self) -> dict[str, Course]:
        if self._entries is None:
            return self._courses
        return {key: self._courses.get(key, Course()) for key in self._entries}

    def _print(self, progress: Progress, means: Row) -> None:
        values = "  ".join(f"{key} {value:.5g}" for key, value in means.items())
        share = "" if progress.share is None else f"{progress.share:4.0%}  "
        line = (
            f"{share}epoch {progress.epoch:.5g}  iteration {progress.iteration}  {values}  "
            f"({progress.times()})"
        )
        print(line, file=self._out, flush=True)

    def on_error(self, trainer: Trainer, exc: Exception, tb: Any) -> None:
        """Takes note of the error, to be shown at the end.

        Args:
            trainer: Trainer that runs the training loop.
            exc: The exception.
            tb: Its traceback.
        """
        self._error = exc

    def finalize(self) -> None:
        """Draws the panel for the last time and gives the terminal back."""
        view, trainer, stopwatch = self._view, self._trainer, self._stopwatch
        self._view = self._trainer = self._stopwatch = None
        if trainer is None or stopwatch is None:
            return
        status = self._status(trainer)
        if view is not None:
            try:
                view.draw(stopwatch.measure(trainer), self._shown(), status)
            finally:
                view.close()
        elif status:
            print(status, file=self._out, flush=True)

    def _status(self, trainer: Trainer) -> str:
        # While the trainer finalizes its extensions, what ended the loop is on its way.
        error = self._error or sys.exc_info()[1]
        if error is not None:
            text = f": {error}" if str(error) else ""
            return f"ended by {type(error).__name__}{text}"
        return f"stopped: {trainer.stop_reason}" if trainer.stop_reason else ""

    def serialize(self, serializer: Any) -> None:
        """Serializes the values shown and the sums of the interval.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])
        if isinstance(serializer, Serializer):
            serializer("rows", self._encoded.text(self.rows, ROWS_IN_SNAPSHOT))
            ranges = {key: [course.low, course.high] for key, course in self._courses.items()}
            serializer("ranges", json.dumps(ranges))
            return
        text = serializer("rows", "")
        if not text:
            return
        rows = parse_json("the rows of the dashboard", text, list, dict)
        # Files of earlier versions have all rows instead.
        ranges_text = load_optional(serializer, "ranges", "")
        ranges = parse_json("the ranges of the dashboard", ranges_text, dict) if ranges_text else {}
        self.rows, self._courses, self._encoded = [], {}, EncodedList()
        for row in rows:
            self._add(row)
        for key, values in ranges.items():
            course = self._courses.setdefault(key, Course())
            course.low, course.high = (None if value is None else float(value) for value in values)


def _is_terminal(out: Any) -> bool:
    isatty = getattr(out, "isatty", None)
    return isatty is not None and isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
