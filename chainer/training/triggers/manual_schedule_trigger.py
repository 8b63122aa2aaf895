"""Trigger invoked at given points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chainer.core.misuse import warn_once
from chainer.links.loaded_state import load_or_warn
from chainer.training.trigger import PositionedTrigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ManualScheduleTrigger(PositionedTrigger):
    """Trigger invoked at specified point(s) of iterations or epochs.

    It fires at the iterations at which one of the points is reached or passed since its last call.
    Fractions of epochs are allowed: the trigger uses the attributes ``iteration`` and
    ``epoch_detail`` of the updater.

    Args:
        points (int, float, or list of int or float): Time of the trigger. An integer or a list of
            integers if ``unit`` is ``'iteration'``.
        unit (str): Unit of the time: ``'iteration'`` or ``'epoch'``.

    Attributes:
        finished (bool): Whether it will not fire again.

    Raises:
        ValueError: If the unit is unknown.

    Example:
        >>> from chainer.training import triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> trigger = triggers.ManualScheduleTrigger([1, 3], "epoch")
        >>> @training.make_extension(trigger=trigger)
        ... def say(trainer):
        ...     print("iteration", trainer.updater.iteration)
        ...
        >>> trainer.extend(say)
        >>> trainer.run()
        iteration 2
        iteration 6
    """

    def __init__(self, points: float | Iterable[float], unit: str) -> None:
        super().__init__(unit)
        self.points: list[float] = list(points) if isinstance(points, Iterable) else [points]
        if not any([point > 0 for point in self.points]):
            text = f"points should have a positive number, got {self.points}: it never fires"
            warn_once("points", "ManualScheduleTrigger", text)
        self.unit = unit
        self.finished = False
        # True after a snapshot without the entry: the next call decides by the position.
        self._unknown = False

    def __call__(self, trainer: Trainer) -> bool:
        """Returns whether a point was passed since the last call.

        Args:
            trainer (Trainer): Trainer whose position decides.
        """
        previous, current = self._position.advance(trainer)
        fire = any(previous < point <= current for point in self.points)
        if fire or self._unknown:
            self._unknown = False
            self.finished = all(point <= current for point in self.points)
        return fire

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the position of the last call, and whether the last point is passed.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._position.serialize(serializer)
        # Release 4 does not save it.
        finished = load_or_warn(serializer, "finished", self.finished, None)
        self._unknown = finished is None
        self.finished = bool(finished)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.points!r}, {self.unit!r})"
