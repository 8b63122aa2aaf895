"""Arguments that another release calls by another name."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def renamed_argument(function: str, value: T, default: T, old: str, kwargs: dict[str, Any]) -> T:
    """Returns the value of an argument that has another name, too.

    Args:
        function: Name of the function, for the message.
        value: Value that was given by the present name.
        default: Default of the argument. If ``value`` is another one, it is preferred.
        old: The other name of the argument.
        kwargs: The other keyword arguments of the call.

    Raises:
        TypeError: If there is another keyword argument.
    """
    unknown = [name for name in kwargs if name != old]
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise TypeError(f"{function}() got unexpected keyword argument(s) {names}")
    return kwargs[old] if old in kwargs and value == default else value
