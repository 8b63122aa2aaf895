"""Trigger based on a fixed time interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.links.loaded_state import load_optional

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class TimeTrigger:
    """Trigger based on a fixed time interval.

    It fires at the first iteration that ends after each multiple of the interval. If an iteration
    passes several multiples, the following iterations fire, too, until each multiple has been
    counted. Time is ``trainer.elapsed_time``, which goes on where it stopped when training is
    resumed.

    Args:
        period (float): Interval time in seconds, positive.

    Raises:
        ValueError: If the period is not positive.

    Example:
        >>> from chainer.training import extensions, triggers
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.snapshot(), trigger=triggers.TimeTrigger(600))  # ten minutes
        >>> trainer.run()
        >>> import os
        >>> os.path.exists("result/snapshot_iter_4")  # this training is shorter
        False
    """

    def __init__(self, period: float) -> None:
        if not period > 0:
            raise ValueError(f"period must be positive, got {period!r}")
        self._period = period
        self._next_time = period

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the extension should be called on this iteration.

        Args:
            trainer (Trainer): Trainer object whose elapsed time counts.

        Returns:
            bool: True if a multiple of the period has passed that was not counted yet.
        """
        if trainer.elapsed_time <= self._next_time:
            return False
        # One period for each call, as in releases 4 to 7: programs count the calls.
        self._next_time += self._period
        return True

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the time at which it fires next.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._next_time = load_optional(serializer, "next_time", self._next_time)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._period!r})"
