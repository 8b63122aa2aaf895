"""Trigger invoked at given points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from chainer.training.trigger import check_unit, load_optional, previous_epoch_detail

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class ManualScheduleTrigger:
    """Trigger invoked at specified point(s) of iterations or epochs.

    It fires at the iterations at which one of the points is reached or passed. Fractions of epochs
    are allowed: the trigger uses the attributes ``iteration`` and ``epoch_detail`` of the updater.

    Args:
        points (int, float, or list of int or float): Time of the trigger. An integer or a list of
            integers if ``unit`` is ``'iteration'``.
        unit (str): Unit of the time: ``'iteration'`` or ``'epoch'``.

    Attributes:
        finished (bool): Whether it will not fire any more.

    Raises:
        ValueError: If the unit is unknown.
    """

    def __init__(self, points: float | Iterable[float], unit: str) -> None:
        check_unit(unit)
        self.points: list[float] = (
            list(points) if isinstance(points, Iterable) else [points]  # type: ignore[list-item]
        )
        self.unit = unit
        self.finished = False
        self._previous_iteration = -1
        self._previous_epoch_detail = -1.0

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object that this trigger is associated with. Its updater is
                used to determine if the trigger should fire.

        Returns:
            bool: True if the corresponding extension should be invoked in this iteration.
        """
        updater = trainer.updater
        iteration = updater.iteration
        if self.unit == "epoch":
            current = updater.epoch_detail
            previous = self._previous_epoch_detail
            if previous < 0:
                previous = previous_epoch_detail(updater)
        else:
            current = iteration
            previous = self._previous_iteration
            if previous < 0:
                previous = max(iteration - 1, 0)
        self._previous_iteration = iteration
        if hasattr(updater, "epoch_detail"):  # hand-written updaters may not have it
            self._previous_epoch_detail = updater.epoch_detail
        self.finished = all(point <= current for point in self.points)
        return any(previous < point <= current for point in self.points)

    def serialize(self, serializer: Any) -> None:
        """Serializes the position of the last call.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._previous_iteration = load_optional(
            serializer, "previous_iteration", self._previous_iteration
        )
        self._previous_epoch_detail = load_optional(
            serializer, "previous_epoch_detail", self._previous_epoch_detail
        )
        self.finished = load_optional(serializer, "finished", self.finished)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.points!r}, {self.unit!r})"
