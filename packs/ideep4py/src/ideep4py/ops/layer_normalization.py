"""Layer normalization: each row of a matrix is normalized on its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape, vector


class LayerNormalized(NamedTuple):
    """Results of :func:`layer_normalization`."""

    y: mdarray
    mean: mdarray
    """Mean of each row, (N,)."""
    var: mdarray
    """Variance of each row (biased), (N,)."""


def _pd_forward(x: L.Layout, statistics: L.Layout, eps: float) -> Any:
    return describe(
        lib.dnnl_layer_normalization_forward_primitive_desc_create,
        f"layer normalization of {x.shape}",
        C.TRAINING,
        x.md,
        x.md,
        statistics.md,
        eps,
        C.USE_SCALE | C.USE_SHIFT,
        attributes(),
    )


class _Forward:
    __slots__ = ("run", "statistics")

    def __init__(self, shape: tuple[int, int], eps: float) -> None:
        x = L.dense(shape)
        self.statistics = each = L.dense(shape[:1])
        row = L.dense(shape[1:])
        arguments = [(C.SRC, x), (C.DST, x), (C.SCALE, row), (C.SHIFT, row)]
        arguments += [(C.MEAN, each), (C.VARIANCE, each)]
        self.run = Primitive(_pd_forward(x, each, eps), arguments).run


class _Backward:
    __slots__ = ("row", "run")

    def __init__(self, shape: tuple[int, int], eps: float) -> None:
        x, each = L.dense(shape), L.dense(shape[:1])
        self.row = row = L.dense(shape[1:])
        pd = describe(
            lib.dnnl_layer_normalization_backward_primitive_desc_create,
            f"gradient of a layer normalization of {shape}",
            C.BACKWARD,
            x.md,
            x.md,
            x.md,
            each.md,
            eps,
            C.USE_SCALE | C.USE_SHIFT,
            _pd_forward(x, each, eps),
            attributes(),
        )
        arguments = [(C.SRC, x), (C.DIFF_DST, x), (C.DIFF_SRC, x), (C.SCALE, row)]
        arguments += [(C.MEAN, each), (C.VARIANCE, each)]
        arguments += [(C.DIFF_SCALE, row), (C.DIFF_SHIFT, row), (C.SHIFT, row)]
        self.run = Primitive(pd, arguments).run


def _matrix(x: Array, name: str) -> Data:
    layout, pointer = data_of(x, name)
    if layout.ndim != 2:
        raise ValueError(f"{name} must have 2 axes, got shape {layout.shape}")
    if layout.data_type != C.F32:
        raise TypeError(f"{name} must be of dtype float32, got {layout.dtype}")
    dense = L.dense(layout.shape)
    return dense, in_layout((layout, pointer), dense)


def layer_normalization(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> LayerNormalized:
    """``gamma * (x - mean) / sqrt(var + eps) + beta`` with the statistics of each row.

    Args:
        x: input of shape (N, D).
        gamma: scale, (D,).
        beta: shift, (D,).
        eps: added to the variance.

    Returns:
        Output, mean and variance (biased).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> x = np.array([[1, 3], [2, 2]], np.float32)
        >>> one, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> found = ops.layer_normalization(x, one, zero, 0.0001)
        >>> np.asarray(found.y).round(3).tolist(), np.asarray(found.var).tolist()
        ([[-1.0, 1.0], [0.0, 0.0]], [1.0, 0.0])
    """
    layout, pointer = _matrix(x, "x")
    rows, size = layout.shape
    scale, shift = vector(gamma, "gamma", size), vector(beta, "beta", size)
    found = runtime.plan(_Forward, (rows, size), float(eps))
    y, each = allocate(layout.nbytes), found.statistics
    mean, var = allocate(each.nbytes), allocate(each.nbytes)
    found.run(pointer, y, scale, shift, mean, var)
    return LayerNormalized(wrap(layout, y), wrap(each, mean), wrap(each, var))


def layer_normalization_backward(
    x: Array, gy: Array, gamma: Array, mean: Array, var: Array, eps: float = 1e-5
) -> tuple[mdarray, mdarray, mdarray]:
    """Gradients of :func:`layer_normalization` with respect to ``x``, ``gamma`` and ``beta``.

    Args:
        x: input of the forward pass, (N, D).
        gy: gradient of the output, (N, D).
        gamma: scale, (D,).
        mean: mean of each row, (N,).
        var: variance of each row, (N,).
        eps: added to the variance.

    Returns:
        Gradients of shapes (N, D), (D,) and (D,).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    layout, pointer = _matrix(x, "x")
    gradient = _matrix(gy, "gy")
    same_shape(gradient, "gy", layout.shape, "x")
    rows, size = layout.shape
    scale = vector(gamma, "gamma", size)
    centers, squares = vector(mean, "mean", rows), vector(var, "var", rows)
    found = runtime.plan(_Backward, (rows, size), float(eps))
    gx, row = allocate(layout.nbytes), found.row
    ggamma, gbeta = allocate(row.nbytes), allocate(row.nbytes)
    # oneDNN asks for the shift, too, and does not read it: any row serves.
    found.run(pointer, gradient[1], gx, scale, centers, squares, ggamma, gbeta, scale)
    return wrap(layout, gx), wrap(row, ggamma), wrap(row, gbeta)


__all__ = ["LayerNormalized", "layer_normalization", "layer_normalization_backward"]
