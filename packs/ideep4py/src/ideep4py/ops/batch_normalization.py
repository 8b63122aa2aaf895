"""Batch normalization over all axes but the second, fused with ReLU on request."""

from __future__ import annotations

from typing import Any, NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate, copy_bytes
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe, layout_of
from ideep4py._core.reorder import Data, in_layout
from ideep4py._mdarray import deferred, mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape, vector


class BatchNormalized(NamedTuple):
    """Results of :func:`batch_normalization` in training."""

    y: mdarray
    mean: mdarray
    """Mean of each channel over the batch, (C,)."""
    var: mdarray
    """Variance of each channel over the batch (biased), (C,)."""
    workspace: mdarray | None
    """Which outputs ReLU set to zero; None without ReLU."""


def _pd_forward(x: L.Layout, eps: float, flags: int, prop: int) -> Any:
    return describe(
        lib.dnnl_batch_normalization_forward_primitive_desc_create,
        f"batch normalization of {x.shape}",
        prop,
        x.md,
        x.md,
        eps,
        flags,
        attributes(),
    )


def _check_shape(x: L.Layout) -> int:
    if not 2 <= x.ndim <= 5:
        raise ValueError(f"x must have 2 to 5 axes, got shape {x.shape}")
    return x.shape[1]


class _Forward:
    __slots__ = ("channels", "run", "statistics", "workspace")

    def __init__(self, x: L.Layout, eps: float, relu: bool, given: bool) -> None:
        self.channels = _check_shape(x)
        # With ReLU fused, the workspace tells which elements became zero.
        flags = C.USE_SCALE | C.USE_SHIFT | (C.FUSE_RELU if relu else 0)
        if given:
            flags |= C.GLOBAL_STATS
        pd = _pd_forward(x, eps, flags, C.INFERENCE if given else C.TRAINING)
        self.statistics = row = L.dense((self.channels,))
        # Input and output share a layout, so that the next function needs no reorder.
        arguments = [(C.SRC, x), (C.DST, x), (C.SCALE, row), (C.SHIFT, row)]
        arguments += [(C.MEAN, row), (C.VARIANCE, row)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


class _Backward:
    __slots__ = ("channels", "run", "statistics", "workspace")

    def __init__(self, x: L.Layout, eps: float, relu: bool, given: bool) -> None:
        self.channels = _check_shape(x)
        flags = C.USE_SCALE | C.USE_SHIFT
        flags |= (C.FUSE_RELU if relu else 0) | (C.GLOBAL_STATS if given else 0)
        # The backward primitive has to know the forward one, whose workspace it reads.
        hint = _pd_forward(x, eps, flags, C.TRAINING)
        pd = describe(
            lib.dnnl_batch_normalization_backward_primitive_desc_create,
            f"gradient of a batch normalization of {x.shape}",
            C.BACKWARD,
            x.md,
            x.md,
            x.md,
            eps,
            flags,
            hint,
            attributes(),
        )
        self.statistics = row = L.dense((self.channels,))
        arguments = [(C.SRC, x), (C.DIFF_DST, x), (C.DIFF_SRC, x), (C.SCALE, row)]
        arguments += [(C.MEAN, row), (C.VARIANCE, row)]
        arguments += [(C.DIFF_SCALE, row), (C.DIFF_SHIFT, row)]
        self.workspace = layout_of(pd, C.QUERY_WORKSPACE)
        if self.workspace is not None:
            arguments.append((C.WORKSPACE, self.workspace))
        self.run = Primitive(pd, arguments).run


def batch_normalization(
    x: Array, gamma: Array, beta: Array, eps: float = 2e-5, *, relu: bool = False
) -> BatchNormalized:
    """``gamma * (x - mean) / sqrt(var + eps) + beta`` with the statistics of this batch.

    Args:
        x: input of shape (N, C, ...), 2 to 5 axes.
        gamma: scale, (C,).
        beta: shift, (C,).
        eps: added to the variance.
        relu: apply ReLU to the output, at no extra cost.

    Returns:
        Output (in the layout of ``x``), mean, variance (biased) and workspace.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.

    Example:
        >>> import numpy as np
        >>> from ideep4py import ops
        >>> x = np.arange(8, dtype='f').reshape(2, 2, 2)
        >>> y, mean, var, _ = ops.batch_normalization(x, np.ones(2, 'f'), np.zeros(2, 'f'))
        >>> mean.tolist(), var.tolist()
        ([2.5, 4.5], [4.25, 4.25])
    """
    layout, pointer = data_of(x, "x")
    found = runtime.plan(_Forward, layout, float(eps), relu, False)
    n = found.channels
    out = allocate(layout.nbytes)
    mean, var = allocate(found.statistics.nbytes), allocate(found.statistics.nbytes)
    pointers = [pointer, out, vector(gamma, "gamma", n), vector(beta, "beta", n), mean, var]
    workspace = None
    if found.workspace is not None:
        workspace = wrap(found.workspace, allocate(found.workspace.nbytes))
        pointers.append(workspace._data[1])
    found.run(*pointers)
    row = found.statistics
    return BatchNormalized(wrap(layout, out), wrap(row, mean), wrap(row, var), workspace)


class FixedNormalization:
    """A batch normalization with given statistics, not yet computed.

    It keeps its inputs: the memory of ``x`` and copies of the vectors.
    """

    __slots__ = ("_eps", "_vectors", "_x")

    def __init__(self, x: Data, eps: float, vectors: list[Any]) -> None:
        self._x = x
        self._eps = eps
        self._vectors = vectors

    def __call__(self) -> Data:
        """Computes it."""
        return self._run(False)

    def with_relu(self) -> mdarray:
        """Computes ReLU of it in one pass."""
        return wrap(*self._run(True))

    def _run(self, relu: bool) -> Data:
        layout, pointer = self._x
        out = allocate(layout.nbytes)
        runtime.plan(_Forward, layout, self._eps, relu, True).run(pointer, out, *self._vectors)
        return layout, out


def fixed_batch_normalization(
    x: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    var: Array,
    eps: float = 2e-5,
    *,
    relu: bool = False,
    defer: bool = False,
) -> mdarray:
    """Batch normalization with given statistics, as in inference.

    Args:
        x, gamma, beta, eps, relu: as in :func:`batch_normalization`.
        mean: mean of each channel, (C,).
        var: variance of each channel, (C,).
        defer: compute at the first access to the elements. :func:`~ideep4py.ops.relu` of the result
            is then one pass, as with ``relu=True``. Nothing may change ``x`` meanwhile.

    Returns:
        Array of the shape and layout of ``x``. ReLU in the same pass turns NaN into 0.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data = data_of(x, "x")
    n = _check_shape(data[0])
    arrays = {"gamma": gamma, "beta": beta, "mean": mean, "var": var}
    vectors = [vector(array, name, n) for name, array in arrays.items()]
    if defer and not relu:
        # The program may change gamma or beta before the elements are read.
        copies = [copy_bytes(pointer, 4 * n) for pointer in vectors]
        return deferred(data[0], FixedNormalization(data, float(eps), copies))
    normalization = FixedNormalization(data, float(eps), vectors)
    return normalization.with_relu() if relu else wrap(*normalization())


def batch_normalization_backward(
    x: Array,
    gy: Array,
    gamma: Array,
    mean: Array,
    var: Array,
    eps: float = 2e-5,
    *,
    workspace: mdarray | None = None,
    fixed: bool = False,
) -> tuple[mdarray, mdarray, mdarray]:
    """Gradients of :func:`batch_normalization`.

    Args:
        x: input.
        gy: gradient of the output.
        gamma: scale, (C,).
        mean, var: statistics that normalized ``x``.
        eps: as in the forward pass.
        workspace: what the forward pass returned with ``relu=True``: the gradient passes ReLU as
            well.
        fixed: the statistics were given, not computed from ``x``.

    Returns:
        Gradients with respect to ``x`` (in its layout), ``gamma`` and ``beta``.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    layout, pointer = data_of(x, "x")
    gy_data = data_of(gy, "gy")
    same_shape(gy_data, "gy", layout.shape, "x")
    found = runtime.plan(_Backward, layout, float(eps), workspace is not None, fixed)
    n, row = found.channels, found.statistics
    scale = vector(gamma, "gamma", n)
    gx, ggamma, gbeta = allocate(layout.nbytes), allocate(row.nbytes), allocate(row.nbytes)
    pointers = [pointer, in_layout(gy_data, layout), gx, scale]
    pointers += [vector(mean, "mean", n), vector(var, "var", n), ggamma, gbeta]
    if workspace is not None and found.workspace is not None:
        # Layouts are compared by identity, see ideep4py._core.layout.
        if workspace.layout is not found.workspace:
            raise ValueError("workspace must be the one that batch_normalization returned for x")
        pointers.append(workspace._data[1])
    found.run(*pointers)
    return wrap(layout, gx), wrap(row, ggamma), wrap(row, gbeta)
