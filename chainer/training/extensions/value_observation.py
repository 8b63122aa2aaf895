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
    """
    return observe_value(
        observation_key,
        lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr,  # type: ignore[attr-defined]
    )
