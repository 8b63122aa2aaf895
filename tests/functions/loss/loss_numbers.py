"""Inputs of the tests with numbers made by earlier releases."""

import numpy as np


def numbers(k, *shape):
    """Returns an array of multiples of 1/4 in [-5/4, 5/4], the same wherever it is run."""
    return ((np.arange(np.prod(shape)).reshape(shape) * 7 * k) % 11 - 5).astype(np.float32) / 4


def close(actual, expected, rtol=3e-6, atol=5e-7):
    np.testing.assert_allclose(getattr(actual, "array", actual), expected, rtol=rtol, atol=atol)
