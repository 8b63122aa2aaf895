"""Old helpers for arrays (public module ``chainer.utils.array``); all of them are deprecated."""

from __future__ import annotations

import warnings

from chainer.core.arrays.backend import get_array_module
from chainer.core.typing import Array
from chainer.core.utils.arrays import size_of_shape as size_of_shape
from chainer.core.utils.arrays import sum_to as sum_to


def as_vec(x: Array) -> Array:
    """Returns an array as a vector.

    Args:
        x: Array of any shape.
    """
    _warn("as_vec", "x.ravel()")
    return x.ravel()


def as_mat(x: Array) -> Array:
    """Returns an array as a matrix; the first axis stays.

    Args:
        x: Array of at least one dimension.
    """
    _warn("as_mat", "x.reshape(len(x), -1)")
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def empty_like(x: Array) -> Array:
    """Returns an uninitialized array of the shape, dtype and backend of another one.

    Args:
        x: The other array.
    """
    _warn("empty_like", "xp.empty_like(x)")
    return get_array_module(x).empty_like(x)


def _warn(name: str, replacement: str) -> None:
    warnings.warn(
        f"chainer.utils.array.{name} is deprecated; use {replacement}",
        DeprecationWarning,
        stacklevel=3,
    )
