"""The log as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TextIO

from chainer.core.reporting.reported_keys import ReportedKeys
from chainer.training.extension import Extension
from chainer.training.extensions.log_report import LogReport
from chainer.training.extensions.terminal import ERASE_BELOW, STANDARD_OUTPUT, Output

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

_MIN_WIDTH = 10


class PrintReport(Extension):
    """Trainer extension to print the accumulated results.

    It prints the entries of the log accumulated by a
    :class:`~chainer.training.extensions.LogReport` extension as the rows of a table. Values that an
    entry lacks are left blank.

    Args:
        entries (list of str): List of keys of observations to print. None for all keys of the
            first row: epoch and iteration, then the reported values by name, then the time.
        log_report (str or LogReport): Log report to accumulate the observations. This is either the
            name of a LogReport extension registered to the trainer, or a LogReport instance to use
            internally.
        out: Stream to print the table to. Standard output is used by default.

    Raises:
        TypeError: If ``log_report`` is neither.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.LogReport())
        >>> trainer.extend(extensions.PrintReport(["epoch", "main/loss"]))
        >>> trainer.run()
        epoch       main/loss
        1           0.700044
        2           0.707021
    """

    def __init__(
        self,
        entries: Iterable[str] | None,
        log_report: str | LogReport = "LogReport",
        out: TextIO = STANDARD_OUTPUT,
    ) -> None:
        if not isinstance(log_report, (str, LogReport)):
            raise TypeError(
                "log_report must be the name of a LogReport extension or a LogReport, "
                f"got {type(log_report).__name__}"
            )
        if isinstance(entries, str):
            raise TypeError(
                f"entries must be a list of names, got {entries!r}: write [{entries!r}]"
            )
        self._log_report = log_report
        self._out = Output(out)
        self._log_len = 0
        # None before the columns are known, and as soon as it is printed.
        self._header: str | None = None
        self._entries: list[str] | None = None
        if entries is not None:
            self._set_entries(list(entries))

    def _set_entries(self, entries: list[str]) -> None:
        self._entries = entries
        self._widths = [max(_MIN_WIDTH, len(entry)) for entry in entries]
        cells = [f"{x:<{width}}" for x, width in zip(entries, self._widths, strict=True)]
        self._header = "  ".join(cells) + "\n"
        self._keys = ReportedKeys("PrintReport", entries)

    def initialize(self, trainer: Trainer) -> None:
        """Checks that the log report exists.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        if isinstance(self._log_report, str):
            trainer.get_extension(self._log_report)
        self._read_log_file(trainer)

    def __call__(self, trainer: Trainer) -> None:
        """Prints the entries that were added to the log since the last call.

        The first call prints the names of the columns, too.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if isinstance(self._log_report, str):
            log_report = trainer.get_extension(self._log_report)
        else:
            log_report = self._log_report
            log_report(trainer)
        log = log_report.log
        if self._entries is None and log:
            self._set_entries(_columns_of(log[0]))
        if self._header is not None:
            self._erase()
            self._out.write(self._header)
            self._header = None
        new = log[self._log_len :]
        for result in new:
            self._erase()
            self._print(result)
            self._log_len += 1
        if new:
            self._keys.check({key for result in new for key in result})

    def _print(self, observation: Mapping[str, Any]) -> None:
        """Prints an entry of the log; a subclass may print it in another way.

        Args:
            observation: The entry.
        """
        columns = zip(self._entries or (), self._widths, strict=True)
        cells = [_cell(observation.get(entry), width) for entry, width in columns]
        self._out.write("".join([f"{cell}  " for cell in cells]) + "\n")

    def _erase(self) -> None:
        # A progress bar leaves the cursor at its first line.
        if self._out.is_terminal:
            self._out.write(ERASE_BELOW)

    def finalize(self) -> None:
        """Finalizes the internal log report, if there is one."""
        if isinstance(self._log_report, LogReport):
            self._log_report.finalize()

    def _read_log_file(self, trainer: Trainer) -> None:
        """Lets the internal log report read what a snapshot did not contain."""
        if isinstance(self._log_report, LogReport):
            self._log_report._read_log_file(trainer)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal log report, if there is one.

        After loading, the table is printed again from the beginning.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer["_log_report"])


def _columns_of(entry: Mapping[str, Any]) -> list[str]:
    first, last = ("epoch", "iteration"), ("elapsed_time",)
    return [*first, *sorted(entry.keys() - {*first, *last}), *last]


def _cell(value: object, width: int) -> str:
    # Columns keep their positions where an entry lacks a value.
    if value is None:
        return " " * width
    return f"{value:<{width}g}" if isinstance(value, Real) else f"{value!s:<{width}}"
