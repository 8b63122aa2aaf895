"""Scaling and shifting vectors of normalizations."""

from __future__ import annotations

from typing import Any

import chainer
from chainer import initializers


def vector(initializer: Any, default: float, size: int | None) -> chainer.Parameter:
    """Returns a parameter of shape ``(size,)``, which is inferred later if ``size`` is None.

    Args:
        initializer (initializer): An initializer, a scalar or an array; None for the default.
        default (float): The default.
        size (int or None): Size of the vector.
    """
    given = default if initializer is None else initializer
    return chainer.Parameter(initializers.get_initializer(given), size)
