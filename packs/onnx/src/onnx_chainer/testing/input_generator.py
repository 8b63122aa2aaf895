"""Arrays of numbers that increase, as inputs for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.typing import DTypeLike


def increasing(*shape: int, dtype: DTypeLike = numpy.float32) -> Any:
    """Returns numbers that increase by 0.5 (integers by 1), with zero in the middle.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.

    Returns:
        numpy.ndarray: The array.

    Example:
        >>> from onnx_chainer.testing import input_generator
        >>> input_generator.increasing(2, 2)
        array([[-1. , -0.5],
               [ 0. ,  0.5]], dtype=float32)
    """
    size = math.prod(shape)
    x = (numpy.arange(size) - size // 2).astype(dtype).reshape(shape)
    # Halves are exact in all floating-point types, and differ from what integers would give.
    return x * x.dtype.type(0.5) if x.dtype in (numpy.float32, numpy.float64) else x


def nonzero_increasing(*shape: int, dtype: DTypeLike = numpy.float32, bias: float = 1e-7) -> Any:
    """Returns the same as :func:`increasing` plus a small number, so that no element is zero.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.
        bias (float): The number.

    Returns:
        numpy.ndarray: The array.
    """
    x = increasing(*shape, dtype=dtype)
    return x + x.dtype.type(bias)


def positive_increasing(*shape: int, dtype: DTypeLike = numpy.float32, bias: float = 1e-7) -> Any:
    """Returns numbers that increase from ``bias``, so that all are positive.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.
        bias (float): The first number.

    Returns:
        numpy.ndarray: The array.
    """
    x = numpy.arange(math.prod(shape)).astype(dtype).reshape(shape)
    if x.dtype in (numpy.float32, numpy.float64):
        x = x * x.dtype.type(0.5)
    return x + x.dtype.type(bias)
