"""The state in a snapshot: the entries that an object serializes."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import HostArray
from chainer.links.serializer import Serializable
from chainer.links.serializers.npz import serialize


class SnapshotState(dict[str, HostArray]):
    """Entries of a snapshot by name, which also look like the object that was serialized.

    Functions that save snapshots were written for two interfaces. In release 7 they get a
    dictionary of arrays; in release 4 the trainer or link itself. This is such a dictionary, and it
    forwards the attributes that dictionaries do not have to the object.

    Args:
        entries: Arrays in host memory by name.
        target: The object; None if there is none.
    """

    def __init__(self, entries: dict[str, HostArray], target: object = None) -> None:
        super().__init__(entries)
        self._target = target

    def __getattr__(self, name: str) -> Any:
        # Special methods are looked up by copy and pickle, which must not see the object.
        if name.startswith("__") or "_target" not in self.__dict__ or self._target is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._target, name)

    def __reduce__(self) -> tuple[Any, ...]:
        # A trainer cannot be pickled, for a writer in another process. The entries are enough.
        return dict, (dict(self),)


def take_state(target: Serializable) -> SnapshotState:
    """Returns what an object serializes; arrays in host memory are not copied.

    Args:
        target: The object.
    """
    return SnapshotState(serialize(target), target)


def freeze(target: Any) -> Any:
    """Returns a copy of a state, which does not change while the training goes on.

    Args:
        target: Entries by name, or an object to serialize. Anything else, which a function of the
            program may know how to save, is returned as it is.
    """
    if not isinstance(target, dict) and not hasattr(target, "serialize"):
        return target
    state = target if isinstance(target, dict) else take_state(target)
    source = state._target if isinstance(state, SnapshotState) else None
    entries = {
        key: value.copy() if hasattr(value, "copy") else value for key, value in state.items()
    }
    return SnapshotState(entries, source)
