"""What a snapshot of a trainer contains.

The entries are those of release 7, plus, under the names that release 4 uses, those that release 7
calls otherwise, so that both can load them. In turn what one of the two does not save may be
missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.links.serializer import Serializer
from chainer.training.trigger import load_optional

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def serialize_trainer(trainer: Trainer, serializer: Any) -> None:
    """Serializes a trainer (see :meth:`chainer.training.Trainer.serialize`)."""
    trainer.updater.serialize(serializer["updater"])
    _serialize_if_able(trainer.stop_trigger, serializer["stop_trigger"])
    states = serializer["extensions"]
    triggers = serializer["extension_triggers"]
    aliases = _names_in_release_7(trainer)
    for name, entry in trainer._extensions.items():  # pyright: ignore[reportPrivateUsage]
        _serialize_if_able(entry.extension, states[name])
        _serialize_trigger(entry.trigger, triggers, name, aliases.get(name))
    _serialize_elapsed_time(trainer, serializer)


def _serialize_if_able(obj: Any, serializer: Any) -> None:
    serialize = getattr(obj, "serialize", None)
    if serialize is not None:
        serialize(serializer)


def _serialize_trigger(trigger: Any, serializer: Any, name: str, alias: str | None) -> None:
    if alias is None:
        _serialize_if_able(trigger, serializer[name])
        return
    # Saved under both names; loaded from the one that is there. Our triggers keep what a file
    # lacks.
    missing: list[KeyError] = []
    for each in (name, alias):
        try:
            _serialize_if_able(trigger, serializer[each])
        except KeyError as error:
            missing.append(error)
    if len(missing) == 2:
        raise missing[0]


def _names_in_release_7(trainer: Trainer) -> dict[str, str]:
    """Returns the names that release 7 gives to snapshot extensions that the user has not named."""
    aliases: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, entry in trainer._extensions.items():  # pyright: ignore[reportPrivateUsage]
        base = getattr(entry.extension, "name_in_release_7", None)
        if base is not None and not entry.named_by_user:
            ordinal = counts[base] = counts.get(base, -1) + 1
            aliases[name] = f"{base}_{ordinal}" if ordinal else base
    return aliases


def _serialize_elapsed_time(trainer: Trainer, serializer: Any) -> None:
    key = "_snapshot_elapsed_time"
    previous = trainer._snapshot_elapsed_time  # pyright: ignore[reportPrivateUsage]
    if isinstance(serializer, Serializer):
        started = trainer._start_at is not None  # pyright: ignore[reportPrivateUsage]
        serializer(key, trainer.elapsed_time if started else previous)
    else:
        trainer._snapshot_elapsed_time = float(load_optional(serializer, key, previous))  # pyright: ignore
