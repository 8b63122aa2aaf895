"""Norms of arrays, computed where the arrays are."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.extended_dtypes import is_half


def sum_of_squares(array: Any) -> Any:
    """Returns the sum of the squares of the elements: an array without dimensions.

    It is not read by the host, which would have to wait for it. float16 is summed in float32:
    squares of float16 overflow at 256.
    """
    array = backend_of(array).to_xp(array)
    wide = array.astype(numpy.float32) if is_half(array.dtype) else array
    flat = wide.reshape(-1)
    return backend_of(flat).xp.asarray(flat.dot(flat))
