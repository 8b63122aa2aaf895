"""Snapshots of the best moments of a training, and of the last one."""

from __future__ import annotations

import json
import math
import os
import string
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainer.core.utils.atomic_file import replacing
from chainer.links import serializers
from chainer.links.loaded_state import serialize_json
from chainer.training.extension import Extension
from chainer.training.extensions import snapshot_writers
from chainer.training.extensions.accumulator import Accumulator
from chainer.training.extensions.metrics import larger_is_better

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

TABLE = "best_snapshots.json"


@dataclass(frozen=True)
class SnapshotEntry:
    """One of the snapshots that are kept.

    Attributes:
        file: Name of the file in the output directory.
        value: Mean of the metric over the interval that ended with the snapshot.
        iteration: Number of iterations when it was taken.
        epoch: Number of epochs when it was taken.

    Example:
        >>> from chainer.training.extensions import SnapshotEntry
        >>> entry = SnapshotEntry("best_iter_100", value=0.25, iteration=100, epoch=2)
        >>> entry.file
        'best_iter_100'
    """

    file: str
    value: float
    iteration: int
    epoch: int


def list_best(directory: str, table: str = TABLE) -> list[SnapshotEntry]:
    """Reads which snapshots :class:`BestSnapshots` keeps in a directory, the best first.

    Args:
        directory: Output directory of the training.
        table: Name of the table.

    Raises:
        FileNotFoundError: If there is no table.
        ValueError: If the file is not such a table.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(3, 2, initialW=0))
        >>> data = [(np.full(3, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (3, "epoch"))
        >>> trainer.extend(extensions.BestSnapshots("main/loss", k=1, target=model))
        >>> trainer.run()
        >>> (best,) = extensions.list_best("result")
        >>> chainer.serializers.load_npz(f"result/{best.file}", model)
        >>> best.file
        '...'
    """
    path = os.path.join(directory, table)
    return _entries(_read(path)["snapshots"], path)


def _read(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path} is not a table of snapshots: {error}") from error
    if not isinstance(content, dict) or not {"snapshots", "removing"} <= content.keys():
        raise ValueError(f"{path} is not a table of snapshots")
    return content


def _entries(rows: Any, source: str) -> list[SnapshotEntry]:
    try:
        entries = [SnapshotEntry(**row) for row in rows]
    except TypeError as error:
        raise ValueError(f"{source} is not a table of snapshots: {error}") from error
    for entry in entries:
        _check_name(entry.file, source)
    return entries


def _check_name(name: Any, source: str) -> None:
    """Refuses paths: whatever a table says, no file outside the output directory is touched."""
    if (
        not isinstance(name, str)
        or not name
        or name in (".", "..")
        or os.path.basename(name) != name
    ):
        raise ValueError(f"{source}: names of snapshots must be plain file names, got {name!r}")


