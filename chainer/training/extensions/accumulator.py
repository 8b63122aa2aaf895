"""Means of observations over intervals, which several extensions use.

Third-party extensions may use it, too: ``chainer.training.Accumulator`` and, from this module,
:func:`to_float` and :func:`serialize_json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chainer.core.reporting.summary import DictSummary
from chainer.core.reporting.summary import to_float as to_float
from chainer.links.loaded_state import serialize_if_able
from chainer.links.loaded_state import serialize_json as serialize_json
from chainer.links.serializer import AbstractSerializer
from chainer.training.trigger import Trigger, TriggerLike, get_trigger

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def stop_reason_of(trainer: Trainer) -> str | None:
    """Returns why a trainer is about to stop; None if it is not.

    Trainers of programs and the substitutes in their tests do not have the attribute, or have
    anything in its place: releases up to 7 do not know it.
    """
    reason = getattr(trainer, "stop_reason", None)
    return reason if isinstance(reason, str) else None


class Accumulator:
    """Averages the observations of a trainer until a trigger fires.

    Args:
        trigger: Trigger, or what :func:`~chainer.training.get_trigger` makes one of.
        keys: Keys of the observations to average; None for all.

    Attributes:
        trigger: The trigger.
        keys: List of the keys, or None.
        summary: Sums of the values since the trigger fired.

    Example:
        An extension that prints the mean of the loss over each epoch.

        >>> from chainer import training
        >>> class PrintLoss(training.Extension):
        ...     trigger = (1, 'iteration')  # sees every observation
        ...     def __init__(self):
        ...         self._losses = training.Accumulator((1, 'epoch'), ['main/loss'])
        ...     def __call__(self, trainer):
        ...         means = self._losses.add(trainer)
        ...         if means is not None:
        ...             print(means['main/loss'])
        ...     def serialize(self, serializer):
        ...         self._losses.serialize(serializer['losses'])
    """

    def __init__(self, trigger: TriggerLike, keys: Iterable[str] | None = None) -> None:
        self.trigger = get_trigger(trigger)
        self.keys = None if keys is None else list(keys)
        self.summary = DictSummary()

    def add(self, trainer: Trainer, *, also_when_stopped: bool = False) -> dict[str, float] | None:
        """Adds the present observation.

        Args:
            trainer: Trainer whose observation it is.
            also_when_stopped: Whether the interval also ends when the trainer is about to stop.

        Returns:
            dict: The means since the last time, if the interval ends here or the training has not
            begun; otherwise None.
        """
        observation = trainer.observation
        if self.keys is not None:
            observation = {key: observation[key] for key in self.keys if key in observation}
        self.summary.add(observation)
        # A call before the first iteration is there to record the values of that moment. The
        # trigger is not asked: it would count the call.
        fired = trainer.is_before_training or self.trigger(trainer)
        if not (fired or (also_when_stopped and stop_reason_of(trainer) is not None)):
            return None
        means = {key: to_float(value) for key, value in self.summary.compute_mean().items()}
        self.summary = DictSummary()
        return means

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the trigger and what was accumulated.

        A file without the accumulated values leaves the accumulator empty, with a warning.
        """
        serialize_if_able(self.trigger, serializer["_trigger"])
        # Rather a mean over fewer iterations than a snapshot that cannot be loaded.
        self.summary.serialize(serializer["_summary"])


class HasAccumulator:
    """Mixin of extensions that accumulate observations.

    Subclasses in programs for release 7 define their own ``__call__`` and use these names.
    """

    _accumulator: Accumulator

    @property
    def _trigger(self) -> Trigger:
        return self._accumulator.trigger

    @_trigger.setter
    def _trigger(self, value: Trigger) -> None:
        self._accumulator.trigger = value

    @property
    def _summary(self) -> DictSummary:
        return self._accumulator.summary

    @_summary.setter
    def _summary(self, value: DictSummary) -> None:
        self._accumulator.summary = value

    def _init_summary(self) -> None:
        self._accumulator.summary = DictSummary()
