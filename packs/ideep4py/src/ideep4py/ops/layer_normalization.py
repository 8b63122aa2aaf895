"""Layer normalization: each row of a matrix is normalized on its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, densified, in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, check_vector, data_of, same_shape, vector


class LayerNormalized(NamedTuple):
    """Results of :func:`layer_normalization`."""

    y: mdarray
    mean: mdarray | None
    """Mean of each row, (N,); None if no statistics were asked for."""
    var: mdarray | None
    """Variance of each row (biased), (N,); None if no statistics were asked for."""


def _pd_forward(x: L.Layout, statistics: L.Layout, eps: float, kind: int = C.TRAINING) -> Any:
    return describe(
        lib.dnnl_layer_normalization_forward_primitive_desc_create,
        f"layer normalization of {x.shape}",
        kind,
        x.md,
        x.md,
        statistics.md,
        eps,
        C.USE_SCALE | C.USE_SHIFT,
        attributes(),
    )


class _Forward:
    """The forward pass for arrays in these layouts, which are checked once.

    Attributes:
        layout: layout of the output, and of the input that ``run`` reads.
        statistics: layout of mean and variance; None if they are not written.
    """

    __slots__ = ("layout", "run", "statistics")

    def __init__(
        self, x: L.Layout, gamma: L.Layout, beta: L.Layout, eps: float, statistics: bool
    ) -> None:
        self.layout = matrix = _matrix_layout(x, "x")
        rows, size = matrix.shape
        check_vector(gamma, "gamma", size)
        check_vector(beta, "beta", size)
        row, each = L.dense((size,)), L.dense((rows,))
        self.statistics = each if statistics else None
        arguments = [(C.SRC, matrix), (C.DST, matrix), (C.SCALE, row), (C.SHIFT, row)]
        if statistics:
            arguments += [(C.MEAN, each), (C.VARIANCE, each)]
        # Only the training kind has statistics among its outputs.
        kind = C.TRAINING if statistics else C.INFERENCE
        self.run = Primitive(_pd_forward(matrix, each, eps, kind), arguments).run


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


def _matrix_layout(layout: L.Layout, name: str) -> L.Layout:
    """The dense layout of a float32 matrix."""
    if layout.ndim != 2:
        raise ValueError(f"{name} must have 2 axes, got shape {layout.shape}")
    if layout.data_type != C.F32:
        raise TypeError(f"{name} must be of dtype float32, got {layout.dtype}")
    return L.dense(layout.shape)


def _matrix(x: Array, name: str) -> Data:
    data = data_of(x, name)
    dense = _matrix_layout(data[0], name)
    return dense, in_layout(data, dense)


def layer_normalization(
    x: Array, gamma: Array, beta: Array, eps: float = 1e-5, *, statistics: bool = True
) -> LayerNormalized:
    """``gamma * (x - mean) / sqrt(var + eps) + beta`` with the statistics of each row.

    Args:
        x: input of shape (N, D).
        gamma: scale, (D,).
        beta: shift, (D,).
        eps: added to the variance.
        statistics: whether mean and variance are wanted, which the gradient needs.

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
    data, scale, shift = data_of(x, "x"), data_of(gamma, "gamma"), data_of(beta, "beta")
    if not (data[0].dense and scale[0].dense and shift[0].dense):
        data, scale, shift = densified(data), densified(scale), densified(shift)
    found = runtime.plan(_Forward, data[0], scale[0], shift[0], float(eps), bool(statistics))
    layout, each = found.layout, found.statistics
    y = allocate(layout.nbytes)
    arguments = (data[1], y, scale[1], shift[1])
    if each is None:
        found.run(*arguments)
        return LayerNormalized(wrap(layout, y), None, None)
    mean, var = allocate(each.nbytes), allocate(each.nbytes)
    found.run(*arguments, mean, var)
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
