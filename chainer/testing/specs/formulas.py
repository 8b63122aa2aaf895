"""Formulas that several rows need and NumPy lacks, in float64 (no rows here)."""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

SPECS = ()

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def logsumexp(x, axis=None):
    """Returns the logarithm of sums of exponentials, safe from overflow.

    Args:
        x: Array.
        axis: Axis or axes of the sums; all by default.
    """
    highest = np.max(x, axis=axis, keepdims=True)
    sums = np.sum(np.exp(x - highest), axis=axis, keepdims=True)
    return np.squeeze(np.log(sums) + highest, axis=axis)


def log_softmax(x, axis):
    """Returns the logarithm of the softmax.

    Args:
        x: Array, possibly empty.
        axis: Axis along which the exponentials add up to one.
    """
    if x.size == 0:
        return x
    return x - np.expand_dims(logsumexp(x, axis), axis)


def softmax(x, axis):
    """Returns the softmax.

    Args:
        x: Array, possibly empty.
        axis: Axis along which the result adds up to one.
    """
    return np.exp(log_softmax(x, axis))
