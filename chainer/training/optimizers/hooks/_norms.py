"""Norms of arrays, computed where the arrays are."""

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.typing import Array


def sum_of_squares(array: Array) -> Array:
    """Returns the sum of the squares of the elements: an array without dimensions.

    The result stays on the device, so that the host does not wait for it. float16 is summed in
    float32: squares of float16 overflow at 256.
    """
    array = backend_of(array).to_xp(array)
    wide = array.astype(numpy.float32) if is_half(array.dtype) else array
    flat = wide.reshape(-1)
    return backend_of(flat).xp.asarray(flat.dot(flat))
