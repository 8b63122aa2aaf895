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


class PositionedTrigger:
    """Base of triggers that remember the position of their last call.

    Args:
        unit: ``'iteration'`` or ``'epoch'``.
    """

    def __init__(self, unit: str) -> None:
        self._position = LastPosition(unit)

    # Subclasses in programs for release 7 define their own __call__ and use these names.

    @property
    def _previous_iteration(self) -> int:
        return self._position.iteration

    @_previous_iteration.setter
    def _previous_iteration(self, value: int) -> None:
        self._position.iteration = value

    @property
    def _previous_epoch_detail(self) -> float:
        return self._position.epoch_detail

    @_previous_epoch_detail.setter
    def _previous_epoch_detail(self, value: float) -> None:
        self._position.epoch_detail = value


class LastPosition:
    """Remembers iteration and epoch of the last call of a trigger.

    A trigger compares the present position with the last one, so that it need not be called at
    each iteration. Both units are remembered: a snapshot contains both, whatever the trigger uses.

    Args:
        unit: ``'iteration'`` or ``'epoch'``: what :meth:`advance` returns.

    Attributes:
        iteration: Iteration of the last call; negative if it is unknown.
        epoch_detail: Position in epochs of the last call; negative if it is unknown.

    Raises:
        ValueError: If the unit is unknown.
    """

    def __init__(self, unit: str) -> None:
        check_unit(unit)
        self._unit = unit
        self.iteration: int = 0
        self.epoch_detail: float = 0.0

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
            last: float = self.iteration
            present: float = iteration
            if last < 0:
                last = iteration - 1
        else:
            if epoch is None:
                raise AttributeError(
                    f"{type(updater).__name__} has no epoch_detail, which a trigger in epochs needs"
                )
            last, present = self.epoch_detail, epoch
            if last < 0:
                last = previous_epoch_detail(updater)
        self.iteration = iteration
        if epoch is not None:
            self.epoch_detail = epoch
        return last, present

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position.

        Release 4 does not save it. Then a warning tells so, and the trigger assumes that it was
        called at the previous iteration.
        """
        self.iteration = int(
            load_or_warn(serializer, "previous_iteration", self.iteration, UNKNOWN)
        )
        self.epoch_detail = float(
            load_or_warn(serializer, "previous_epoch_detail", self.epoch_detail, float(UNKNOWN))
        )
        if isinstance(serializer, Deserializer):
            if self.iteration != UNKNOWN:
                check_count("previous_iteration of a trigger", self.iteration)
            check_finite("previous_epoch_detail of a trigger", self.epoch_detail)
