"""The log file."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.reporting.reported_keys import ReportedKeys
from chainer.core.utils.argument import renamed_argument
from chainer.links.loaded_state import load_optional, parse_json
from chainer.links.serializer import Serializer
from chainer.training.extension import Extension
from chainer.training.extensions.accumulator import Accumulator, HasAccumulator, stop_reason_of
from chainer.training.extensions.logs.encoded_list import (
    ENTRIES_IN_SNAPSHOT,
    EarlierEntries,
    EncodedList,
)
from chainer.training.extensions.logs.growing_json import GrowingJsonFile
from chainer.training.extensions.logs.inline_plot import log_table
from chainer.training.extensions.logs.log_files import find_earlier, keep, number_of_entries
from chainer.training.extensions.logs.run_description import RunDescription

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike


class LogReport(HasAccumulator, Extension):
    """Trainer extension to output the accumulated results to a log file.

    It accumulates the observations of the trainer over an interval, and writes the list of their
    means into a log file in JSON format. A new entry is appended to the file, at a cost that does
    not depend on the length of the list. The file is a complete list whenever the process is
    killed; it contains more spaces than necessary until the training ends. A program that reads it
    in the microsecond in which an entry is written may find a part of this entry: it should read
    again.

    A snapshot of the trainer contains the whole list up to a length of 10,000 entries. So it can be
    resumed wherever it is copied to, and by earlier releases. Of a longer list it contains the
    newest 10,000 entries, and a checksum of the others, which are in the log file: a snapshot does
    not get slower with the length of the training. When such a snapshot is resumed, the earlier
    entries come from the log file in the output directory of the trainer. So copy the log together
    with the snapshot. If the file is not there, or belongs to another training, a warning says
    which entries are missing; the training goes on without them, and the file is kept under another
    name: ``log.kept-1``. A log file is also kept if a training that starts from the beginning, or
    from a much older snapshot, would replace entries that later snapshots do not contain. Earlier
    releases go on with the newest entries only. See :attr:`entries_in_snapshot`. If ``log_name`` is
    None or a format string, a snapshot contains the whole list, however long it is.

    There are two triggers to handle this extension. The trigger of the extension itself,
    ``(1, 'iteration')`` by default, determines when results are accumulated. The argument
    ``trigger`` determines when the means are appended to the list, which is then written to the log
    file. A call before the first iteration (``call_before_training`` of
    :meth:`Trainer.extend <chainer.training.Trainer.extend>`) appends an entry at once.

    Some entries are added to each result dictionary: ``'epoch'`` and ``'iteration'``, the counts at
    the output, and ``'elapsed_time'``, the seconds since the training began
    (:attr:`Trainer.elapsed_time <chainer.training.Trainer.elapsed_time>`). When an extension called
    before this one has asked the trainer to stop, ``'stop_reason'`` is added too.

    Args:
        keys (iterable of strs): Keys of values to accumulate. If this is None, all the values are
            accumulated and output to the log file.
        trigger: Trigger that decides when to aggregate the result and output the values. A pair
            such as ``(1, 'epoch')`` is passed to
            :class:`~chainer.training.triggers.IntervalTrigger`.
        postprocess: Callback to postprocess the result dictionaries. Each result dictionary is
            passed to this callback on the output. It can modify the result dictionaries, which are
            used to output to the log file.
        log_name (str): Name of the log file under the output directory. It can be a format string:
            the last result dictionary is passed for the formatting. For example, users can use
            ``'{iteration}'`` to separate the log files for different iterations. If it is None, the
            log is not written to a file. Release 7 calls this argument ``filename``, which works as
            a keyword.
        about (bool): Whether a file about the run is written beside the log: hyperparameters,
            memory and time of the process, which ``chainer board`` shows. It is for a log of a
            fixed name only, not for one with ``'{iteration}'``.

    Attributes:
        entries_in_snapshot (int): Number of entries that a snapshot contains at most; None for all.
            10,000 by default.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.LogReport())
        >>> trainer.run()
        >>> log = trainer.get_extension("LogReport").log
        >>> sorted(log[-1])
        ['elapsed_time', 'epoch', 'iteration', 'main/accuracy', 'main/loss']
    """

    entries_in_snapshot: int | None = ENTRIES_IN_SNAPSHOT
    _reported: ReportedKeys | None = None

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerLike = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], Any] | None = None,
        log_name: str | None = "log",
        about: bool = False,
        **kwargs: Any,
    ) -> None:
        # The newer name is preferred where a program gives both.
        given = kwargs.pop("filename", log_name)
        filename = renamed_argument("LogReport", given, given, "filename", kwargs)
        self._accumulator = Accumulator(trigger, keys)
        self._postprocess = postprocess
        self._log: list[dict[str, Any]] = []
        self._file = GrowingJsonFile()
        self._encoded = EncodedList()
        # Entries before the list, which a snapshot did not contain.
        self._earlier: EarlierEntries | None = None
        # The file that may be written: its former contents were looked at.
        self._checked: str | None = None
        self._must_keep = False
        self._set_filename(filename)
        self._about = RunDescription() if about and self._fixed else None

    def _check_keys(self, result: dict[str, Any], observation: dict[str, Any]) -> None:
        """Warns of keys that nothing reports; subclasses may set the keys at any time."""
        if self._keys is None:
            return
        if self._reported is None:
            self._reported = ReportedKeys("LogReport", self._keys)
        self._reported.check(result, observation)

    def _set_filename(self, value: str | None) -> None:
        self._filename = value
        # Logs of changing names have a file each.
        self._fixed = value is not None and "{" not in value

    # Names of release 7 for subclasses in programs.

    @property
    def _keys(self) -> list[str] | None:
        return self._accumulator.keys

    @_keys.setter
    def _keys(self, value: list[str] | None) -> None:
        self._accumulator.keys = value

    @property
    def _log_name(self) -> str | None:
        return self._filename

    @_log_name.setter
    def _log_name(self, value: str | None) -> None:
        self._set_filename(value)

    @property
    def written_name(self) -> str | None:
        """Name of the log file, or its pattern; another process may not write it meanwhile."""
        return self._filename

    @property
    def log(self) -> list[dict[str, Any]]:
        """The current list of observation dictionaries."""
        return self._log

    def _repr_html_(self) -> str:
        # Shown by notebooks: a small plot of each value.
        return log_table(self._log)

    def initialize(self, trainer: Trainer) -> None:
        """Reads the entries that a snapshot did not contain, if that was not done before.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        self._read_log_file(trainer)

    def __call__(self, trainer: Trainer) -> None:
        """Accumulates the present observation, and writes the log when the interval is over.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        result: dict[str, Any] | None = self._accumulator.add(trainer)
        if result is None:
            return
        updater = trainer.updater
        result["epoch"] = updater.epoch
        result["iteration"] = updater.iteration
        result["elapsed_time"] = trainer.elapsed_time
        reason = stop_reason_of(trainer)
        if reason is not None:
            result["stop_reason"] = reason
        self._check_keys(result, trainer.observation)
        if self._postprocess is not None:
            self._postprocess(result)
        self._log.append(result)
        if self._filename is not None:
            path = os.path.join(trainer.out, self._filename.format(**result))
            self._keep_what_snapshots_need(path)
            self._file.write(path, self._log)
            if self._about is not None:
                self._about.update(path, trainer)

    def _keep_what_snapshots_need(self, path: str) -> None:
        """Keeps a file that is about to be replaced, if snapshots may rely on it."""
        if path == self._checked or not self._fixed:
            return
        limit = self.entries_in_snapshot
        # The entry that is new has not been written yet. Those that are computed again, after a
        # training was killed, are in the snapshots, unless there are more than a snapshot contains.
        replaceable = len(self._log) - 1
        if self._must_keep:
            needed = os.path.isfile(path)
        else:
            needed = limit is not None and number_of_entries(path) > replaceable + limit
        if needed:
            keep(path)
        self._checked, self._must_keep = path, False

    def _read_log_file(self, trainer: Trainer) -> None:
        """Reads the entries that a snapshot did not contain from the log file."""
        earlier, self._earlier = self._earlier, None
        if earlier is None:
            return
        if self._filename is None or not self._fixed:
            found = "this LogReport has no log file of a fixed name"
        else:
            path = os.path.join(trainer.out, self._filename)
            entries = find_earlier(path, earlier)
            if not isinstance(entries, str):
                self._log[:0] = entries
                return
            found = f"{entries}, which will be kept as '{path}.kept-N' if it exists"
            self._must_keep = True
        warnings.warn(
            f"entries 1 to {earlier.count:,} of the log are missing. The snapshot contains the "
            f"{len(self._log):,} after them only, and relies on the log file for the others: "
            f"{found}. To resume with the whole log, copy the log file of that training there and "
            "load the snapshot again",
            stacklevel=2,
        )

    def finalize(self) -> None:
        """Completes the files."""
        self._file.close()
        if self._about is not None:
            self._about.close()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the log and what was accumulated since its last entry.

        Of a long log only the newest entries are saved, see above. :class:`Trainer
        <chainer.training.Trainer>` reads the others when it has been loaded.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._accumulator.serialize(serializer)
        if isinstance(serializer, Serializer):
            earlier = self._earlier
            if earlier is None:
                serializer("_log", self._encoded.text(self._log, self._limit()))
                earlier = self._encoded.earlier
            else:
                serializer("_log", json.dumps(self._log))
            # Shorter logs make the same file as release 7.
            if earlier.count:
                serializer("_log_earlier", earlier.to_text())
            return
        text = serializer("_log", "")
        if text:
            self._log = parse_json("the log", text, list, dict)
            earlier = load_optional(serializer, "_log_earlier", "")
            self._earlier = EarlierEntries.of_text(earlier) if earlier else None
            # The file may have entries of the time after the snapshot.
            self._file = GrowingJsonFile()
            self._encoded = EncodedList()
            self._checked, self._must_keep = None, False

    def _limit(self) -> int | None:
        """Returns the number of entries that a snapshot contains at present; None for all."""
        limit = self.entries_in_snapshot
        if limit is None or len(self._log) <= limit:
            return limit
        # A file that was removed, or is not written yet after a resumption, does not help.
        return limit if self._fixed and self._file.is_on_disk(len(self._log)) else None
