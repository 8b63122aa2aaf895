"""Arguments that are taken by keyword only, and those that earlier releases had."""

from __future__ import annotations

import sys
from typing import Any


def check_unexpected_kwargs(kwargs: dict[str, Any], **unexpected: str) -> None:
    """Raises if a keyword argument is one that was removed.

    Args:
        kwargs: Keyword arguments of a call.
        unexpected: Names of removed arguments, with what to say to those who still pass them.

    Raises:
        ValueError: With that text.
    """
    for name, message in unexpected.items():
        if name in kwargs:
            raise ValueError(message)


def parse_kwargs(
    kwargs: dict[str, Any], *names_and_defaults: Any, **unexpected: str
) -> tuple[Any, ...]:
    """Takes keyword-only arguments out of ``**kwargs``.

    Args:
        kwargs: Keyword arguments of a call.
        names_and_defaults: Pairs of name and default value.
        unexpected: Names of removed arguments, with what to say to those who still pass them.

    Returns:
        tuple: Values in the order of the names.

    Raises:
        ValueError: If a removed argument is passed.
        TypeError: If an unknown argument is passed.
    """
    if not kwargs:
        return tuple(default for _, default in names_and_defaults)
    check_unexpected_kwargs(kwargs, **unexpected)
    values = tuple(kwargs.pop(name, default) for name, default in names_and_defaults)
    if kwargs:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        caller = frame.f_code.co_qualname
        names = ", ".join(repr(name) for name in sorted(kwargs))
        raise TypeError(f"{caller}() got unexpected keyword argument(s) {names}")
    return values


def assert_kwargs_empty(kwargs: dict[str, Any]) -> None:
    """Raises TypeError if keyword arguments are left over."""
    if kwargs:
        names = ", ".join(repr(name) for name in sorted(kwargs))
        raise TypeError(f"got unexpected keyword argument(s) {names}")
