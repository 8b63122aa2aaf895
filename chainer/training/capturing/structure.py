"""Nested tuples, lists and dicts of arrays: arguments and results of steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from chainer.core.arrays.backend import find_backend, is_array
from chainer.core.autograd.variable import Variable


class NotSupportedError(TypeError):
    """An argument or a result of a step is of a kind that captured steps do not take."""


class Leaf:
    """The place of an array in a structure.

    Attributes:
        index: Number of the array among those of the structure.
        kind: What holds it: None for an array, else whether the Variable requires a gradient.
    """

    __slots__ = ("index", "kind")

    def __init__(self, index: int, kind: bool | None) -> None:
        self.index = index
        self.kind = kind


def flatten(value: Any, found: list[Any]) -> Any:
    """Returns a structure with :class:`Leaf` objects for arrays and Variables.

    Args:
        value: The structure.
        found: List to which the arrays and Variables are added.

    Raises:
        NotSupportedError: If the structure holds something that cannot be compared.
    """
    if isinstance(value, Variable):
        found.append(value)
        return Leaf(len(found) - 1, bool(value.requires_grad))
    if is_array(value):
        found.append(value)
        return Leaf(len(found) - 1, None)
    if isinstance(value, tuple):
        parts = [flatten(v, found) for v in value]
        make = getattr(type(value), "_make", None)
        return make(parts) if make is not None else tuple(parts)
    if isinstance(value, list):
        return [flatten(v, found) for v in value]
    if isinstance(value, dict):
        return {k: flatten(v, found) for k, v in value.items()}
    if isinstance(value, Hashable):
        return value
    raise NotSupportedError(f"{type(value).__name__} objects are not supported")


def unflatten(structure: Any, values: Callable[[Leaf], Any]) -> Any:
    """Returns a structure with other leaves.

    Args:
        structure: What :func:`flatten` returned.
        values: Returns what takes the place of a leaf.
    """
    if isinstance(structure, Leaf):
        return values(structure)
    if isinstance(structure, tuple):
        parts = [unflatten(v, values) for v in structure]
        make = getattr(type(structure), "_make", None)
        return make(parts) if make is not None else tuple(parts)
    if isinstance(structure, list):
        return [unflatten(v, values) for v in structure]
    if isinstance(structure, dict):
        return {k: unflatten(v, values) for k, v in structure.items()}
    return structure


def key_of(value: Any, found: list[Any]) -> Hashable:
    """Returns what two structures of arrays have in common if a program serves both.

    It runs at each call of a step, without the structure that :func:`flatten` makes.

    Args:
        value: The structure of arrays and Variables.
        found: List to which the arrays and Variables are added, in the order of :func:`flatten`.

    Raises:
        NotSupportedError: If the structure holds something that cannot be compared.
    """
    cls = value.__class__
    if find_backend(cls) is not None:
        found.append(value)
        return cls, None, value.dtype, value.shape
    if isinstance(value, Variable):
        found.append(value)
        return cls, bool(value.requires_grad), value.dtype, value.shape
    if isinstance(value, (tuple, list)):
        return cls, tuple([key_of(v, found) for v in value])
    if isinstance(value, dict):
        return dict, tuple([(k, key_of(v, found)) for k, v in value.items()])
    if isinstance(value, Hashable):
        # 1 and True are equal, but not the same argument.
        return cls, value
    raise NotSupportedError(f"{cls.__name__} objects are not supported")
