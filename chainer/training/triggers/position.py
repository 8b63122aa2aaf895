"""The position in the training at which a trigger was called last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.links.serializer import Deserializer
from chainer.training.loaded_state import check_count, check_finite
from chainer.training.trigger import check_unit, load_or_warn, previous_epoch_detail

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

#: Position of a trigger whose state is not in the snapshot.
UNKNOWN = -1


class LastPosition:
    """Remembers iteration and epoch of the last call of a trigger.

    A trigger compares the present position with the last one, so that it need not be called at
    each iteration. Both units are remembered: a snapshot contains both, whatever the trigger uses.

    Args:
        unit: ``'iteration'`` or ``'epoch'``: what :meth:`advance` returns.

    Raises:
        ValueError: If the unit is unknown.
    """

    def __init__(self, unit: str) -> None:
        check_unit(unit)
        self._unit = unit
        self._iteration: int = 0
        self._epoch_detail: float = 0.0

    def advance(self, trainer: Trainer) -> tuple[float, float]:
        """Moves to the present position of a trainer.

        Returns:
            tuple: The last position and the present one, in the unit.

        Raises:
            AttributeError: If the unit is epochs and the updater has no ``epoch_detail``.
        """
        updater = trainer.updater
        iteration = updater.iteration
        # Hand-written updaters may not know of epochs.
        epoch = getattr(updater, "epoch_detail", None)
        if self._unit == "iteration":
            last: float = self._iteration
            present: float = iteration
            if last < 0:
                last = iteration - 1
        else:
            if epoch is None:
                raise AttributeError(
                    f"{type(updater).__name__} has no epoch_detail, which a trigger in epochs needs"
                )
            last, present = self._epoch_detail, epoch
            if last < 0:
                last = previous_epoch_detail(updater)
        self._iteration = iteration
        if epoch is not None:
            self._epoch_detail = epoch
        return last, present

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position.

        Release 4 does not save it. Then a warning tells so, and the trigger assumes that it was
        called at the previous iteration.
        """
        self._iteration = int(
            load_or_warn(serializer, "previous_iteration", self._iteration, UNKNOWN)
        )
        self._epoch_detail = float(
            load_or_warn(serializer, "previous_epoch_detail", self._epoch_detail, float(UNKNOWN))
        )
        if isinstance(serializer, Deserializer):
            if self._iteration != UNKNOWN:
                check_count("previous_iteration of a trigger", self._iteration)
            check_finite("previous_epoch_detail of a trigger", self._epoch_detail)
