"""Recording values that the model does not report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.training.extension import PRIORITY_WRITER, make_extension

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def observe_value(
    observation_key: str, target_func: Callable[[Trainer], Any]
) -> Callable[[Trainer], None]:
    """Returns a trainer extension to continuously record a value.

    Args:
        observation_key (str): Key of observation to record.
        target_func (function): Function that returns the value to record. It must take one
            argument: a :class:`~chainer.training.Trainer` object.

    Returns:
        The extension function, of priority ``PRIORITY_WRITER`` and triggered once an epoch.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> part = extensions.observe_value("part", lambda t: t.updater.epoch_detail)
        >>> trainer.extend(part, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> trainer.observation["part"]
        2.0
    """

    @make_extension(trigger=(1, "epoch"), priority=PRIORITY_WRITER)
    def _observe_value(trainer: Trainer) -> None:
        trainer.observation[observation_key] = target_func(trainer)

    return _observe_value


def observe_lr(
    optimizer_name: str = "main", observation_key: str = "lr"
) -> Callable[[Trainer], None]:
    """Returns a trainer extension to record the learning rate.

    Args:
        optimizer_name (str): Name of optimizer whose learning rate is recorded.
        observation_key (str): Key of observation to record.

    Returns:
        The extension function, of priority ``PRIORITY_WRITER`` and triggered once an epoch.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.observe_lr(), trigger=(1, "iteration"))
        >>> trainer.run()
        >>> trainer.observation["lr"]
        0.1
    """
    return observe_value(
        observation_key,
        lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr,  # type: ignore[attr-defined]
    )
