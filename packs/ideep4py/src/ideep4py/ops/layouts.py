"""Moves arrays between layouts and data types, and shares the memory of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.reorder import densified, in_layout
from ideep4py._mdarray import mdarray, readable_data, shared, wrap
from ideep4py.ops._inputs import Array, has_bfloat16


def reorder(x: Array, layout: L.Layout) -> mdarray:
    """``x`` in ``layout``: shares memory if ``x`` has that layout already, else a copy.

    The layout is of the shape of ``x``. It may be of another data type, float32 or bfloat16: the
    elements are converted.

    Raises:
        TypeError: ``x`` is not an array.
        ValueError: the layout has another shape.
    """
    data = readable_data(x, "x")
    if not isinstance(layout, L.Layout):
        raise TypeError(f"layout must be the layout of an mdarray, got {type(layout).__name__}")
    if data[0].shape != layout.shape:
        raise ValueError(f"layout must be of shape {data[0].shape}, got {layout.shape}")
    return wrap(layout, in_layout(data, layout))


def dense(x: Array) -> mdarray:
    """``x`` in row-major layout: shares memory if it has that layout already, else a copy."""
    return wrap(*densified(readable_data(x, "x")))


def from_numpy(array: np.ndarray[Any, Any]) -> mdarray:
    """An mdarray that shares the memory of a NumPy array: changes of one show in the other.

    Args:
        array: C-contiguous and writable, of dtype float32, int32, int8 or uint8, not empty.

    Raises:
        TypeError: not a NumPy array, or of another dtype.
        ValueError: not C-contiguous, read-only, or empty.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array must be a NumPy array, got {type(array).__name__}")
    if L.dnnl_type(array.dtype) is None or not array.dtype.isnative:
        raise TypeError(f"array must be of dtype float32, int32, int8 or uint8, got {array.dtype}")
    if not array.flags.c_contiguous or not array.flags.writeable or not array.size:
        raise ValueError(
            "array must be C-contiguous, writable and not empty, got "
            f"shape {array.shape}, strides {array.strides}, writeable={array.flags.writeable}"
        )
    return shared(array)


def astype(x: Array, dtype: str) -> mdarray:
    """``x`` as ``"float32"`` or ``"bfloat16"``, dense. Shares memory where no copy is needed.

    Raises:
        TypeError: another dtype, or bfloat16 on a CPU without it.
        ImportError: bfloat16 without the package ml_dtypes.
    """
    if dtype not in ("float32", "bfloat16"):
        raise TypeError(f"dtype must be 'float32' or 'bfloat16', got {dtype!r}")
    if dtype == "bfloat16":
        if not has_bfloat16():
            raise TypeError("dtype bfloat16: this CPU has no instructions for it")
        L.numpy_dtype(C.BF16)
    data = readable_data(x, "x")
    target = L.dense(data[0].shape, C.BF16 if dtype == "bfloat16" else C.F32)
    return wrap(target, in_layout(data, target))
