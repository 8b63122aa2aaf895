"""Properties that operators declare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Operator = TypeVar("_Operator", bound=Callable[..., Any])


def takes_scope(function: _Operator) -> _Operator:
    """Marks an operator whose bodies read values of the graph around them.

    It gets the scope, a mapping of names to values, after the attributes.
    """
    function.takes_scope = True
    return function


def constants(*positions: int) -> Callable[[_Operator], _Operator]:
    """Marks inputs that are numbers of the graph and not weights, although they may be floats.

    Args:
        positions: Their positions; none for all inputs.
    """

    def mark(function: _Operator) -> _Operator:
        setattr(function, "constant_inputs", positions or "all")  # noqa: B010
        return function

    return mark
