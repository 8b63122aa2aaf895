"""The log file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.utils.atomic_file import replacing
from chainer.training.accumulator import Accumulator, serialize_json
from chainer.training.extension import Extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class LogReport(Extension):
    """Trainer extension to output the accumulated results to a log file.

    It accumulates the observations of the trainer over an interval, and writes the list of their
    means into a log file in JSON format.

    There are two triggers to handle this extension. The trigger of the extension itself,
    ``(1, 'iteration')`` by default, determines when results are accumulated. The argument
    ``trigger`` determines when the means are appended to the list, which is then written to the log
    file.

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
            ``'{iteration}'`` to separate the log files for different iterations. If the log name is
            None, it does not output the log to any file. Later releases call this argument
            ``filename``, which works too.
    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], Any] | None = None,
        log_name: str | None = "log",
        **kwargs: Any,
    ) -> None:
        if "filename" in kwargs:
            log_name = kwargs.pop("filename")
        if kwargs:
            raise TypeError(
                f"LogReport got unexpected keyword argument(s) {', '.join(map(repr, kwargs))}"
            )
        self._accumulator = Accumulator(trigger, keys)
        self._postprocess = postprocess
        self._log_name = log_name
        self._log: list[dict[str, Any]] = []

    @property
    def log(self) -> list[dict[str, Any]]:
        """The current list of observation dictionaries."""
        return self._log

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
        if trainer.stop_reason is not None:
            result["stop_reason"] = trainer.stop_reason
        if self._postprocess is not None:
            self._postprocess(result)
        self._log.append(result)
        if self._log_name is not None:
            path = os.path.join(trainer.out, self._log_name.format(**result))
            with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
                json.dump(self._log, file, indent=4)

    def serialize(self, serializer: Any) -> None:
        """Serializes the log and what was accumulated since its last entry.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._accumulator.serialize(serializer)
        self._log = serialize_json(serializer, "_log", self._log)
