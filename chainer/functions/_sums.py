"""Sums of arrays over axes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends import operations


def axes_sum(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """Returns the sum of an array over axes (None, a number or a tuple of numbers) that exist."""
    if x.__class__ is numpy.ndarray:
        return x.sum(axis=axis, keepdims=keepdims)
    return operations.axes_sum.select(x).forward(x, axis, keepdims)
