"""Modules that a backend needs and a computer may lack."""

from __future__ import annotations

from types import ModuleType

#: A module and None, or None and the reason why it cannot be used.
Found = tuple[ModuleType, None] | tuple[None, str]


def usable(found: Found, problem: str) -> ModuleType:
    """Returns a module that was looked for.

    Args:
        found: The module, or the reason why it cannot be used.
        problem: Beginning of the message of the error; the reason follows.

    Raises:
        RuntimeError: If it cannot be used; the message says what is missing.
    """
    module, reason = found
    if module is None:
        raise RuntimeError(f"{problem}{reason}")
    return module