class BestSnapshots(Extension):
    """Trainer extension that keeps the snapshots of the best values of a metric, and the last.

    At the end of each interval the mean of the metric is compared with the ones before. If it is
    among the ``k`` best, a snapshot is written, and the one that no longer is among them removed.
    Files are written under a temporary name first, so there are no half ones, and nothing is
    removed before its successor is complete. Files that are not in the table of this extension are
    never removed.

    The table is part of the snapshots of the trainer, and a file in the output directory, for
    :func:`list_best`. A training that is resumed also takes over what the file lists: so the ``k``
    best of all that happened stay, wherever it was resumed from. A training that starts from the
    beginning starts a new table, and leaves alone what is there.

    Args:
        key: Key of the observation that is compared.
        k: Number of snapshots to keep, 1 or more.
        mode: ``'min'`` if smaller values are better, ``'max'`` if larger ones are, or ``'auto'``:
            ``'max'`` for accuracies, scores and the like, going by the last part of the key.
        trigger: When an interval ends; a pair such as ``(1, 'epoch')`` or a trigger.
        target: Object that the best snapshots contain, such as the model. The trainer
            by default.
        filename: Name of the files; a format string of ``iteration``, which must be in it,
            ``epoch`` and ``value``.
        last: Name of the snapshot of the trainer that is written at the end of each interval,
            whatever its value; None for none.
        autoload: Whether to resume from ``last`` if it is there.
        savefun: Function ``savefun(path, object)`` that saves an object.
        table: Name of the table in the output directory.

    Attributes:
        entries: The snapshots that are kept, the best first.

    Raises:
        ValueError: If an argument is out of its range, or a file name no plain name.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (3, "epoch"))
        >>> trainer.extend(extensions.BestSnapshots("main/loss", k=2, target=model))
        >>> trainer.run()
        >>> [(best.epoch, best.file) for best in extensions.list_best("result")]
        [(1, 'best_iter_2'), (3, 'best_iter_6')]
    """

    trigger = (1, "iteration")
    # Right before extensions.snapshot(), whose files then know of this iteration's value.
    priority = -90

    def __init__(
        self,
        key: str = "validation/main/loss",
        k: int = 3,
        mode: str = "auto",
        trigger: Any = (1, "epoch"),
        target: Any = None,
        filename: str = "best_iter_{iteration}",
        last: str | None = "last",
        autoload: bool = False,
        savefun: Callable[[str, Any], Any] = serializers.save_npz,
        table: str = TABLE,
    ) -> None:
        if k < 1:
            raise ValueError(f"k must be 1 or more, got {k}")
        if "iteration" not in (field for _, field, _, _ in string.Formatter().parse(filename)):
            raise ValueError(f"filename must contain '{{iteration}}', got {filename!r}")
        if autoload and last is None:
            raise ValueError("autoload needs the name of the last snapshot, got last=None")
        for name, value in (("filename", filename), ("last", last), ("table", table)):
            if value is not None:
                _check_name(value, name)
        self.key = key
        self.k = k
        self.entries: list[SnapshotEntry] = []
        self._sign = -1.0 if larger_is_better(mode, key) else 1.0
        self._averages = Accumulator(trigger, (key,))
        self._target = target
        self._filename = filename
        self._last = last
        self._autoload = autoload
        self._write = snapshot_writers.SimpleWriter(savefun)
        self._table = table
        self._warned = False

    def restore(self, trainer: Trainer) -> None:
        """Loads the last snapshot, if ``autoload`` was asked for and it exists.

        Args:
            trainer: Trainer that runs the training loop.
        """
        if self._autoload and self._last is not None:
            path = os.path.join(trainer.out, self._last)
            if os.path.exists(path):
                serializers.load_npz(path, trainer)

    def initialize(self, trainer: Trainer) -> None:
        """Compares the table of a resumed training with what is in the output directory.

        Args:
            trainer: Trainer that runs the training loop.

        Raises:
            ValueError: If the table in the output directory is damaged.
        """
        if trainer.is_before_training:
            self.entries = []
            return
        path = os.path.join(trainer.out, self._table)
        on_disk: list[SnapshotEntry] = []
        if os.path.exists(path):
            content = _read(path)
            if (content.get("key"), content.get("sign")) == (self.key, self._sign):
                on_disk = _entries(content["snapshots"], path)
                self._remove(trainer.out, content["removing"], path)
            else:
                warnings.warn(
                    f"{path} is of another metric, {content.get('key')!r}: its snapshots are left "
                    "alone",
                    stacklevel=2,
                )
        # The file was written later than the snapshot.
        merged = {entry.file: entry for entry in (*self.entries, *on_disk)}
        present = [e for e in merged.values() if os.path.exists(os.path.join(trainer.out, e.file))]
        self._keep_best(trainer.out, present)

    def __call__(self, trainer: Trainer) -> None:
        """Adds the present observation; takes snapshots when the interval is over.

        Args:
            trainer: Trainer that calls this operator.
        """
        means = self._averages.add(trainer)
        if means is None:
            return
        if self.key in means:
            self._consider(trainer, means[self.key])
        elif not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.key!r} was not observed: there is nothing to compare snapshots by; the "
                f"observation has {sorted(trainer.observation)}",
                stacklevel=2,
            )
        if self._last is not None:
            self._write(self._last, trainer.out, trainer)

    def _consider(self, trainer: Trainer, value: float) -> None:
        if not math.isfinite(value):
            return
        updater = trainer.updater
        iteration, epoch = int(updater.iteration), int(updater.epoch)
        name = self._filename.format(iteration=iteration, epoch=epoch, value=value)
        _check_name(name, "filename")
        entry = SnapshotEntry(name, value, iteration, epoch)
        others = [other for other in self.entries if other.file != name]
        if entry not in self._best([*others, entry]):
            return
        before, self.entries = self.entries, self._best([*others, entry])
        try:
            self._write(name, trainer.out, trainer if self._target is None else self._target)
        except BaseException:
            self.entries = before
            raise
        self._keep_best(trainer.out, [*others, entry])

    def _best(self, entries: list[SnapshotEntry]) -> list[SnapshotEntry]:
        """Returns the k best in order; of equal ones the earlier is the better."""
        return sorted(entries, key=lambda e: (self._sign * e.value, e.iteration))[: self.k]

    def _keep_best(self, directory: str, entries: list[SnapshotEntry]) -> None:
        """Keeps the best of entries whose files exist, and removes the other files."""
        self.entries = self._best(entries)
        removing = [entry.file for entry in entries if entry not in self.entries]
        self._save_table(directory, removing)  # should the process die before they are removed
        self._remove(directory, removing, "the table of snapshots")
        if removing:
            self._save_table(directory, [])

    def _save_table(self, directory: str, removing: list[str]) -> None:
        content = {
            "key": self.key,
            "sign": self._sign,
            "snapshots": [asdict(entry) for entry in self.entries],
            "removing": removing,
        }
        text = json.dumps(content, indent=2) + "\n"
        with replacing(os.path.join(directory, self._table)) as temporary:
            Path(temporary).write_bytes(text.encode())

    def _remove(self, directory: str, names: list[str], source: str) -> None:
        for name in names:
            _check_name(name, source)
            try:
                os.remove(os.path.join(directory, name))
            except FileNotFoundError:  # by another process, or before the process died
                continue

    def finalize(self) -> None:
        """Waits until everything is written."""
        self._write.finalize()

    def serialize(self, serializer: Any) -> None:
        """Serializes the table and the sums of the interval.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])
        state = {
            "key": self.key,
            "sign": self._sign,
            "snapshots": [asdict(entry) for entry in self.entries],
        }
        state = serialize_json(serializer, "table", state)
        same = (state["key"], state["sign"]) == (self.key, self._sign)
        self.entries = _entries(state["snapshots"], "the snapshot") if same else []
