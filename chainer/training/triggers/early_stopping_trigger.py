"""Early stopping."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.reporting.reporter import DictSummary
from chainer.training.trigger import get_trigger, load_optional

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class EarlyStoppingTrigger:
    """Trigger for Early Stopping.

    It can be used as a stop trigger of :class:`~chainer.training.Trainer` to realize *early
    stopping* technique.

    Within each check interval it accumulates the reported value. At the end of the interval it
    compares the mean to the best one so far. When the best value was not improved for some
    intervals (``patients``), it fires.

    Args:
        check_trigger: Trigger that decides the comparison interval; a pair such as ``(1, 'epoch')``
            is passed to :class:`~chainer.training.triggers.IntervalTrigger`.
        monitor (str): The metric you want to monitor.
        patients (int): Number of successive intervals without improvement after which the trigger
            fires (``patience`` is another name of this argument).
        mode (str): ``'max'``, ``'min'`` or ``'auto'``: how to compare the values. ``'auto'`` means
            ``'max'`` if the name of the metric contains ``'accuracy'``, and ``'min'`` otherwise.
        verbose (bool): If true, tells what it does on the standard output.
        max_trigger: Upper bound of the number of training loops.

    Raises:
        ValueError: If the mode is unknown.

    Example:
        >>> trigger = chainer.training.triggers.EarlyStoppingTrigger(
        ...     monitor='validation/main/loss', patients=5, max_trigger=(50, 'epoch'))
    """

    def __init__(
        self,
        check_trigger: Any = (1, "epoch"),
        monitor: str = "main/loss",
        patients: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: Any = (100, "epoch"),
        **kwargs: Any,
    ) -> None:
        if "patience" in kwargs:
            patients = kwargs.pop("patience")
        if kwargs:
            raise TypeError(
                "EarlyStoppingTrigger got unexpected keyword argument(s) "
                + ", ".join(map(repr, kwargs))
            )
        if mode not in ("max", "min", "auto"):
            raise ValueError(f"mode must be 'max', 'min' or 'auto', got {mode!r}")
        if mode == "auto":
            mode = "max" if "accuracy" in monitor else "min"
        self.count = 0
        self.patients = patients
        self.monitor = monitor
        self.verbose = verbose
        self.already_warning = False
        self._max_trigger = get_trigger(max_trigger)
        self._interval_trigger = get_trigger(check_trigger)
        self._summary = DictSummary()
        self._better = operator.gt if mode == "max" else operator.lt
        self.best = float("-inf") if mode == "max" else float("inf")
        if verbose:
            print(f"early stopping: operator is {'greater' if mode == 'max' else 'less'}")

    @property
    def patience(self) -> int:
        """Same as :attr:`patients`."""
        return self.patients

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the training loop should be stopped.

        Args:
            trainer (Trainer): Trainer object whose observation is looked at.

        Returns:
            bool: True if the training loop should be stopped.
        """
        observation = trainer.observation
        if self.monitor in observation:
            self._summary.add({self.monitor: observation[self.monitor]})
        if self._max_trigger(trainer):
            return True
        if not self._interval_trigger(trainer):
            return False
        means = self._summary.compute_mean()
        self._summary = DictSummary()
        if self.monitor not in means:
            if not self.already_warning:
                warnings.warn(
                    f"{self.monitor} is not in observation: early stopping has nothing to look at",
                    stacklevel=2,
                )
                self.already_warning = True
            return False
        return self._judge(trainer, means[self.monitor])

    def _judge(self, trainer: Trainer, value: Any) -> bool:
        value = float(backend_of(value).to_host(value) if is_array(value) else value)
        if self._better(value, self.best):
            self.best = value
            self.count = 0
        else:
            self.count += 1
        if self.count < self.patients:
            return False
        if self.verbose:
            print(
                f"Epoch {trainer.updater.epoch}: early stopping, best {self.monitor} {self.best:g}"
            )
        return True

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit of the upper bound of the training."""
        return self._max_trigger.get_training_length()  # type: ignore[attr-defined]

    def serialize(self, serializer: Any) -> None:
        """Serializes the best value, the count and what was accumulated since the last comparison.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        for name, trigger in (
            ("interval_trigger", self._interval_trigger),
            ("max_trigger", self._max_trigger),
        ):
            if hasattr(trigger, "serialize"):
                trigger.serialize(serializer[name])  # type: ignore[attr-defined]
        try:
            self._summary.serialize(serializer["summary"])
        except KeyError:  # other releases do not save the state of this trigger
            self._summary = DictSummary()
        self.best = float(load_optional(serializer, "best", self.best))
        self.count = int(load_optional(serializer, "count", self.count))
