"""Triggers that fire when a value is better than ever before."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from chainer.core.reporting.reported_keys import ReportedKeys
from chainer.core.reporting.summary import DictSummary, to_float
from chainer.core.utils.repr_texts import call_text
from chainer.links.loaded_state import load_optional, serialize_if_able, serialize_unsaved
from chainer.training.trigger import TriggerLike, get_trigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class BestValueTrigger:
    """Trigger invoked when specific value becomes best.

    The value is averaged over each comparison interval. The first average always counts as the
    best.

    Args:
        key (str): Key of the value in the observation.
        compare (callable): Takes the current best value and a new value and returns whether the new
            value is better.
        trigger: Trigger that decides the comparison interval; a pair such as ``(1, 'epoch')`` is
            passed to :class:`~chainer.training.triggers.IntervalTrigger`.

    Attributes:
        best_value: The best average so far, or None.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.BestValueTrigger("main/loss", lambda best, new: new < 0.9 * best)
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 2
    """

    def __init__(
        self, key: str, compare: Callable[[float, float], bool], trigger: TriggerLike = (1, "epoch")
    ) -> None:
        self._key = key
        self._compare = compare
        self.best_value: float | None = None
        self._interval_trigger = get_trigger(trigger)
        self._init_summary()
        self._keys = ReportedKeys(type(self).__name__, [key])

    def __repr__(self) -> str:
        interval = ("trigger", self._interval_trigger)
        return call_text(self, [("key", self._key), interval, ("best_value", self.best_value)])

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object whose observation is used.

        Returns:
            bool: True if the corresponding extension should be invoked in this iteration.
        """
        observation = trainer.observation
        if self._key in observation:
            self._summary.add({self._key: observation[self._key]})
        if not self._interval_trigger(trainer):
            return False
        means = self._summary.compute_mean()
        if self.best_value is None:
            self._keys.check(means.keys(), trainer.observation.keys())
        self._init_summary()
        if self._key not in means:
            return False
        value = to_float(means[self._key])
        if self.best_value is None or self._compare(self.best_value, value):
            self.best_value = value
            return True
        return False

    def _init_summary(self) -> None:
        """Begins an interval; subclasses in programs do more."""
        self._summary = DictSummary()

    @property
    def _best_value(self) -> float | None:
        """Name of :attr:`best_value` in release 7."""
        return self.best_value

    @_best_value.setter
    def _best_value(self, value: float | None) -> None:
        self.best_value = value

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the best value and what was accumulated since the last comparison.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        serialize_if_able(self._interval_trigger, serializer["interval_trigger"])
        # Release 4 did not save the state of these triggers.
        serialize_unsaved(self._summary, serializer["summary"])
        self.best_value = load_optional(serializer, "best_value", self.best_value)
        if self.best_value is not None:
            self.best_value = float(self.best_value)


class MaxValueTrigger(BestValueTrigger):
    """Trigger invoked when specific value becomes maximum.

    For example you can use this trigger to take a snapshot on the epoch the validation accuracy is
    maximum.

    Args:
        key (str): Key of value. The trigger fires when the value associated with this key becomes
            maximum.
        trigger: Trigger that decides the comparison interval; a pair such as ``(1, 'epoch')`` is
            passed to :class:`~chainer.training.triggers.IntervalTrigger`.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.MaxValueTrigger("main/accuracy")
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 2
        iteration 6
    """

    def __init__(self, key: str, trigger: TriggerLike = (1, "epoch")) -> None:
        super().__init__(key, operator.lt, trigger)


class MinValueTrigger(BestValueTrigger):
    """Trigger invoked when specific value becomes minimum.

    For example you can use this trigger to take a snapshot on the epoch the validation loss is
    minimum.

    Takes the arguments of :class:`MaxValueTrigger`.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.MinValueTrigger("main/loss")
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 2
    """

    def __init__(self, key: str, trigger: TriggerLike = (1, "epoch")) -> None:
        super().__init__(key, operator.gt, trigger)
