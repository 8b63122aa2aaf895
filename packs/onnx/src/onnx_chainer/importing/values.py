"""Values of a graph: Variables, arrays that are constants or integers, sequences and optionals."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy

import chainer.functions as F
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array, DType, VariableLike
from onnx_chainer.tensors import as_numpy

Tensor: TypeAlias = VariableLike
"""A tensor: a Variable, or an array, which has no gradient."""

Value: TypeAlias = "Tensor | list[Any] | None"
"""A tensor, a sequence of values as a list, or None for an input that is left out and for an
optional without a value."""


def array_of(value: Value) -> Array:
    """Returns the array of a value."""
    return value.array if isinstance(value, Variable) else value


def whole(value: Array) -> Value:
    """Returns an array without axes for a number, which NumPy's functions make of such arrays.

    Args:
        value: A value, or a number of Python or NumPy.
    """
    return numpy.asarray(value) if isinstance(value, (numpy.generic, bool, int, float)) else value


def host_array(value: Value) -> Array:
    """Returns the array of a value as one of NumPy."""
    return as_numpy(array_of(value))


def ints_of(value: Value) -> list[int]:
    """Returns a value as a list of integers: a shape, axes or bounds."""
    return [int(n) for n in host_array(value).ravel()]


def number_of(value: Value) -> Any:
    """Returns a value of one element as a number; None for one that is left out."""
    return None if value is None else host_array(value).item()


def is_variable(*values: Value) -> bool:
    """Returns whether any of the values is a Variable."""
    return any([isinstance(value, Variable) for value in values])


def dtype_of(value: Value) -> DType:
    """Returns the dtype of a value."""
    return numpy.dtype(array_of(value).dtype)


def ndim_of(value: Value) -> int:
    """Returns the number of axes of a value."""
    return array_of(value).ndim


def is_float(value: Value) -> bool:
    """Returns whether a value has floating-point numbers that Chainer's functions take."""
    dtype = dtype_of(value)
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_tracked(*values: Value) -> bool:
    """Returns whether functions that move elements are Chainer's: for floats and for Variables.

    Integers that are Variables stay Variables, so that a further export sees how they are computed.
    """
    return is_variable(*values) or is_float(values[0])


def on_device_of(value: Value, array: Array) -> Array:
    """Returns an array of NumPy as an array of the kind that a value has.

    Args:
        value: A tensor.
        array: Array of NumPy.
    """
    xp = get_array_module(array_of(value))
    return array if xp is numpy else xp.asarray(array)


def same_dtype(value: Array, like: Value) -> Tensor:
    """Returns a value converted to the dtype of another one."""
    dtype = dtype_of(like)
    if dtype_of(value) == dtype:
        return value
    return F.cast(value, dtype) if isinstance(value, Variable) else array_of(value).astype(dtype)
