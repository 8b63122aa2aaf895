"""Triggers for what happens beside regular intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.links.loaded_state import serialize_if_able
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class StopRequestedTrigger:
    """Trigger that fires in the last iteration of a training that an extension stops.

    It fires for extensions that are called after the one that asked for the stop. When the stop
    trigger of the trainer ends the training, no extension is told and this does not fire.

    Example:
        A last evaluation, besides the regular ones::

            trainer.extend(
                evaluator, trigger=AnyTrigger((10, "epoch"), StopRequestedTrigger()), priority=150
            )
    """

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension is called in this iteration.

        Args:
            trainer: Trainer that the trigger is used with.
        """
        return trainer.stop_reason is not None


class AnyTrigger:
    """Trigger that fires when at least one of several does.

    All of them are asked in each iteration, so that intervals are counted on.

    Args:
        triggers: Triggers, or what :func:`chainer.training.get_trigger` takes.

    Raises:
        ValueError: If there are none.
    """

    def __init__(self, *triggers: Any) -> None:
        if not triggers:
            raise ValueError("AnyTrigger needs at least one trigger")
        self._triggers = [get_trigger(trigger) for trigger in triggers]

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension is called in this iteration.

        Args:
            trainer: Trainer that the trigger is used with.
        """
        fired = [trigger(trainer) for trigger in self._triggers]
        return any(fired)

    def serialize(self, serializer: Any) -> None:
        """Serializes the triggers.

        Args:
            serializer: Serializer or deserializer.
        """
        for index, trigger in enumerate(self._triggers):
            serialize_if_able(trigger, serializer[str(index)])
