"""Checks and conversions that the operations share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.errors import OneDNNError
from ideep4py._core.library import lib
from ideep4py._core.primitive import attributes, describe
from ideep4py._core.reorder import Data, in_layout
from ideep4py._mdarray import mdarray, readable_data

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

Array = mdarray | np.ndarray[Any, Any]
"""An argument of operations: an mdarray, or a NumPy array (copied when it is not C-contiguous)."""


@functools.cache
def has_bfloat16() -> bool:
    """Whether oneDNN takes arrays of bfloat16 on this CPU (AVX-512 or AVX-VNNI-2).

    CPUs with AVX-512 but without instructions for bfloat16 convert elements to float32 and back,
    which takes time.
    """
    # Any small shape: oneDNN refuses to describe a primitive for types that the CPU lacks.
    md = L.dense((8, 8), C.BF16).md
    try:
        create = lib.dnnl_eltwise_forward_primitive_desc_create
        relu = C.ELTWISE["relu"]
        describe(create, "probe", C.INFERENCE, relu, md, md, 0.0, 0.0, attributes())
    except OneDNNError:
        return False
    return True


def why_not(*arrays: Any) -> str | None:
    """Why oneDNN cannot take these arrays, or None when it can.

    The answer depends on types, shapes and dtypes only. oneDNN takes mdarrays and NumPy arrays of
    dtype float32 (and bfloat16 on CPUs that have it) with 1 to 12 axes that are not empty.
    """
    for i, array in enumerate(arrays):
        if not isinstance(array, (mdarray, np.ndarray)):
            return f"argument {i} is a {type(array).__name__}, not an mdarray or NumPy array"
        name = array.dtype.name
        if name == "bfloat16":
            if not has_bfloat16():
                return f"argument {i} is bfloat16, which this CPU has no instructions for"
        elif name != "float32":
            return f"argument {i} has dtype {name}, not float32"
        if not array.size:
            return f"argument {i} is empty: its shape is {array.shape}"
        if not 1 <= array.ndim <= C.MAX_NDIM:
            return f"argument {i} has {array.ndim} axes, not 1 to {C.MAX_NDIM}"
    return None


def supports(*arrays: Any) -> bool:
    """Whether oneDNN can take these arrays: see :func:`why_not`."""
    return why_not(*arrays) is None


def data_of(x: AnyArray, name: str) -> Data:
    """Layout and pointer of a non-empty float32 (or bfloat16) array.

    Raises:
        TypeError: not an array, or of another dtype.
        ValueError: empty.
    """
    # The usual case needs no call of a function.
    data = x._data if type(x) is mdarray else readable_data(x, name)
    layout = data[0]
    if layout.data_type != C.F32 or not layout.size:
        check_layout(layout, name)
    return data


def check_layout(layout: L.Layout, name: str) -> None:
    """Raises TypeError or ValueError unless :func:`data_of` takes arrays in this layout."""
    if layout.data_type != C.F32:
        _check_type(layout, name)
    if not layout.size:
        raise ValueError(f"{name} must not be empty, got shape {layout.shape}")


def _check_type(layout: L.Layout, name: str) -> None:
    if layout.data_type != C.BF16:
        raise TypeError(f"{name} must be of dtype float32, got {layout.dtype}")
    if not has_bfloat16():
        raise TypeError(f"{name} is bfloat16, which this CPU has no instructions for")


def vector(x: AnyArray, name: str, size: int) -> Any:
    """Pointer to the elements of a dense float32 array with ``size`` elements."""
    layout, pointer = data_of(x, name)
    check_vector(layout, name, size)
    if layout.dense:
        return pointer
    return in_layout((layout, pointer), L.dense(layout.shape))


def check_vector(layout: L.Layout, name: str, size: int) -> None:
    """Raises ValueError unless an array in this layout has ``size`` float32 elements."""
    if layout.size != size or layout.data_type != C.F32:
        raise ValueError(
            f"{name} must have {size} float32 elements, got {layout.dtype} {layout.shape}"
        )


def same_shape(data: Data, name: str, shape: tuple[int, ...], of: str) -> None:
    """Raises ValueError unless ``data`` has ``shape``."""
    if data[0].shape != shape:
        raise ValueError(f"{name} must have the shape of {of}, {shape}, got {data[0].shape}")


def per_axis(value: int | Sequence[int], n: int, name: str, least: int) -> tuple[int, ...]:
    """``value`` for each of ``n`` spatial axes.

    Raises:
        TypeError: not an int or a sequence of ints.
        ValueError: the wrong number of values, or one below ``least``.
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        values = (int(value),) * n
    else:
        try:
            values = tuple(v.__index__() for v in value)  # type: ignore[union-attr]
        except (TypeError, AttributeError):
            raise TypeError(f"{name} must be an int or {n} ints, got {value!r}") from None
    if len(values) != n:
        raise ValueError(f"{name} must have one value for each of {n} spatial axes, got {value!r}")
    if min(values, default=least) < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")
    return values


def hashable(value: AnyArray) -> Any:
    """``value`` as part of a cache key: lists as tuples."""
    return tuple(value) if type(value) is list else value


def axis_index(axis: int, ndim: int) -> int:
    """``axis`` counted from the front; raises ValueError when out of range."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise TypeError(f"axis must be an int, got {axis!r}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for an array with {ndim} axes")
    return axis % ndim
