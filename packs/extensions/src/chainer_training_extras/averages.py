"""Means of observed values over intervals, which most of the extensions show or store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import chainer
from chainer import training

if TYPE_CHECKING:
    from chainer.training import Trainer


def to_float(value: Any) -> float:
    """Returns a scalar, a variable or a zero-dimensional array of any backend as a float."""
    if isinstance(value, chainer.Variable):
        value = value.array
    if chainer.backend.is_array(value):
        value = chainer.get_device("@numpy").send(value)
    return float(value)


def serialize_optional(obj: Any, serializer: Any) -> None:
    """Serializes an object, such as a trigger, that may have nothing to serialize."""
    serialize = getattr(obj, "serialize", None)
    if serialize is not None:
        serialize(serializer)


def serialize_json(serializer: Any, key: str, value: Any) -> Any:
    """Serializes a value as JSON text.

    Returns:
        The value, or the loaded one.
    """
    if isinstance(serializer, chainer.Serializer):
        serializer(key, json.dumps(value))
        return value
    text = serializer(key, "")
    return json.loads(text) if text else value


class Averages:
    """Means of the observations of a trainer since the trigger fired last.

    Args:
        trigger: What :func:`chainer.training.get_trigger` takes.
        keys: Keys of the observations to average; None for all.
    """

    def __init__(self, trigger: Any, keys: Iterable[str] | None = None) -> None:
        self._trigger = training.get_trigger(trigger)
        self._keys = None if keys is None else list(keys)
        self._summary = chainer.DictSummary()

    def add(self, trainer: Trainer, *, also_when_stopped: bool = False) -> dict[str, float] | None:
        """Adds the present observation.

        Args:
            trainer: Trainer whose observation it is.
            also_when_stopped: Whether the interval also ends when the trainer is about to stop.

        Returns:
            The means if the interval ends here, otherwise None.
        """
        observation = trainer.observation
        if self._keys is not None:
            observation = {key: observation[key] for key in self._keys if key in observation}
        self._summary.add(observation)
        fired = self._trigger(trainer)
        if not (fired or (also_when_stopped and trainer.stop_reason is not None)):
            return None
        means = {key: to_float(value) for key, value in self._summary.compute_mean().items()}
        self._summary = chainer.DictSummary()
        return means

    def serialize(self, serializer: Any) -> None:
        """Serializes the trigger and the sums of the interval."""
        serialize_optional(self._trigger, serializer["trigger"])
        self._summary.serialize(serializer["summary"])


def larger_is_better(mode: str, key: str) -> bool:
    """Tells whether larger values of an observation are the better ones.

    Args:
        mode: ``'max'``, ``'min'``, or ``'auto'``: ``'max'`` for accuracies, scores and the
            like, going by the last part of the key.
        key: Key of the observation.

    Raises:
        ValueError: If the mode is unknown.
    """
    if mode not in ("auto", "max", "min"):
        raise ValueError(f"mode must be 'auto', 'max' or 'min', got {mode!r}")
    if mode != "auto":
        return mode == "max"
    return any(word in key.rsplit("/", 1)[-1].lower() for word in _LARGER_IS_BETTER)


_LARGER_IS_BETTER = ("accuracy", "precision", "recall", "score", "f1", "auc", "iou")
