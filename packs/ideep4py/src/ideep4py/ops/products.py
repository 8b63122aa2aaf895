"""Products of many pairs of matrices in one call."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi
from ideep4py._kernels.products import product
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array

_Shape = tuple[int, ...]
_ITEM = 4


class _Products:
    """The products of matrices with these shapes and strides (in elements)."""

    __slots__ = ("run",)

    def __init__(self, *places: _Shape) -> None:
        a, b, out = (L.strided(places[i], places[i + 1]) for i in (0, 2, 4))
        self.run = product(a, b, out).run


def _read(array: Array, name: str) -> tuple[np.ndarray[Any, Any], _Shape]:
    """A NumPy view that oneDNN can read, else a copy, and its strides in elements."""
    view = np.asarray(array)
    if view.dtype != np.float32 or not view.dtype.isnative:
        raise TypeError(f"{name} must be of dtype float32, got {view.dtype}")
    if view.ndim < 3:
        raise ValueError(f"{name} must have at least 3 axes, got shape {view.shape}")
    if not view.size:
        raise ValueError(f"{name} must not be empty, got shape {view.shape}")
    return readable(view)


def readable(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], _Shape]:
    """An array if oneDNN reads its matrices where they lie, else a copy; and its strides in
    elements.

    Args:
        array: float32, not empty.
    """
    steps = readable_steps(array.shape, array.strides)
    if steps is not None:
        return array, steps
    return np.ascontiguousarray(array), L.row_major_strides(array.shape)


@functools.lru_cache(maxsize=1024)
def readable_steps(shape: _Shape, strides: _Shape) -> _Shape | None:
    """The strides in elements of matrices that oneDNN has generated code for, else None.

    Args:
        shape: shape of an array of float32.
        strides: its strides in bytes.
    """
    steps = L.row_major_strides(shape)
    # NumPy sets the distance of an axis of length 1 to anything.
    if all(n == 1 or s == step * _ITEM for n, s, step in zip(shape, strides, steps, strict=True)):
        return steps
    # Elements that are used twice, or that lie backwards, are none of oneDNN's layouts.
    if any(s <= 0 or s % _ITEM for s in strides):
        return None
    # A distance between rows or between columns, but not both. An axis of length 1 could be taken
    # for either.
    if min(shape[-2:]) == 1 or min(strides[-2:]) != _ITEM:
        return None
    return tuple([s // _ITEM for s in strides])


def products(
    a: Array, b: Array, *, out: np.ndarray[Any, Any] | None = None
) -> mdarray | np.ndarray[Any, Any]:
    """``numpy.matmul(a, b)`` of arrays of three axes or more.

    Matrices are read where they lie if their rows or their columns are without gaps. Transposed
    views are such matrices.

    Args:
        a: matrices (..., m, k), float32.
        b: matrices (..., k, n), float32, with the leading axes of ``a``.
        out: array (..., m, n) of float32 to overwrite, which shares no memory with the others. Its
            rows are without gaps. A new mdarray when None.

    Returns:
        Matrices (..., m, n); ``out`` itself when given.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> a = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
        >>> np.asarray(ops.products(a, a.transpose(0, 2, 1)))[0].tolist()
        [[5.0, 14.0], [14.0, 50.0]]
    """
    a, a_steps = _read(a, "a")
    b, b_steps = _read(b, "b")
    if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a and b do not fit: their shapes are {a.shape} and {b.shape}")
    shape = (*a.shape[:-1], b.shape[-1])
    if out is None:
        layout = L.dense(shape)
        steps = L.row_major_strides(shape)
        pointer = allocate(layout.nbytes)
        result: Any = wrap(layout, pointer)
    else:
        _check_target(out, shape)
        # NumPy sets the distance of an axis of length 1 to anything.
        steps = (*[s // _ITEM for s in out.strides[:-1]], 1)
        pointer = _pointer(out)
        result = out
    plan = runtime.plan(_Products, a.shape, a_steps, b.shape, b_steps, shape, steps)
    plan.run(_pointer(a), _pointer(b), pointer)
    return result


def _check_target(out: Any, shape: _Shape) -> None:
    if (
        not isinstance(out, np.ndarray)
        or out.shape != shape
        or out.dtype != np.float32
        or not is_writable(out)
    ):
        raise ValueError(
            f"out must be a writable float32 array of shape {shape} with rows without gaps, got "
            f"{getattr(out, 'dtype', type(out))} {getattr(out, 'shape', '')}"
        )


def is_writable(out: np.ndarray[Any, Any]) -> bool:
    """Whether oneDNN can write matrices there: rows are without gaps, and nothing overlaps."""
    strides = out.strides
    if not out.flags.writeable or (strides[-1] != _ITEM and out.shape[-1] > 1):
        return False
    return min(strides) > 0 and not any(s % _ITEM for s in strides)


def _pointer(array: np.ndarray[Any, Any]) -> Any:
    # A buffer exists of contiguous arrays only. The array lives during the call.
    return ffi.cast("void *", array.ctypes.data)


__all__ = ["products"]
