"""Triggers for what happens beside regular intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core.utils.repr_texts import ShowsArguments
from chainer.links.loaded_state import serialize_if_able
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class StopRequestedTrigger(ShowsArguments):
    """Trigger that fires in the last iteration of a training that an extension stops.

    It fires for extensions that are called after the one that asked for the stop. When the stop
    trigger of the trainer ends the training, no extension is told and this does not fire.

    Example:
        >>> from chainer.training import extensions, triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.snapshot(), trigger=triggers.StopRequestedTrigger())
        >>> @training.make_extension(trigger=(1, "epoch"))
        ... def enough(trainer):
        ...     trainer.stop("enough")
        >>> trainer.extend(enough)
        >>> trainer.run()
        >>> import os
        >>> os.path.exists("result/snapshot_iter_2")
        True
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

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (3, "epoch"))
        >>> trigger = triggers.AnyTrigger((2, "epoch"), (3, "iteration"))
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 3
        iteration 4
        iteration 6
    """

    def __init__(self, *triggers: Any) -> None:
        if not triggers:
            raise ValueError("AnyTrigger needs at least one trigger")
        self._triggers = [get_trigger(trigger) for trigger in triggers]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._triggers))})"

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
