"""Warnings about keys that an extension or a trigger waits for and that nothing reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from chainer.core.misuse import similar, warn_once

#: Intervals without a value after which a key is reported that resembles no other one. Some values,
#: such as an evaluator's, come in few intervals only.
_PATIENCE = 20

#: Similarity of two keys that are probably the same.
_CUTOFF = 0.85


class ReportedKeys:
    """Finds keys that were never reported.

    Args:
        owner: Name of the extension or trigger that waits for them, for the message.
        keys: The keys.
    """

    def __init__(self, owner: str, keys: Iterable[str]) -> None:
        self._owner = owner
        self._missing = set(keys)
        self._intervals = 0

    def check(self, reported: Collection[str], others: Collection[str] = ()) -> None:
        """Compares the keys with the keys reported in an interval that is over.

        Args:
            reported: Keys of the interval.
            others: Further keys that were reported, to find the one that was meant.
        """
        if not self._missing:
            return
        self._missing.difference_update(reported)
        if not reported and not others:  # nothing at all was reported yet
            return
        self._intervals += 1
        for key in sorted(self._missing):
            meant = similar(key, {*reported, *others}, _CUTOFF)
            name = key.removeprefix("main/")
            if meant is not None:
                hint = f"did you mean {meant!r}?"
            elif name != key and name in reported:
                # chainer.report(values) without the link that reports.
                hint = f"{name!r} was: chainer.report(values, link) gives it the prefix of the link"
            elif self._intervals < _PATIENCE:
                continue
            else:
                hint = f"there are {sorted(reported)}"
            warn_once(
                "reported key",
                f"{self._owner} {key}",
                f"nothing has reported {key!r}, which {self._owner} waits for; {hint}",
                stacklevel=3,
            )
            self._missing.discard(key)
