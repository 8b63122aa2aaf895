"""Softmax and its logarithm over one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe, implementation
from ideep4py._core.reorder import copy_into, in_layout
from ideep4py._kernels import elementwise
from ideep4py._kernels.binary import binary_into, broadcast_inplace, broadcast_into
from ideep4py._kernels.reduction import sum_axes
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, axis_index, data_of, same_shape

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def _pd_forward(x: L.Layout, axis: int, log: bool) -> Any:
    return describe(
        lib.dnnl_softmax_forward_primitive_desc_create,
        f"softmax of {x.shape}",
        C.TRAINING,
        C.LOG_SOFTMAX if log else C.SOFTMAX,
        x.md,
        x.md,
        axis,
        attributes(),
    )


def _innermost(x: L.Layout, axis: int) -> L.Layout:
    """The layout of the shape of ``x`` with ``axis`` innermost, without blocks."""
    order = [*[i for i in range(x.ndim) if i != axis], axis]
    strides = L.row_major_strides(tuple(x.shape[i] for i in order))
    placed = dict(zip(order, strides, strict=True))
    return L.strided(x.shape, tuple(placed[i] for i in range(x.ndim)), x.data_type)


class _Forward:
    """``layout`` is the layout of ``x``, or one that oneDNN compiles for (``axis`` innermost)."""

    __slots__ = ("layout", "run")

    def __init__(self, x: L.Layout, axis: int, log: bool) -> None:
        axis = axis_index(axis, x.ndim)
        pd = _pd_forward(x, axis, log)
        # oneDNN calls its loop without generated code "ref"; with the axis innermost it generates
        # code.
        if "ref" in implementation(pd):
            x = _innermost(x, axis)
            pd = _pd_forward(x, axis, log)
        self.layout = x
        self.run = Primitive(pd, [(C.SRC, x), (C.DST, x)]).run


def softmax_of_rows(x: L.Layout) -> Callable[..., None]:
    """The softmax over the last axis of arrays in a dense layout.

    Returns:
        Function of pointers to the input and the output, which may be the same.
    """
    return _Forward(x, x.ndim - 1, False).run


class _Composed:
    """The gradient in steps, if oneDNN has only its reference loop (AVX2)."""

    __slots__ = ("_axes", "_layout", "_log", "_sums")

    def __init__(self, layout: L.Layout, axis: int, log: bool) -> None:
        self._layout = layout
        self._log = log
        self._axes = frozenset({axis})
        # The summed axis stays with length 1, so that the sums broadcast.
        self._sums = tuple(1 if i == axis else n for i, n in enumerate(layout.shape))

    def run(self, y: AnyArray, gy: AnyArray, out: Any) -> None:
        layout = self._layout
        if self._log:  # gy - exp(y) * sum(gy)
            sums = sum_axes((layout, gy), self._axes, self._sums)
            elementwise.forward_into((layout, y), out, C.ELTWISE["exp"])
            broadcast_inplace("mul", (layout, out), sums)
            binary_into("sub", layout, gy, out, out)
        else:  # y * (gy - sum(gy * y))
            binary_into("mul", layout, gy, y, out)
            sums = sum_axes((layout, out), self._axes, self._sums)
            broadcast_into("sub", layout, gy, sums, out)
            binary_into("mul", layout, out, y, out)


class _Backward:
    __slots__ = ("layout", "run")

    def __init__(self, y: L.Layout, axis: int, log: bool) -> None:
        axis = axis_index(axis, y.ndim)
        self.layout = y
        # oneDNN describes no gradient without the descriptor of its forward pass, for training.
        hint = _pd_forward(y, axis, log)
        pd = describe(
            lib.dnnl_softmax_backward_primitive_desc_create,
            f"gradient of a softmax of {y.shape}",
            C.LOG_SOFTMAX if log else C.SOFTMAX,
            y.md,
            y.md,
            y.md,
            axis,
            hint,
            attributes(),
        )
        if "ref" in implementation(pd):
            self.layout = y = L.dense(y.shape, y.data_type)
            self.run = _Composed(y, axis, log).run
            return
        self.run = Primitive(pd, [(C.DST, y), (C.DIFF_DST, y), (C.DIFF_SRC, y)]).run


def _forward(x: Array, axis: int, log: bool) -> mdarray:
    data = data_of(x, "x")
    found = runtime.plan(_Forward, data[0], axis, log)
    layout = found.layout
    out = allocate(layout.nbytes)
    found.run(in_layout(data, layout), out)
    return wrap(layout, out)


def _backward(y: Array, gy: Array, axis: int, log: bool) -> mdarray:
    data, gradient = data_of(y, "y"), data_of(gy, "gy")
    same_shape(gradient, "gy", data[0].shape, "y")
    found = runtime.plan(_Backward, data[0], axis, log)
    layout = found.layout
    out = allocate(layout.nbytes)
    found.run(in_layout(data, layout), in_layout(gradient, layout), out)
    return wrap(layout, out)


def softmax(x: Array, axis: int = 1, *, out: Array | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` over one axis.

    Args:
        x: any shape.
        axis: the axis whose elements sum to one.
        out: array to overwrite, ``x`` itself or one of its shape and layout that shares no memory
            with it; a new mdarray when None.

    Returns:
        The softmax; ``out`` itself when given.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    if out is None:
        return _forward(x, axis, False)
    data, target = data_of(x, "x"), data_of(out, "out")
    # A copy of an array that is not contiguous would be written instead of it.
    is_kept = isinstance(out, mdarray) or out.flags.carray
    if not is_kept or target[0] is not data[0]:
        raise ValueError(f"out must be writable and have the layout of x, {data[0]!r}")
    found = runtime.plan(_Forward, data[0], axis, False)
    if found.layout is data[0]:
        found.run(data[1], target[1])
    else:
        y = allocate(found.layout.nbytes)
        found.run(in_layout(data, found.layout), y)
        copy_into((found.layout, y), target)
    return out


def softmax_backward(y: Array, gy: Array, axis: int = 1) -> mdarray:
    """Gradient of :func:`softmax` from its output ``y``."""
    return _backward(y, gy, axis, False)


def log_softmax(x: Array, axis: int = 1) -> mdarray:
    """``x - log(sum(exp(x)))`` over one axis."""
    return _forward(x, axis, True)


def log_softmax_backward(y: Array, gy: Array, axis: int = 1) -> mdarray:
    """Gradient of :func:`log_softmax` from its output ``y``."""
    return _backward(y, gy, axis, True)
