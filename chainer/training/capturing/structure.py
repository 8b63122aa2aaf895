"""Nested tuples, lists and dicts of arrays: arguments and results of steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike

_ndarray = numpy.ndarray


class NotSupportedError(TypeError):
    """An argument or a result of a step is of a kind that captured steps do not take."""


#: What :func:`flatten` returns. It is a tuple of the class and what tells apart values of the
#: class. Arrays and Variables are represented by four entries: class of the array, whether the
#: Variable requires a gradient (None for an array), dtype and shape.
Structure = tuple[Any, ...]


def flatten(value: object, found: list[VariableLike]) -> Structure:
    """Returns what two nested structures have in common if one program serves both.

    Args:
        value: Arrays and Variables in tuples, lists and dicts, beside values that can be hashed.
        found: List to which the arrays and Variables are added.

    Raises:
        NotSupportedError: If the structure holds something that cannot be hashed.
    """
    # This runs at each call of a step.
    cls = value.__class__
    if cls is _ndarray or find_backend(cls) is not None:
        array = cast(Any, value)
        found.append(array)
        return cls, None, array.dtype, array.shape
    if isinstance(value, Variable):
        found.append(value)
        # The class of the array: one program serves arrays of one backend.
        return value.array.__class__, bool(value.requires_grad), value.dtype, value.shape
    if isinstance(value, (tuple, list)):
        return cls, tuple([flatten(v, found) for v in value])
    if isinstance(value, dict):
        return dict, tuple([(k, flatten(v, found)) for k, v in value.items()])
    if isinstance(value, Hashable):
        # 1 and True are equal, but not the same argument, and neither are 0.0 and -0.0.
        return (cls, value, repr(value)) if cls is float and not value else (cls, value)
    raise NotSupportedError(f"{cls.__name__} objects are not supported")


def unflatten(structure: Structure, leaves: Iterator[VariableLike]) -> Any:
    """Returns a nested structure with other arrays and Variables.

    Args:
        structure: A result of :func:`flatten`.
        leaves: The arrays and Variables, in the order in which :func:`flatten` found them.
    """
    if len(structure) == 4:
        return next(leaves)
    cls, value, *_ = structure
    if issubclass(cls, (tuple, list)):
        parts = [unflatten(part, leaves) for part in value]
        if issubclass(cls, list):
            return parts
        make = getattr(cls, "_make", tuple)  # of a named tuple
        return make(parts)
    if cls is dict:
        return {k: unflatten(part, leaves) for k, part in value}
    return value


def leaves_of(structure: Structure) -> Iterator[Structure]:
    """Yields what represents the arrays and Variables of a structure."""
    if len(structure) == 4:
        yield structure
    elif issubclass(structure[0], (tuple, list)):
        for part in structure[1]:
            yield from leaves_of(part)
    elif structure[0] is dict:
        for _, part in structure[1]:
            yield from leaves_of(part)


def map_leaves(tree: Any, function: Callable[[Any], Any]) -> Any:
    """Applies a function to the leaves of nested tuples and lists; lists become tuples.

    Static chains get and return nested tuples of Variables.
    """
    if isinstance(tree, (tuple, list)):
        return tuple([map_leaves(part, function) for part in cast("Sequence[Any]", tree)])
    return function(tree)
