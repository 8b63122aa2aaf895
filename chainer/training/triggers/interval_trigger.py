"""Trigger based on a fixed interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training.trigger import check_unit, load_optional, previous_epoch_detail

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class IntervalTrigger:
    """Trigger based on a fixed interval.

    It fires at the iterations at which a multiple of the interval is reached or passed. An
    iteration is an update; an epoch is a sweep over the training dataset, and fractions of it are
    allowed: the trigger uses the attributes ``iteration`` and ``epoch_detail`` of the updater.

    For the description of triggers, see :func:`~chainer.training.get_trigger`.

    Args:
        period (int or float): Length of the interval, positive. An integer if ``unit`` is
            ``'iteration'``.
        unit (str): Unit of the length: ``'iteration'`` or ``'epoch'``.

    Raises:
        ValueError: If the unit is unknown or the period is not positive.
    """

    def __init__(self, period: float, unit: str) -> None:
        check_unit(unit)
        if not period > 0:
            raise ValueError(f"period must be positive, got {period!r}")
        self.period = period
        self.unit = unit
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
        # Hand-written updaters may not know of epochs.
        epoch = getattr(updater, "epoch_detail", None)
        if self.unit == "epoch":
            if epoch is None:
                raise AttributeError(
                    f"{type(updater).__name__} has no epoch_detail, which {self} needs"
                )
            current, previous = epoch, self._previous_epoch_detail
            if previous < 0:
                previous = previous_epoch_detail(updater)
        else:
            current, previous = iteration, self._previous_iteration
            if previous < 0:
                previous = max(iteration - 1, 0)
        self._previous_iteration = iteration
        if epoch is not None:
            self._previous_epoch_detail = epoch
        return previous // self.period != current // self.period

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

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit: the length of a training that this trigger stops."""
        return self.period, self.unit

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.period!r}, {self.unit!r})"
