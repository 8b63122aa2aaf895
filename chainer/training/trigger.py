"""Triggers: when something is to happen in a training loop (see :func:`get_trigger`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from chainer.core.warnings import MissingStateWarning

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


def serialize_position(serializer: Any, key: str, value: Any, trigger: object, guess: str) -> Any:
    """Serializes the position at which a trigger was asked the last time.

    Args:
        serializer: Serializer or deserializer.
        key: Name of the entry, ``previous_`` and the name of an attribute of the updater.
        value: The position.
        trigger: The trigger.
        guess: What the trigger uses instead, for the warning.

    Returns:
        The position; -1, which means unknown, if a file of a release whose triggers saved nothing
        is loaded. Then there is a UserWarning.
    """
    try:
        return serializer(key, value)
    except KeyError:
        name = key.removeprefix("previous_")
        warnings.warn(
            f"The previous value of {name} is not saved. {type(trigger).__name__} {guess}. If this "
            "trigger is not called at every iteration, it may not work correctly.",
            MissingStateWarning,
            stacklevel=3,
        )
        return -1


#: What triggers do if a file does not contain their position.
GUESSED_ITERATION = "guesses it using current iteration"
GUESSED_EPOCH = "uses the value of trainer.updater.previous_epoch_detail"


def serialize_inner(obj: Any, serializer: Any) -> None:
    """Serializes a trigger or a summary inside an object whose state not all releases save.

    Args:
        obj: The trigger or summary; nothing happens if it has no method ``serialize``.
        serializer: Serializer or deserializer. A file without the state gives no warning.
    """
    if not hasattr(obj, "serialize"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingStateWarning)
        obj.serialize(serializer)


def load_optional(serializer: Any, key: str, value: Any) -> Any:
    """Serializes a value that files of other releases do not contain.

    Returns:
        What the serializer returns, or ``value`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        return value
