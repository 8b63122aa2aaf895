"""Attention: the softmax of scaled products of queries and keys, times the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi
from ideep4py._core.views import dense_view
from ideep4py._kernels.products import product
from ideep4py.ops.products import is_writable, readable
from ideep4py.ops.softmax import softmax_of_rows

_NDArray = np.ndarray[Any, Any]
_Shape = tuple[int, ...]

_ITEM = 4
_FLOAT32 = np.dtype(np.float32)
_POINTER = ffi.typeof("void *")  # as an object: cffi would parse the name at every call


class _Attention:
    """Attention of arrays with these shapes and strides, which are checked once.

    Args:
        places: shape and strides in elements of queries, keys and values; shape and strides in
            bytes of the output.

    Attributes:
        scores: layout of the scores.
        multiply: product of queries and keys; takes pointers to these, scores and the scale.
        normalize: softmax of the scores, in place; takes two pointers to these.
        weigh: product of weights and values; takes pointers to these and the output.
    """

    __slots__ = ("multiply", "normalize", "scores", "weigh")

    def __init__(self, *places: _Shape) -> None:
        q, k, v, out = places[::2]
        if (
            not len(q) == len(k) == len(v) >= 3
            or not q[:-2] == k[:-2] == v[:-2]
            or (q[-1], k[-2]) != (k[-1], v[-2])
        ):
            raise ValueError(f"q, k and v do not fit: their shapes are {q}, {k} and {v}")
        if out != (*q[:-1], v[-1]):
            raise ValueError(f"out must have the shape {(*q[:-1], v[-1])}, got {out}")
        queries, values = L.strided(q, places[1]), L.strided(v, places[5])
        # An axis of length 1 may have any stride, but oneDNN wants one for rows without gaps.
        outputs = L.strided(out, (*[s // _ITEM for s in places[7][:-1]], 1))
        shape, steps = ((*axes[:-2], axes[-1], axes[-2]) for axes in places[2:4])
        transposed = L.strided(shape, steps)
        self.scores = scores = L.dense((*q[:-1], k[-2]))
        # A factor that is an argument of the product costs nothing, a pass of its own a tenth.
        self.multiply = product(queries, transposed, scores, scaled=True).run
        self.normalize = softmax_of_rows(scores)
        self.weigh = product(scores, values, outputs).run


def attention(
    q: _NDArray,
    k: _NDArray,
    v: _NDArray,
    scale: float,
    *,
    out: _NDArray,
    added: _NDArray | None = None,
    weights: _NDArray | None = None,
) -> _NDArray:
    """``softmax(scale * q @ k.T + added) @ v`` for each head.

    Matrices are read where they lie if their rows or their columns are without gaps.

    Args:
        q: queries (..., length, size), three axes or more, float32.
        k: keys (..., keys, size), with the leading axes of ``q``.
        v: values (..., keys, width), with the leading axes of ``q``.
        scale: factor of the scores.
        out: array (..., length, width) of float32 to overwrite, which shares no memory with the
            others. Its rows are without gaps.
        added: array that is added to the scores and broadcasts to them, or None.
        weights: dense array (..., length, keys) of float32 that gets the softmax, or None.

    Returns:
        ``out``.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> q = np.zeros((1, 2, 3), np.float32)
        >>> v = np.array([[[1, 3], [5, 7]]], np.float32)
        >>> ops.attention(q, q, v, 0.5, out=np.empty_like(v)).tolist()
        [[[3.0, 5.0], [3.0, 5.0]]]
    """
    (q, q_steps), (k, k_steps), (v, v_steps) = _read(q, "q"), _read(k, "k"), _read(v, "v")
    if out.dtype != _FLOAT32 or not is_writable(out):
        raise ValueError("out must be a writable float32 array with rows without gaps")
    found = runtime.plan(
        _Attention, q.shape, q_steps, k.shape, k_steps, v.shape, v_steps, out.shape, out.strides
    )
    layout = found.scores
    if weights is None:
        scores = allocate(layout.nbytes)
    else:
        if weights.dtype != _FLOAT32 or weights.shape != layout.shape:
            raise ValueError(f"weights must be a float32 array of shape {layout.shape}")
        if not weights.flags.carray:
            raise ValueError("weights must be writable and C-contiguous")
        scores = _pointer(weights)
    found.multiply(_pointer(q), _pointer(k), scores, ffi.new("float[1]", [scale]))
    if added is not None:
        view = dense_view(layout, scores) if weights is None else weights
        view += added
    found.normalize(scores, scores)
    found.weigh(scores, _pointer(v), _pointer(out))
    return out


def _read(array: _NDArray, name: str) -> tuple[_NDArray, _Shape]:
    """The array itself if oneDNN reads its matrices where they lie, else a copy; and its strides
    in elements.
    """
    if array.dtype != _FLOAT32:
        raise TypeError(f"{name} must be of dtype float32, got {array.dtype}")
    if not array.size:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    return readable(array)


def _pointer(array: _NDArray) -> Any:
    # Not array.ctypes, which makes an object and calls three functions. The array lives meanwhile.
    return ffi.cast(_POINTER, array.__array_interface__["data"][0])


__all__ = ["attention"]
