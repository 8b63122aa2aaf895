"""Softmax along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np


class SoftmaxKernel:
    """Implementation of the operation ``softmax``, whose documentation describes the methods.

    This one is written in NumPy and needs the memory of one array. Call faster code here: a C
    library, Numba, another language.

    Args:
        backend: The backend of the arrays.
    """

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def forward(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Returns ``exp(x)`` divided by its sum along the axis."""
        y = x - x.max(axis=axis, keepdims=True)
        np.exp(y, out=y)
        y /= y.sum(axis=axis, keepdims=True)
        return y

    def backward(self, y: np.ndarray, gy: np.ndarray, axis: int) -> np.ndarray:
        """Returns the gradient of the input."""
        gx = y * gy
        total = gx.sum(axis=axis, keepdims=True)
        gx -= y * total
        return gx
