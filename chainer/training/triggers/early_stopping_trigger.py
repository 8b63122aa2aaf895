"""Early stopping."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

from chainer.core.misuse import expect_number
from chainer.core.reporting.summary import DictSummary, to_float
from chainer.core.utils.argument import renamed_argument
from chainer.core.utils.repr_texts import attributes_text
from chainer.links.loaded_state import load_optional, serialize_unsaved
from chainer.training.trigger import TriggerLike, get_trigger, training_length

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class EarlyStoppingTrigger:
    """Trigger for Early Stopping.

    It can be used as a stop trigger of :class:`~chainer.training.Trainer` to realize *early
    stopping* technique.

    Within each check interval it accumulates the reported value. At the end of the interval it
    compares the mean to the best one so far. When the best value was not improved for some
    intervals (``patience``), it fires.

    Args:
        check_trigger: Trigger that decides the comparison interval; a pair such as ``(1, 'epoch')``
            is passed to :class:`~chainer.training.triggers.IntervalTrigger`.
        monitor (str): The metric you want to monitor.
        patience (int): Number of successive intervals without improvement after which the trigger
            fires. Release 4 calls this argument ``patients``, which works as a keyword.
        mode (str): ``'max'``, ``'min'`` or ``'auto'``: how to compare the values. ``'auto'`` means
            ``'max'`` if the name of the metric contains ``'accuracy'``, and ``'min'`` otherwise.
        verbose (bool): If true, tells what it does on the standard output.
        max_trigger: Upper bound of the number of training loops.

    Attributes:
        best (float): The best mean so far.
        count (int): Number of successive intervals without improvement.
        monitor (str): The metric.
        patience (int): Number of such intervals after which the trigger fires.
        verbose (bool): Whether it tells what it does.

    Raises:
        TypeError: If ``patience`` and ``patients`` are both given.
        ValueError: If the mode is unknown.

    Example:
        The loss of this model does not change, so the training ends after three epochs of fifty:

        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.0).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trigger = chainer.training.triggers.EarlyStoppingTrigger(
        ...     monitor="main/loss", patience=2, max_trigger=(50, "epoch"))
        >>> training.Trainer(updater, trigger).run()
        >>> updater.epoch
        3
    """

    def __init__(
        self,
        check_trigger: TriggerLike = (1, "epoch"),
        monitor: str = "main/loss",
        patience: int | None = None,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: TriggerLike = (100, "epoch"),
        **kwargs: Any,
    ) -> None:
        if patience is not None and "patients" in kwargs:
            raise TypeError("patience and patients are the same argument: give one of them")
        given = renamed_argument("EarlyStoppingTrigger", patience, None, "patients", kwargs)
        if mode not in ("max", "min", "auto"):
            raise ValueError(f"mode must be 'max', 'min' or 'auto', got {mode!r}")
        if mode == "auto":
            mode = "max" if "accuracy" in monitor else "min"
        self.count = 0
        self.patience = 3 if given is None else given
        expect_number("patience of EarlyStoppingTrigger", self.patience, at_least=1)
        self.monitor = monitor
        self.verbose = verbose
        self.already_warning = False
        self._max_trigger = get_trigger(max_trigger)
        self._interval_trigger = get_trigger(check_trigger)
        self._init_summary()
        self._compare = operator.gt if mode == "max" else operator.lt
        self.best = float("-inf") if mode == "max" else float("inf")
        if verbose:
            print(f"early stopping: operator is {'greater' if mode == 'max' else 'less'}")

    def __repr__(self) -> str:
        return attributes_text(self, ("monitor", "patience", "best", "count"))

    @property
    def patients(self) -> int:
        """Name of :attr:`patience` in release 4."""
        return self.patience

    @patients.setter
    def patients(self, value: int) -> None:
        self.patience = value

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the training loop should be stopped.

        Args:
            trainer (Trainer): Trainer object whose observation is used.

        Returns:
            bool: True if the training loop should be stopped.
        """
        observation = trainer.observation
        if self.monitor in observation:
            self._summary.add({self.monitor: observation[self.monitor]})
        # Asked at each iteration, since a trigger remembers its last call.
        if self._max_trigger(trainer):
            return True
        if not self._interval_trigger(trainer):
            return False
        if self.monitor not in observation:
            # The summary goes on: the next interval also has the values of this one.
            if not self.already_warning:
                warnings.warn(
                    f"{self.monitor} is not in observation: early stopping has nothing to compare",
                    stacklevel=2,
                )
                self.already_warning = True
            return False
        mean = self._summary.compute_mean()[self.monitor]
        self._init_summary()
        return self._judge(trainer, to_float(mean))

    def _judge(self, trainer: Trainer, value: float) -> bool:
        if self._compare(value, self.best):
            self.best = value
            self.count = 0
        else:
            self.count += 1
        if not self._stop_condition():
            return False
        if self.verbose:
            print(f"Epoch {trainer.updater.epoch}: early stopping")
        return True

    # Subclasses in programs define these two methods.

    def _stop_condition(self) -> bool:
        """Returns whether the value was not improved for too long."""
        return self.count >= self.patience

    def _init_summary(self) -> None:
        """Begins an interval."""
        self._summary = DictSummary()

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit of the upper bound of the training.

        Raises:
            AttributeError: If ``max_trigger`` is a trigger that does not know its length.
        """
        length = training_length(self._max_trigger)
        if length is None:
            raise AttributeError(f"max_trigger {self._max_trigger!r} does not know its length")
        return length

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the best value, the count and what was accumulated since the last comparison.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        # Other releases save no state of this trigger.
        serialize_unsaved(self._interval_trigger, serializer["interval_trigger"])
        serialize_unsaved(self._max_trigger, serializer["max_trigger"])
        serialize_unsaved(self._summary, serializer["summary"])
        self.best = float(load_optional(serializer, "best", self.best))
        self.count = int(load_optional(serializer, "count", self.count))
