"""Registrations at run time, which can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Registration:
    """A registration at run time.

    Use it in a ``with`` statement, or call :meth:`undo`, to remove it again.

    Args:
        registry: The registry.
        names: The names that were registered there.
    """

    def __init__(self, registry: Any, names: Sequence[str]) -> None:
        self._registry = registry
        self._entries = [registry.entry(name) for name in names]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._entries)} names>"

    def undo(self) -> None:
        """Removes it. An entry that it had replaced is used again."""
        for entry in self._entries:
            self._registry.remove(entry)
        self._entries = []

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()
