"""Logs of one row for each interval: CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainer.core.utils.atomic_file import replacing
from chainer.training.extension import Extension
from chainer.training.extensions.accumulator import Accumulator

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

Row = dict[str, Any]


def _append(path: str, content: bytes) -> None:
    """Adds to the end of a file by one write, so that readers see all of it or nothing."""
    with open(path, "ab", buffering=0) as file:
        written = file.write(content)
    if written != len(content):
        raise OSError(f"{path}: only {written} of {len(content)} bytes were written")


class _RowLogger(Extension):
    """Shared by the logs: means over intervals, and a file that is taken up again."""

    trigger = (1, "iteration")

    def __init__(
        self,
        filename: str,
        keys: Iterable[str] | None,
        trigger: Any,
    ) -> None:
        self._filename = filename
        self._averages = Accumulator(trigger, keys)
        self._path: str | None = None

    def initialize(self, trainer: Trainer) -> None:
        """Opens the log: a new one, or the log of the training that is resumed.

        In the latter case rows of later iterations, written after the snapshot that the training is
        resumed from, and a row that was cut off are removed.

        Args:
            trainer: Trainer that runs the training loop.

        Raises:
            ValueError: If the file to be resumed is not such a log.
        """
        self._path = os.path.join(trainer.out, self._filename)
        if trainer.is_before_training:
            self._begin([])
        elif os.path.exists(self._path):
            with open(self._path, "rb") as file:
                rows = self._parse(file.read())
            self._begin([row for row in rows if row["iteration"] <= trainer.updater.iteration])
        else:
            self._begin([])

    def __call__(self, trainer: Trainer) -> None:
        """Adds the present observation, and a row when the interval is over.

        Args:
            trainer: Trainer that calls this operator.
        """
        means = self._averages.add(trainer, also_when_stopped=True)
        if means is None:
            return
        if self._path is None:  # called by hand, without a training loop
            self.initialize(trainer)
        row: Row = {
            "epoch": trainer.updater.epoch,
            "iteration": trainer.updater.iteration,
            "elapsed_time": trainer.elapsed_time,
            **means,
        }
        if trainer.stop_reason is not None:
            row["stop_reason"] = trainer.stop_reason
        self._add(row)

    def _file(self) -> str:
        assert self._path is not None
        return self._path

    def _begin(self, rows: list[Row]) -> None:
        raise NotImplementedError

    def _add(self, row: Row) -> None:
        raise NotImplementedError

    def _parse(self, content: bytes) -> list[Row]:
        raise NotImplementedError

    def serialize(self, serializer: Any) -> None:
        """Serializes the sums of the interval.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])


class JSONLinesLogger(_RowLogger):
    """Trainer extension that writes a log of JSON objects, one a line.

    Each row has ``epoch``, ``iteration``, ``elapsed_time`` (seconds) and the means of what was
    observed in the interval, and ``stop_reason`` if the training stops there. Values that are
    not finite are null. A row is written at once and as a whole.

    A training that is resumed continues the log from where its snapshot was taken; one that starts
    from the beginning starts a new log.

    Args:
        filename: Name of the file in the output directory.
        keys: Keys of the observations; None for all.
        trigger: When an interval ends; a pair such as ``(1, 'epoch')`` or a trigger.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.JSONLinesLogger())
        >>> trainer.run()
        >>> with open("result/log.jsonl") as file:
        ...     len(file.readlines())
        ...
        2
    """

    def __init__(
        self,
        filename: str = "log.jsonl",
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
    ) -> None:
        super().__init__(filename, keys, trigger)

    def _begin(self, rows: list[Row]) -> None:
        with replacing(self._file()) as temporary:
            Path(temporary).write_bytes(b"".join(map(_json_line, rows)))

    def _add(self, row: Row) -> None:
        _append(self._file(), _json_line(row))

    def _parse(self, content: bytes) -> list[Row]:
        lines = content.decode("utf-8", errors="replace").split("\n")
        rows = []
        for number, line in enumerate(lines[:-1], 1):  # the last one is empty, or was cut off
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or not isinstance(row.get("iteration"), int):
                raise ValueError(
                    f"{self._file()}, line {number}: not a row of this log, which cannot be "
                    "resumed; move the file away, or log to another one"
                )
            rows.append(row)
        return rows


def _json_line(row: Row) -> bytes:
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }
    return (json.dumps(finite, ensure_ascii=False, allow_nan=False) + "\n").encode()


class CSVLogger(_RowLogger):
    """Trainer extension that writes a log as a table of comma-separated values.

    The columns are ``epoch``, ``iteration``, ``elapsed_time`` (seconds) and the means of what was
    observed in the interval, and ``stop_reason`` if the training stops there. When something is
    observed for the first time, the file is written anew with a further column, empty in earlier
    rows. Otherwise a row is added, at once and as a whole.

    A training that is resumed continues the log from where its snapshot was taken; one that starts
    from the beginning starts a new log.

    Args:
        filename: Name of the file in the output directory.
        keys: Keys of the observations; None for all.
        trigger: When an interval ends; a pair such as ``(1, 'epoch')`` or a trigger.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.CSVLogger(keys=["main/loss"]))
        >>> trainer.run()
        >>> with open("result/log.csv") as file:
        ...     print(file.readline().strip())
        ...
        epoch,iteration,elapsed_time,main/loss
    """

    def __init__(
        self,
        filename: str = "log.csv",
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
    ) -> None:
        super().__init__(filename, keys, trigger)
        self._columns: list[str] = []

    def _begin(self, rows: list[Row]) -> None:
        self._columns = list(dict.fromkeys(key for row in rows for key in row))
        self._write_all(rows)

    def _add(self, row: Row) -> None:
        new = [key for key in row if key not in self._columns]
        if not new and os.path.exists(self._file()):
            _append(self._file(), self._table([row]))
            return
        rows: list[Row] = []
        if os.path.exists(self._file()):
            with open(self._file(), "rb") as file:
                rows = self._parse(file.read())
        self._columns += new
        self._write_all([*rows, row])

    def _write_all(self, rows: list[Row]) -> None:
        header = [dict(zip(self._columns, self._columns, strict=True))] if rows else []
        with replacing(self._file()) as temporary:
            Path(temporary).write_bytes(self._table([*header, *rows]))

    def _table(self, rows: list[Row]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in rows:
            writer.writerow([row.get(column, "") for column in self._columns])
        return text.getvalue().encode()

    def _parse(self, content: bytes) -> list[Row]:
        text = content.decode("utf-8", errors="replace")
        records = list(csv.reader(io.StringIO(text, newline="")))
        if text and not text.endswith("\n"):  # the last row was cut off
            del records[-1]
        if not records:
            return []
        columns = records[0]
        rows = []
        for number, record in enumerate(records[1:], 2):
            row: Row = {key: cell for key, cell in zip(columns, record, strict=False) if cell}
            try:
                row["iteration"] = int(row["iteration"])
            except (KeyError, ValueError):
                raise ValueError(
                    f"{self._file()}, row {number}: not a row of this log, which cannot be "
                    "resumed; move the file away, or log to another one"
                ) from None
            rows.append(row)
        return rows
