"""What a snapshot of a trainer contains of its extensions.

The entries are those of release 7, plus, under the names that release 4 uses, those that release 7
names differently, so that both can load them. A file of one of the two may lack what it does not
save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.links.serializer import AbstractSerializer, Serializer
from chainer.training.trigger import serialize_if_able

if TYPE_CHECKING:
    from chainer.training.extension import ExtensionEntry


class _TwoNames(AbstractSerializer):
    """A deserializer of something that is in a file under one of two names.

    Args:
        first: Deserializer for the first name.
        second: Deserializer for the second one.
    """

    def __init__(self, first: AbstractSerializer, second: AbstractSerializer) -> None:
        self._first = first
        self._second = second

    def __getitem__(self, key: str) -> _TwoNames:
        return _TwoNames(self._first[key], self._second[key])

    def __call__(self, key: str, value: Any) -> Any:
        try:
            loaded = self._first(key, value)
        except KeyError:
            return self._second(key, value)
        # A deserializer that is not strict returns the value itself if there is no entry.
        return self._second(key, value) if loaded is value else loaded


def names_in_release_7(entries: dict[str, ExtensionEntry]) -> dict[str, str]:
    """Returns the names that release 7 gives to snapshot extensions that the user has not named.

    Args:
        entries: Extensions of a trainer by name.

    Returns:
        dict: Names of release 7 by the names here.
    """
    aliases: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, entry in entries.items():
        base = getattr(entry.extension, "name_in_release_7", None)
        if base is not None and not entry.named_by_user:
            ordinal = counts[base] = counts.get(base, -1) + 1
            aliases[name] = f"{base}_{ordinal}" if ordinal else base
    return aliases


def serialize_extensions(
    entries: dict[str, ExtensionEntry], serializer: AbstractSerializer
) -> None:
    """Serializes the extensions of a trainer and their triggers.

    Args:
        entries: Extensions by name.
        serializer: Serializer or deserializer of the trainer.
    """
    states = serializer["extensions"]
    triggers = serializer["extension_triggers"]
    aliases = names_in_release_7(entries)
    for name, entry in entries.items():
        serialize_if_able(entry.extension, states[name])
        alias = aliases.get(name)
        if alias is None:
            serialize_if_able(entry.trigger, triggers[name])
        elif isinstance(serializer, Serializer):
            serialize_if_able(entry.trigger, triggers[name])
            serialize_if_able(entry.trigger, triggers[alias])
        else:
            serialize_if_able(entry.trigger, _TwoNames(triggers[name], triggers[alias]))
