"""Formulas of the Gaussian error linear unit and its reference kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.backends.numpy.blocks import elementwise
from chainer.backends.operations.gelus import gelu
from chainer.backends.operations.special import erfc
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, ArrayModule, Arrays

_COEFFICIENTS = tuple(numpy.float32(c) for c in gelu.coefficients)
_END = numpy.float32(gelu.end)
_LINEAR, _CUBIC = gelu.approximate_coefficients


def logistic_argument(ops: Any, x: Any, approximate: bool) -> Any:
    """Returns the number whose logistic function is the distribution function of GELU.

    Without ``approximate`` it is for float32.

    Args:
        ops: Functions of arrays or of Variables, whichever ``x`` is; ``minimum`` is used.
        x: The input of GELU.
        approximate: As in the operation.
    """
    if approximate:
        y = x * x
        y *= _CUBIC
        y += _LINEAR
        y *= x
        return y
    # Ten products are faster than the error function of any library.
    u = ops.minimum(x * x, _END)
    y = u * _COEFFICIENTS[-1]
    for c in _COEFFICIENTS[-2:0:-1]:
        y += c
        y *= u
    y += _COEFFICIENTS[0]
    y *= x
    return y


def slope(ops: Any, x: Any, probability: Any, approximate: bool) -> Any:
    """Returns the derivative of GELU.

    Args:
        ops: Functions of arrays or of Variables, whichever ``x`` is; ``exp`` is used.
        x: The input.
        probability: The distribution function of it.
        approximate: As in the operation.
    """
    if approximate:
        g = x * x
        g *= 3 * _CUBIC
        g += _LINEAR
        g *= x * probability
        g *= 1 - probability
    else:
        g = x * x
        g *= -0.5
        g = ops.exp(g)
        g *= 1 / math.sqrt(2 * math.pi)
        g *= x
    g += probability
    return g


class GELUKernel(ReferenceKernel):
    """Reference of ``gelu``."""

    def forward(self, x: Array, approximate: bool, save: bool) -> tuple[Array, Array | None]:
        """Computes the output and, for backward, the slope, while a block is in the cache."""
        xp = self.xp

        def values(x: Array) -> Arrays:
            return _value_and_slope(xp, x, approximate, save)

        y, *slopes = elementwise(xp, values, x)
        return y, slopes[0] if slopes else None

    def backward(self, x: Array, saved: Array, gy: Array, approximate: bool) -> Array:
        """Returns ``gy`` times the slope."""
        return saved * gy


def _value_and_slope(xp: ArrayModule, x: Array, approximate: bool, save: bool) -> Arrays:
    """Returns the output, and the slope if it is to be saved."""
    if not approximate and x.dtype.itemsize > 4:
        half = xp.asarray(x * -math.sqrt(0.5))  # NumPy makes scalars of arrays without axes
        probability = erfc.select(half).forward(half) * 0.5
        y = x * probability
        return (y, slope(xp, x, probability, approximate)) if save else (y,)
    # The probability is 1 / (1 + exp(-argument)). One division is faster than a reciprocal and a
    # product.
    argument = -xp.asarray(logistic_argument(xp, x, approximate))
    inverse = xp.exp(argument, out=argument) if xp is numpy and x.ndim else xp.exp(argument)
    inverse += 1
    y = x / inverse
    return (y, slope(xp, x, 1 / inverse, approximate)) if save else (y,)
