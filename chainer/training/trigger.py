"""Triggers: they decide when something happens in a training loop (see :func:`get_trigger`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.updater import Updater

Trigger: TypeAlias = "Callable[[Trainer], bool]"
"""A callable that takes a trainer and tells whether to do something now."""

TriggerLike: TypeAlias = "Trigger | tuple[float, str] | list[float | str] | None"
"""What :func:`get_trigger` accepts."""

T = TypeVar("T")


class _HasLength(Protocol):
    """A trigger that knows how long the training is that it stops."""

    def get_training_length(self) -> tuple[float, str]: ...


def never_fire_trigger(trainer: Trainer) -> bool:
    """Trigger that never fires."""
    return False


def get_trigger(trigger: TriggerLike) -> Trigger:
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
        return trigger
    if trigger is None:
        return never_fire_trigger
    # The argument may come from a program without types.
    pair = cast("object", trigger)
    if isinstance(pair, (tuple, list)) and len(cast("list[Any]", pair)) == 2:
        from chainer.training.triggers.interval_trigger import IntervalTrigger

        return IntervalTrigger(*cast("list[Any]", pair))
    raise TypeError(
        "trigger must be a callable, a pair such as (1, 'epoch') or None, "
        f"got {pair!r} of type {type(pair).__name__}"
    )


def training_length(trigger: Trigger) -> tuple[float, str] | None:
    """Returns the length of the training that a stop trigger ends; None if it does not know."""
    if not hasattr(trigger, "get_training_length"):
        return None
    return cast("_HasLength", trigger).get_training_length()


def previous_epoch_detail(updater: Updater) -> float:
    """Returns ``updater.previous_epoch_detail``, and 0.0 before the first iteration.

    Hand-written iterators may lack the attribute, as those of the guides do. Then the iterations
    are assumed to be of equal length.
    """
    try:
        previous = updater.previous_epoch_detail
    except AttributeError:
        iteration = updater.iteration
        previous = updater.epoch_detail * (iteration - 1) / iteration if iteration > 0 else None
    return 0.0 if previous is None else previous


def check_unit(unit: str) -> None:
    """Raises ValueError unless ``unit`` is ``'epoch'`` or ``'iteration'``."""
    if unit not in ("epoch", "iteration"):
        raise ValueError(f"Trigger unit must be either 'epoch' or 'iteration', got {unit!r}.")


def serialize_if_able(obj: object, serializer: AbstractSerializer) -> None:
    """Serializes an object that may have no state, such as a trigger that is a function."""
    serialize = getattr(obj, "serialize", None)
    if serialize is not None:
        serialize(serializer)


def serialize_unsaved(obj: object, serializer: AbstractSerializer) -> None:
    """Serializes a part that files of other releases lack, without a warning where it is missing.

    The trigger inside another object warns that its state is missing. That is right for what all
    releases save. Here it would only tell that the file is from another release.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        serialize_if_able(obj, serializer)


def load_optional(serializer: AbstractSerializer, key: str, value: T) -> T:
    """Serializes a value that files of other releases do not contain.

    Returns:
        What the serializer returns, or ``value`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        return value


def load_or_warn(serializer: AbstractSerializer, key: str, value: T, fallback: T) -> T:
    """Serializes a value; warns where the file does not contain it.

    Returns:
        What the serializer returns, or ``fallback`` where the file has no such entry.
    """
    try:
        return serializer(key, value)
    except KeyError:
        warnings.warn(
            f"the snapshot has no entry {key!r}: the trigger assumes {fallback!r}", stacklevel=3
        )
        return fallback
