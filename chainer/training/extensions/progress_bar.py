"""The progress bar."""

from __future__ import annotations

import datetime
import time
from typing import TYPE_CHECKING, TextIO

from chainer.training.extension import Extension
from chainer.training.extensions.notebook_bar import NotebookBar, notebook_bar
from chainer.training.extensions.progress import Progress, Stopwatch
from chainer.training.extensions.terminal import ERASE_BELOW, STANDARD_OUTPUT, Output
from chainer.training.extensions.util import marks

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


#: Share of a training, and seconds if its length is not known, between two lines in a log file.
_LOG_SHARE, _LOG_SECONDS = 0.1, 60.0


class ProgressBar(Extension):
    """Trainer extension to print a progress bar and recent training status.

    On a terminal it is a bar that is drawn anew every ``update_interval`` iterations, with the
    speed and an estimate of the time that is left. In a notebook tqdm draws it
    (``pip install "chainer[notebook]"``). Where the standard output is a file, as in the log of a
    job, it is a line for each tenth of the training, or each minute if the length is not known. In
    a stream that is given, and not a terminal, it is a line each time.

    Args:
        training_length (tuple): Length of whole training. It consists of an integer and either
            ``'epoch'`` or ``'iteration'``. If this value is omitted and the stop trigger of the
            trainer knows the length, as :class:`~chainer.training.triggers.IntervalTrigger` does,
            that is used; otherwise the total is not shown.
        update_interval (int): Number of iterations to skip printing the progress bar.
        bar_length (int): Length of the progress bar in characters. On a narrow terminal it is
            shorter.
        out: Stream to print the bar. Standard output is used by default. A bar in a notebook is
            for the standard output only.

    Raises:
        ValueError: If ``update_interval`` or ``bar_length`` is not positive.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.ProgressBar(update_interval=2))
        >>> trainer.run()
         50.00%  2 iter, 1.00 epoch / 2 epochs, ...
        100.00%  4 iter, 2.00 epoch / 2 epochs, ...
    """

    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
        out: TextIO = STANDARD_OUTPUT,
    ) -> None:
        for name, value in (("update_interval", update_interval), ("bar_length", bar_length)):
            if value < 1:
                raise ValueError(f"{name} must be positive, got {value!r}")
        self._training_length = training_length
        self._update_interval = update_interval
        self._bar_length = bar_length
        self._out = Output(out)
        self._is_standard_output = out is STANDARD_OUTPUT
        self._notebook_bar: NotebookBar | None = None
        self._stopwatch: Stopwatch | None = None
        self._drawn = False
        self._last_line = -1

    def initialize(self, trainer: Trainer) -> None:
        """Asks for the length of the training and begins to measure the time.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        self._stopwatch = Stopwatch(trainer, self._training_length)
        self._notebook_bar = notebook_bar() if self._is_standard_output else None
        self._last_line = -1

    def __call__(self, trainer: Trainer) -> None:
        """Prints the bar, every ``update_interval`` iterations.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if trainer.updater.iteration % self._update_interval:
            return
        if self._stopwatch is None:  # called by a program, without a trainer's initialization
            self._stopwatch = Stopwatch(trainer, self._training_length)
        now = self._stopwatch.measure(trainer)
        if self._out.is_terminal:
            lines = self._bar(now)
            # The cursor goes back to the first line, so that other output overwrites the bar.
            self._out.write(ERASE_BELOW + "\n".join(lines) + f"\n\033[{len(lines)}A")
            self._drawn = True
        elif self._notebook_bar is not None:
            self._notebook_bar.show(now.share, self._text(now))
        elif not self._is_standard_output or self._is_line_due(now):
            share = "" if now.share is None else f"{now.share:7.2%}  "
            self._out.write(f"{share}{self._text(now)}\n")

    def _is_line_due(self, now: Progress) -> bool:
        """Returns whether the log of a job gets a line now."""
        # Sums of floats may end a little below a tenth.
        tenth_or_minute = int(
            time.monotonic() / _LOG_SECONDS if now.share is None else now.share / _LOG_SHARE + 1e-9
        )
        if tenth_or_minute == self._last_line:
            return False
        self._last_line = tenth_or_minute
        return True

    def finalize(self) -> None:
        """Removes the bar from the terminal. In a notebook it stays."""
        if self._notebook_bar is not None:
            self._notebook_bar.close()
            self._notebook_bar = None
        if self._drawn:
            self._out.write(ERASE_BELOW)
            self._drawn = False

    def _speed_and_rest(self, now: Progress) -> tuple[float, str]:
        """Returns iterations per second and the estimate of the time that is left, as a text."""
        left = "unknown" if now.left is None else str(datetime.timedelta(seconds=round(now.left)))
        return now.speed or 0.0, left

    def _bar(self, now: Progress) -> list[str]:
        total, this_epoch = now.share, now.epoch - int(now.epoch)
        speed, left = self._speed_and_rest(now)
        # A line that wraps would be two, and the cursor would not get back to the first one.
        columns = self._out.width
        space = None if columns is None else columns - 1
        length = self._bar_length if space is None else max(min(self._bar_length, space - 21), 1)
        lines = [] if total is None else [f"     total [{marks(total, length)}] {total:6.2%}"]
        of_length = f" / {now.length}" if now.length else ""
        lines += [
            f"this epoch [{marks(this_epoch, length)}] {this_epoch:6.2%}",
            f"{now.iteration:10} iter, {int(now.epoch)} epoch{of_length}",
            f"{speed:10.5g} iters/sec. Estimated time to finish: {left}.",
        ]
        return [line[:space] for line in lines]

    def _text(self, now: Progress) -> str:
        speed, left = self._speed_and_rest(now)
        of_length = f" / {now.length}" if now.length else ""
        return (
            f"{now.iteration} iter, {now.epoch:.2f} epoch{of_length}, "
            f"{speed:.5g} iters/sec, {left} left"
        )
