"""The hook functions of optimizers and update rules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from chainer.core.arguments import wrong_type
from chainer.training.optimizers.changes import optimizer_changes

_TIMINGS = ("pre", "post", "auto")


class HookExistsError(KeyError, ValueError):
    """There already is a hook of this name.

    A KeyError, as optimizers have always raised, and a ValueError, as update rules raised in
    release 4.
    """


class HookRegistry:
    """Hook functions by name, called before (``'pre'``) or after (``'post'``) an update.

    Attributes:
        pre (dict): Hooks that precede an update, by name.
        post (dict): Hooks that follow it, by name.
    """

    def __init__(self) -> None:
        self.pre: dict[str, Callable[..., Any]] = {}
        self.post: dict[str, Callable[..., Any]] = {}

    def at(self, timing: str) -> list[Callable[..., Any]]:
        """Returns the hooks of a timing in order of registration.

        Raises:
            ValueError: If the timing is neither ``'pre'`` nor ``'post'``.
        """
        if timing not in ("pre", "post"):
            raise ValueError(f"timing must be either 'pre' or 'post', got {timing!r}")
        # A copy: a hook may remove itself while the hooks are called.
        return list((self.pre if timing == "pre" else self.post).values())

    def add(self, hook: Callable[..., Any], name: str | None, timing: str) -> None:
        """Registers a hook.

        Raises:
            TypeError: If the hook is not callable.
            ValueError: If the timing is unknown, or the hook has no name.
            HookExistsError: (a KeyError) If there already is a hook of this name.
        """
        if isinstance(hook, type):
            raise wrong_type("hook", "a function or an object of a class of hooks", hook)
        if not callable(hook):
            raise TypeError(f"hook function must be callable, got {type(hook).__name__}")
        if timing not in _TIMINGS:
            raise ValueError(f"timing must be one of {_TIMINGS}, got {timing!r}")
        if timing == "auto":
            timing = _timing_of(hook)
        if name is None:
            # Functions have a ``__name__``; hooks that are objects have a ``name``.
            name = getattr(hook, "name", None) or getattr(hook, "__name__", None)
            if name is None:
                raise ValueError(f"hook {hook!r} has no name; give one by add_hook(hook, name=...)")
        if name in self.pre or name in self.post:
            raise HookExistsError(f'hook "{name}" already exists')
        (self.pre if timing == "pre" else self.post)[name] = hook
        optimizer_changes.renew()

    def remove(self, name: str) -> None:
        """Removes a hook.

        Raises:
            KeyError: If there is no hook of this name.
        """
        for hooks in (self.pre, self.post):
            if name in hooks:
                del hooks[name]
                optimizer_changes.renew()
                return
        known = ", ".join([*self.pre, *self.post]) or "none"
        raise KeyError(f'hook "{name}" does not exist; registered hooks: {known}')


class _Hookable(HookRegistry):
    """Hook functions of an update rule in pickles of release 7, which refer to the name."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.pre = dict(state["_pre_update_hooks"])
        self.post = dict(state["_post_update_hooks"])


def _timing_of(hook: Callable[..., Any]) -> str:
    timing = getattr(hook, "timing", "pre")
    if timing not in ("pre", "post"):
        warnings.warn(
            f"Hook timing attribute not in ('pre', 'post'): {timing!r}, defaulting timing to "
            "'pre'.",
            stacklevel=4,
        )
        return "pre"
    return timing
