"""Masks and noise that a caller gives: brought into the shape and dtype of the input."""

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.typing import Array, VariableLike
from chainer.functions.array.cast import in_dtype


def fit(name: str, given: Array, x: VariableLike) -> tuple[Array, VariableLike]:
    """Returns an array and the input that it belongs to in one dtype and shape.

    Args:
        name: Name of the argument, for the error.
        given: Mask or noise, which is broadcast.
        x: Input. It keeps its shape.

    Raises:
        ValueError: If the array cannot be broadcast to the shape of the input.
    """
    if given.shape == x.shape and given.dtype == x.dtype:
        return given, x
    dtype = numpy.result_type(x.dtype, given.dtype)
    try:
        spread = get_array_module(given).broadcast_to(given, x.shape)
    except ValueError as error:
        raise ValueError(
            f"{name} must have a shape that is broadcast to {x.shape}, got {given.shape}"
        ) from error
    return spread.astype(dtype, copy=False), in_dtype(x, dtype)
