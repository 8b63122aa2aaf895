"""Triggers: when something is to happen in a training loop (see :func:`get_trigger`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer

Trigger = Callable[[Any], bool]


def never_fire_trigger(trainer: Trainer) -> bool:
    """Trigger that never fires."""
    return False


def get_trigger(trigger: Any) -> Trigger:
    """Gets a trigger object.

    A trigger is a callable that takes a :class:`~chainer.training.Trainer` and returns a boolean:
    whether to invoke an extension, or to stop the training loop.

    Args:
        trigger: A callable; a pair ``(period, unit)``, from which an
            :class:`~chainer.training.triggers.IntervalTrigger` is made; or None.

    Returns:
        ``trigger`` itself if it is callable, a trigger that never fires if it is None, otherwise an
        :class:`~chainer.training.triggers.IntervalTrigger`.

    Raises:
        TypeError: If the argument is none of these.
        ValueError: If the unit is unknown.

    Example:
        >>> chainer.training.get_trigger((2, 'epoch'))
        IntervalTrigger(2, 'epoch')
    """
    if callable(trigger):
        return cast("Trigger", trigger)
    if trigger is None:
        return never_fire_trigger
    if isinstance(trigger, (tuple, list)) and len(trigger) == 2:
        from chainer.training.triggers.interval_trigger import IntervalTrigger

        return IntervalTrigger(*trigger)
    raise TypeError(
        "trigger must be a callable, a pair such as (1, 'epoch') or None, "
        f"got {trigger!r} of type {type(trigger).__name__}"
    )


def previous_epoch_detail(updater: Any) -> float:
    """Returns ``updater.previous_epoch_detail``, and 0.0 before the first iteration.

    Hand-written iterators may lack the attribute, as those of the guides do; then the iterations
    are taken to be of equal length.
    """
    try:
        previous = updater.previous_epoch_detail
    except AttributeError:
        iteration = updater.iteration
        previous = updater.epoch_detail * (iteration - 1) / iteration if iteration > 0 else None
    return 0.0 if previous is None else previous


def check_unit(unit: Any) -> None:
    """Raises ValueError unless ``unit`` is ``'epoch'`` or ``'iteration'``."""
    if unit not in ("epoch", "iteration"):
        raise ValueError(f"Trigger unit must be either 'epoch' or 'iteration', got {unit!r}.")


def load_optional(serializer: Any, key: str, value: Any) -> Any:
    """Serializes a value that files of other releases do not contain.

    Returns:
        What the serializer returns, or ``value`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        return value
