"""Values of a graph: Variables, and arrays that are constants or integers."""

from __future__ import annotations

from typing import Any

import numpy

from chainer import Variable
from onnx_chainer.tensors import as_numpy


def array_of(value: Any) -> Any:
    """Returns the array of a value."""
    return value.array if isinstance(value, Variable) else value


def ints_of(value: Any) -> list[int]:
    """Returns a value as a list of integers: a shape, axes or bounds."""
    return [int(n) for n in as_numpy(array_of(value)).ravel()]


def number_of(value: Any) -> Any:
    """Returns a value of one element as a number; None for one that is left out."""
    return None if value is None else as_numpy(array_of(value)).item()


def axes_of(attributes: Any, value: Any, name: str = "axes") -> tuple[int, ...] | None:
    """Returns axes, which are an attribute in old operator sets and an input in new ones."""
    if value is not None:
        return tuple(ints_of(value))
    axes = attributes.get(name)
    return None if axes is None else tuple(axes)


def is_variable(*values: Any) -> bool:
    """Returns whether any of the values is a Variable."""
    return any([isinstance(value, Variable) for value in values])


def dtype_of(value: Any) -> Any:
    """Returns the dtype of a value."""
    return numpy.dtype(array_of(value).dtype)
