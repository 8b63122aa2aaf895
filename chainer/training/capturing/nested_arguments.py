"""Nested tuples and lists of Variables: arguments and results of static chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike


def map_leaves(tree: Any, function: Callable[[Any], Any]) -> Any:
    """Applies a function to the leaves of nested tuples and lists; lists become tuples."""
    if isinstance(tree, (tuple, list)):
        elements = cast("Sequence[Any]", tree)
        return tuple([map_leaves(element, function) for element in elements])
    return function(tree)


def with_leaves(tree: Any, leaves: Sequence[Variable]) -> Any:
    """Puts Variables in the places of the leaves of nested tuples."""
    found = iter(leaves)
    return map_leaves(tree, lambda _: next(found))


def input_variable(value: VariableLike, made: set[int]) -> Variable:
    """Returns a Variable, and notes its identity if it is new."""
    if isinstance(value, Variable):
        return value
    if find_backend(type(value)) is None:
        raise TypeError(
            "arguments of a static chain must be Variables or arrays, or tuples or lists of them, "
            f"got {type(value).__name__}"
        )
    variable = Variable(value)
    made.add(id(variable))
    return variable


def with_variables(results: Any, method: Callable[..., Any]) -> tuple[Any, list[Variable]]:
    """Returns the results of a method with tuples instead of lists, and the Variables in them."""
    found: list[Variable] = []

    def keep(value: object) -> Variable:
        if not isinstance(value, Variable):
            raise TypeError(
                f"{method.__qualname__}, which is decorated with static_graph, must return "
                f"Variables or tuples or lists of them, got {type(value).__name__}"
            )
        found.append(value)
        return value

    return map_leaves(results, keep), found
