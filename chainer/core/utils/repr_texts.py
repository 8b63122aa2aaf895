"""Texts that ``repr`` shows of objects, instead of their addresses.

A text is made of attributes that subclasses may define as properties, or not yet have. A text must
not fail, because tracebacks and debuggers show it: values that cannot be read are left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

#: Longer texts of values are cut: a schedule or a list may be long.
_MAX_LENGTH = 60


def read_or_none(read: Callable[[], Any]) -> Any:
    """Returns what a function returns; None if it fails, whatever the reason.

    Args:
        read: Reads an attribute that a subclass may have changed.
    """
    try:
        return read()
    except Exception:  # see the module's docstring
        return None


def call_text(obj: object, items: Iterable[tuple[str, Any]]) -> str:
    """Returns ``Class(name=value, ...)`` without the values that are None.

    Args:
        obj: The object.
        items: Names and values.
    """
    parts = [f"{name}={_short(value)}" for name, value in items if value is not None]
    return f"{type(obj).__name__}({', '.join(parts)})"


def attributes_text(obj: object, names: Iterable[str]) -> str:
    """Returns ``Class(name=value, ...)`` for attributes; those without a value are left out.

    Args:
        obj: The object.
        names: Names of its attributes. A leading underscore is not shown.
    """
    values = [
        (name.lstrip("_"), _without_self(obj, read_or_none(lambda name=name: getattr(obj, name))))
        for name in names
    ]
    return call_text(obj, values)


def _without_self(obj: object, value: Any) -> Any:
    """Returns a value, or the name of a method of the object: its repr shows the object again."""
    if getattr(value, "__self__", None) is not obj:
        return value
    return Plain(f"{type(obj).__name__}.{getattr(value, '__name__', '?')}")


def dataset_text(dataset: Any) -> str:
    """Returns ``Class of n examples``, or the name of the class alone.

    Args:
        dataset: Anything that is indexed by numbers.
    """
    length = read_or_none(lambda: len(dataset))
    name = type(dataset).__name__
    return name if length is None else f"{name} of {length} examples"


class ShowsArguments:
    """A class whose ``repr`` shows its arguments, as far as the object keeps them.

    An argument ``size`` is read from the attribute ``size``, or else from ``_size``.
    """

    def __repr__(self) -> str:
        names: list[str] = read_or_none(lambda: list(_arguments_of(type(self)))) or []
        kept = [
            name if read_or_none(lambda name=name: hasattr(self, name)) else f"_{name}"
            for name in names
        ]
        return attributes_text(self, kept)


def _arguments_of(cls: type) -> Iterable[str]:
    _, *names = inspect.signature(cls.__init__).parameters
    return names


class Plain:
    """A value whose ``repr`` is a text without quotation marks.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _short(value: Any) -> str:
    text = read_or_none(lambda: repr(value)) or f"<{type(value).__name__}>"
    if not isinstance(value, Plain):
        text = " ".join(text.split())  # arrays have several lines
    return text if isinstance(value, Plain) or len(text) <= _MAX_LENGTH else text[:57] + "..."
