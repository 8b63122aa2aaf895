"""Trigger based on a fixed interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.triggers.position import PositionedTrigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class IntervalTrigger(PositionedTrigger):
    """Trigger based on a fixed interval.

    It fires at the iterations at which a multiple of the interval is reached or passed since its
    last call. An iteration is an update. An epoch is a sweep over the training dataset, and
    fractions of it are allowed: the trigger uses the attributes ``iteration`` and ``epoch_detail``
    of the updater.

    For the description of triggers, see :func:`~chainer.training.get_trigger`.

    Args:
        period (int or float): Length of the interval, positive. An integer if ``unit`` is
            ``'iteration'``.
        unit (str): Unit of the length: ``'iteration'`` or ``'epoch'``.

    Attributes:
        count (int): Number of whole intervals at the last call. It is 0 before the first call, and
            stays 0 in iterations.

    Raises:
        ValueError: If the unit is unknown or the period is not positive.
    """

    def __init__(self, period: float, unit: str) -> None:
        super().__init__(unit)
        if not period > 0:
            raise ValueError(f"period must be positive, got {period!r}")
        self.period = period
        self.unit = unit
        self.count = 0

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object that this trigger is associated with. Its updater is
                used to determine if the trigger should fire.

        Returns:
            bool: True if the corresponding extension should be invoked in this iteration.
        """
        previous, current = self._position.advance(trainer)
        passed = current // self.period
        if self.unit == "epoch":
            self.count = int(passed)
        return previous // self.period != passed

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position of the last call.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._position.serialize(serializer)

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit: the length of a training that this trigger stops."""
        return self.period, self.unit

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.period!r}, {self.unit!r})"
