"""The hook functions of optimizers and update rules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_TIMINGS = ("pre", "post", "auto")


class HookRegistry:
    """Hook functions by name, called before (``'pre'``) or after (``'post'``) an update."""

    def __init__(self) -> None:
        self._hooks: dict[str, dict[str, Callable[..., Any]]] = {"pre": {}, "post": {}}

    def __bool__(self) -> bool:
        return bool(self._hooks["pre"] or self._hooks["post"])

    def at(self, timing: str) -> list[Callable[..., Any]]:
        """Returns the hooks of a timing in order of registration."""
        if timing not in self._hooks:
            raise ValueError(f"timing must be either 'pre' or 'post', got {timing!r}")
        return list(self._hooks[timing].values())

    def has(self, name: str) -> bool:
        """Tells whether there is a hook of this name."""
        return any(name in hooks for hooks in self._hooks.values())

    def add(self, hook: Any, name: str | None, timing: str) -> None:
        """Registers a hook.

        Raises:
            TypeError: If the hook is not callable or has no name.
            ValueError: If the timing is unknown.
            KeyError: If there already is a hook of this name.
        """
        if not callable(hook):
            raise TypeError(f"hook function must be callable, got {type(hook).__name__}")
        if timing not in _TIMINGS:
            raise ValueError(f"timing must be one of {_TIMINGS}, got {timing!r}")
        if timing == "auto":
            timing = _own_timing(hook)
        if name is None:
            name = getattr(hook, "name", None) or getattr(hook, "__name__", None)
            if name is None:
                raise TypeError(f"hook {hook!r} has no name; give one by add_hook(hook, name=...)")
        if self.has(name):
            raise KeyError(f'hook "{name}" already exists')
        self._hooks[timing][name] = hook

    def remove(self, name: str) -> None:
        """Removes a hook.

        Raises:
            KeyError: If there is no hook of this name.
        """
        for hooks in self._hooks.values():
            if name in hooks:
                del hooks[name]
                return
        known = ", ".join(name for hooks in self._hooks.values() for name in hooks) or "none"
        raise KeyError(f'hook "{name}" does not exist; registered hooks: {known}')


def _own_timing(hook: Any) -> str:
    timing = getattr(hook, "timing", "pre")
    if timing not in ("pre", "post"):
        warnings.warn(
            f"Hook timing attribute not in ('pre', 'post'): {timing!r}, defaulting timing to "
            "'pre'.",
            stacklevel=4,
        )
        return "pre"
    return timing
