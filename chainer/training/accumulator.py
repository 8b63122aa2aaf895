"""Averaging observations over intervals, which several extensions do.

This module is public, for extensions of others: ``chainer.training.Accumulator`` and, from here,
:func:`to_float` and :func:`serialize_json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import DictSummary
from chainer.links.serializer import Serializer
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def to_float(value: Any) -> float:
    """Returns an observed value as a float.

    Args:
        value: Scalar, NumPy scalar, or Variable or array of any backend without dimensions.
    """
    value = value.array if isinstance(value, Variable) else value
    return float(backend_of(value).to_host(value) if is_array(value) else value)


class Accumulator:
    """Averages the observations of a trainer until a trigger fires.

    Args:
        trigger: Trigger, or what :func:`~chainer.training.get_trigger` makes one of.
        keys: Keys of the observations to average; None for all.

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

    def __init__(self, trigger: Any, keys: Iterable[str] | None = None) -> None:
        self.trigger = get_trigger(trigger)
        self._keys = None if keys is None else list(keys)
        self._summary = DictSummary()

    def add(self, trainer: Trainer, *, also_when_stopped: bool = False) -> dict[str, float] | None:
        """Adds the present observation.

        Args:
            trainer: Trainer whose observation it is.
            also_when_stopped: Whether the interval also ends when the trainer is about to stop.

        Returns:
            dict: The means since the last time, if the interval ends here; otherwise None.
        """
        observation = trainer.observation
        if self._keys is not None:
            observation = {key: observation[key] for key in self._keys if key in observation}
        self._summary.add(observation)
        fired = self.trigger(trainer)
        if not (fired or (also_when_stopped and trainer.stop_reason is not None)):
            return None
        means = {key: to_float(value) for key, value in self._summary.compute_mean().items()}
        self._summary = DictSummary()
        return means

    def serialize(self, serializer: Any) -> None:
        """Serializes the trigger and what was accumulated.

        Files of extensions that do not save it leave the accumulator empty.
        """
        if hasattr(self.trigger, "serialize"):
            self.trigger.serialize(serializer["_trigger"])  # type: ignore[attr-defined]
        try:
            self._summary.serialize(serializer["_summary"])
        except KeyError:
            self._summary = DictSummary()


def serialize_json(serializer: Any, key: str, value: Any) -> Any:
    """Serializes a value as JSON text.

    Args:
        serializer: Serializer or deserializer.
        key: Key of the entry.
        value: What :mod:`json` can write.

    Returns:
        The value, or the loaded one.
    """
    if isinstance(serializer, Serializer):
        serializer(key, json.dumps(value))
        return value
    text = serializer(key, "")
    return json.loads(text) if text else value
