"""The JSON text of a list that grows, as snapshots contain it."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from chainer.links.loaded_state import check_count, parse_json

#: Entries of a log, or points of a plot, that a snapshot contains; see LogReport. Logs of usual
#: trainings are shorter: an entry for each of 10,000 epochs, or one for each 100 of a million
#: iterations. Of 100 characters each these are 1 MB of text, written in some ten milliseconds.
ENTRIES_IN_SNAPSHOT = 10_000


class EarlierEntries(NamedTuple):
    """Count and checksum of the entries at the beginning that a snapshot does not contain.

    A checksum is enough to recognize a file of another training; it does not protect against a
    file that was made to deceive. It is extended by each entry, and never computed anew.

    Attributes:
        count: Number of the entries.
        characters: Characters of their JSON texts together.
        crc32: Checksum (CRC-32) of these texts, one after the other.
    """

    count: int = 0
    characters: int = 0
    crc32: int = 0

    def followed_by(self, text: str) -> EarlierEntries:
        """Returns what describes these entries and one more.

        Args:
            text: JSON text of that entry.
        """
        crc32 = zlib.crc32(text.encode(), self.crc32)
        return EarlierEntries(self.count + 1, self.characters + len(text), crc32)

    def begin(self, entries: Sequence[object]) -> bool:
        """Returns whether a list begins with these entries."""
        found = EarlierEntries()
        for entry in entries[: self.count]:
            found = found.followed_by(json.dumps(entry))
        return found == self

    def to_text(self) -> str:
        """Returns the JSON text for a snapshot."""
        return json.dumps(self._asdict())

    @classmethod
    def of_text(cls, text: str) -> EarlierEntries:
        """Returns what :meth:`to_text` has written.

        Args:
            text: The text.

        Raises:
            ValueError: If it is something else.
        """
        name = "what describes the earlier entries of the log"
        values: dict[str, Any] = parse_json(name, text, dict, int)
        if set(values) != set(cls._fields):
            raise ValueError(f"{name} must have {cls._fields}, got {sorted(values)}")
        return cls(**{key: check_count(f"{name}: {key}", value) for key, value in values.items()})


class EncodedList:
    """The JSON texts of the newest entries of a list that grows; only what is new is encoded."""

    def __init__(self) -> None:
        self._newest: deque[str] = deque()
        #: The entries before the newest.
        self.earlier = EarlierEntries()

    def text(self, entries: Sequence[object], limit: int | None) -> str:
        """Returns the text of the newest entries, and describes the others in :attr:`earlier`.

        Args:
            entries: The list. Entries of the call before are assumed to be the same.
            limit: Number of the newest entries; None for all.
        """
        known = self.earlier.count + len(self._newest)
        # A program has removed entries, or those that were given up are asked for again.
        if len(entries) < known or (limit is None and self.earlier.count):
            self._newest.clear()
            self.earlier, known = EarlierEntries(), 0
        self._newest.extend(json.dumps(entry) for entry in entries[known:])
        while limit is not None and len(self._newest) > limit:
            self.earlier = self.earlier.followed_by(self._newest.popleft())
        return f"[{', '.join(self._newest)}]"
