"""The log file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.links.serializer import Serializer
from chainer.training.accumulator import Accumulator, stop_reason_of
from chainer.training.extension import Extension
from chainer.training.growing_json import EncodedLog, GrowingJsonFile
from chainer.training.inline_plot import log_table
from chainer.training.loaded_state import parse_json
from chainer.training.renamed import renamed_argument
from chainer.training.run_description import RunDescription

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike


class LogReport(Extension):
    """Trainer extension to output the accumulated results to a log file.

    It accumulates the observations of the trainer over an interval, and writes the list of their
    means into a log file in JSON format. A new entry is appended to the file, at a cost that does
    not depend on the length of the list. The file is a complete list whenever the process is
    killed; it contains more spaces than necessary until the training ends. A program that reads it
    in the microsecond in which an entry is written may find a part of this entry: it should read
    again.

    A snapshot of the trainer contains the whole list, so that it can be resumed wherever it is
    copied to, in release 7 as well. Of 100,000 entries these are 2 MB in the file, and 2 s each
    time. If snapshots are frequent, write fewer entries: ``trigger=(1, 'epoch')``, which is the
    default.

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
    """

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
        self._filename = renamed_argument("LogReport", given, given, "filename", kwargs)
        self._accumulator = Accumulator(trigger, keys)
        self._postprocess = postprocess
        self._log: list[dict[str, Any]] = []
        self._file = GrowingJsonFile()
        self._encoded = EncodedLog()
        # Logs of changing names would have a file each.
        fixed = self._filename is not None and "{" not in self._filename
        self._about = RunDescription() if about and fixed else None

    @property
    def log(self) -> list[dict[str, Any]]:
        """The current list of observation dictionaries."""
        return self._log

    def _repr_html_(self) -> str:
        # Shown by notebooks: a small plot of each value.
        return log_table(self._log)

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
        if self._postprocess is not None:
            self._postprocess(result)
        self._log.append(result)
        if self._filename is not None:
            path = os.path.join(trainer.out, self._filename.format(**result))
            self._file.write(path, self._log)
            if self._about is not None:
                self._about.update(path, trainer)

    def finalize(self) -> None:
        """Completes the files."""
        self._file.close()
        if self._about is not None:
            self._about.close()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the log and what was accumulated since its last entry.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._accumulator.serialize(serializer)
        if isinstance(serializer, Serializer):
            # Only the entries since the last snapshot are encoded.
            serializer("_log", self._encoded.text(self._log))
            return
        text = serializer("_log", "")
        if text:
            self._log = parse_json("the log", text, list, dict)
            # The file may have entries of the time after the snapshot.
            self._file = GrowingJsonFile()
            self._encoded = EncodedLog()
