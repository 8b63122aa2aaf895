"""Finds what depends on the values of the inputs although the graph does not show it.

A condition that NumPy computes from an array, or a number that Python reads, becomes a constant of
the exported model. The model runs again with other values: constants that differ are named in a
warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.typing import Array
from onnx_chainer.tensors import as_numpy


def other_values(array: Array) -> Array:
    """Returns an array of the same shape and dtype with other values.

    Integers are the array's in reversed order, so that labels stay valid. Floating-point numbers
    are larger in addition, and keep their signs.

    Args:
        array: The array.
    """
    flat = as_numpy(array).reshape(-1)
    values = flat[::-1]
    if flat.dtype.kind == "f":
        values = values * flat.dtype.type(1.25)
        if numpy.array_equal(values, flat):
            # Such as an array of zeros, of which many samples consist.
            values = numpy.random.RandomState(0).standard_normal(flat.shape).astype(flat.dtype)
    return values.reshape(array.shape)


def differ(value: Array, other: Array) -> bool:
    """Returns whether two constants of a function differ: numbers, arrays, or sequences of them.

    Args:
        value: The constant in the sample.
        other: The constant in the other run.
    """
    if isinstance(value, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(value) != len(other) or any(map(differ, value, other))
    if isinstance(value, slice) and isinstance(other, slice):
        return differ(_bounds(value), _bounds(other))
    if value is None or other is None or value is Ellipsis or other is Ellipsis:
        return value is not other
    a, b = (numpy.asarray(as_numpy(getattr(x, "array", x))) for x in (value, other))
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        return not numpy.array_equal(a, b, equal_nan=True)
    return not numpy.array_equal(a, b)


def _bounds(item: slice) -> Sequence[Any]:
    return item.start, item.stop, item.step


def warn_frozen(function: str, what: str, stacklevel: int = 2) -> None:
    """Warns that a constant of the exported model depends on the values of the inputs.

    Args:
        function: Name of the function that uses it.
        what: Description of the value.
        stacklevel: As of :func:`warnings.warn`.
    """
    warnings.warn(
        f"{function}: {what} depends on the values of the inputs, but was not computed by "
        "functions of Chainer. The exported model has that of the sample. Compute it with "
        "chainer.functions, or make it an argument of the model.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
