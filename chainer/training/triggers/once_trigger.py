"""Trigger that fires once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.misuse import expect_flags
from chainer.links.loaded_state import load_or_warn
from chainer.links.serializer import Serializer

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class OnceTrigger:
    """Trigger that fires at its first call only.

    Args:
        call_on_resume (bool): Whether it fires again when the training is resumed from a snapshot.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.OnceTrigger()
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 1
    """

    def __init__(self, call_on_resume: bool = False) -> None:
        expect_flags("OnceTrigger", call_on_resume=call_on_resume)
        self._call_on_resume = call_on_resume
        self._fired = False
        # Fires once more although it has fired before the snapshot.
        self._resumed = False

    @property
    def finished(self) -> bool:
        """Whether it will not fire again."""
        return self._fired and not self._resumed

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object that this trigger is associated with.

        Returns:
            bool: True at the first call.
        """
        fire = not self.finished
        self._fired = True
        self._resumed = False
        return fire

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes whether it has fired.

        A snapshot without the entry counts as one of a training in which the trigger has fired.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        first = load_or_warn(serializer, "_flag_first", not self._fired, False)
        self._fired = not first
        if not isinstance(serializer, Serializer):
            self._resumed = self._call_on_resume

    def __repr__(self) -> str:
        return f"{type(self).__name__}(call_on_resume={self._call_on_resume})"
