"""Nested tuples, lists and dicts of arrays and Variables: arguments and results of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.variable import Variable

Tree: TypeAlias = Any
"""An array or a Variable, or a tuple, list or dict of trees."""


def is_leaf(value: object) -> bool:
    """Returns whether a value is an array or a Variable.

    Args:
        value: Any object.
    """
    return isinstance(value, (Variable, numpy.generic)) or is_array(value)


def mapped(tree: Tree, function: Callable[[Any], Any], what: str) -> Tree:
    """Applies a function to the arrays and Variables of a tree.

    Args:
        tree: The tree.
        function: Function of one leaf.
        what: Text that represents the tree in messages.

    Raises:
        TypeError: If the tree contains something else.
    """
    if type(tree) is numpy.ndarray or isinstance(tree, Variable):  # most often
        return function(tree)
    if is_leaf(tree):
        return function(numpy.asarray(tree) if isinstance(tree, numpy.generic) else tree)
    if isinstance(tree, Mapping):
        return {key: mapped(part, function, what) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [mapped(part, function, what) for part in tree]
        if hasattr(tree, "_fields"):  # a named tuple takes its parts one by one
            return type(tree)(*parts)
        return parts if isinstance(tree, list) else tuple(parts)
    raise TypeError(
        f"{what} must be arrays or Variables, or tuples, lists and dicts of them, "
        f"got {type(tree).__name__}"
    )


def leaves_of(tree: Tree, what: str) -> list[Any]:
    """Returns the arrays and Variables of a tree, in order.

    Args:
        tree: The tree.
        what: Text that represents the tree in messages.
    """
    if isinstance(tree, Variable):
        return [tree]
    found: list[Any] = []
    mapped(tree, found.append, what)
    return found


def filled(structure: Tree, values: Sequence[Any]) -> Tree:
    """Returns values in the structure of a tree.

    Args:
        structure: The tree.
        values: One value for each leaf, of any type.
    """
    if isinstance(structure, Variable):  # the usual cases, without recursion
        (value,) = values
        return value
    if type(structure) is tuple and all([isinstance(part, Variable) for part in structure]):
        return tuple(values)
    found = iter(values)
    return mapped(structure, lambda _: next(found), "structure")


def leaves_like(structure: Tree, tree: Tree, what: str) -> list[Variable]:
    """Returns the Variables of a tree; refuses other structures and shapes than expected.

    Args:
        structure: A tree of Variables.
        tree: The tree, whose leaves may be numbers and lists as well.
        what: Text that represents the tree in messages.

    Raises:
        ValueError: If keys, lengths or shapes differ.
    """
    found: list[Variable] = []

    def check(expected: Any, value: Any) -> None:
        if isinstance(expected, Variable):
            if not is_leaf(value):
                value = numpy.asarray(value, expected.dtype)
            elif isinstance(value, numpy.generic):
                value = numpy.asarray(value)  # a scalar with a dtype
            if value.shape != expected.shape:
                raise ValueError(f"{what} must have the shape {expected.shape}, got {value.shape}")
            if value.dtype != expected.dtype:
                raise ValueError(f"{what} must have the dtype {expected.dtype}, got {value.dtype}")
            if not isinstance(value, Variable):
                value = Variable(value, requires_grad=False)
            found.append(value)
        elif isinstance(expected, dict):
            if not isinstance(value, Mapping) or value.keys() != expected.keys():
                names = sorted(map(str, expected))
                raise ValueError(f"{what} must be a dict of the same keys, {names}")
            for key in expected:
                check(expected[key], value[key])
        else:
            if not isinstance(value, (tuple, list)) or len(value) != len(expected):
                raise ValueError(
                    f"{what} must be {len(expected)} arrays, as the function has them, got "
                    f"{_described(value)}"
                )
            for part, given in zip(expected, value):
                check(part, given)

    check(structure, tree)
    return found


def _described(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__
