"""Softmax and its logarithm over one axis."""

from __future__ import annotations

from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, axis_index, data_of, same_shape


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


class _Forward:
    __slots__ = ("run",)

    def __init__(self, x: L.Layout, axis: int, log: bool) -> None:
        pd = _pd_forward(x, axis_index(axis, x.ndim), log)
        self.run = Primitive(pd, [(C.SRC, x), (C.DST, x)]).run


class _Backward:
    __slots__ = ("run",)

    def __init__(self, y: L.Layout, axis: int, log: bool) -> None:
        axis = axis_index(axis, y.ndim)
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
        self.run = Primitive(pd, [(C.DST, y), (C.DIFF_DST, y), (C.DIFF_SRC, y)]).run


def _forward(x: Array, axis: int, log: bool) -> mdarray:
    layout, pointer = data_of(x, "x")
    out = allocate(layout.nbytes)
    runtime.plan(_Forward, layout, axis, log).run(pointer, out)
    return wrap(layout, out)


def _backward(y: Array, gy: Array, axis: int, log: bool) -> mdarray:
    layout, pointer = data_of(y, "y")
    gradient = data_of(gy, "gy")
    same_shape(gradient, "gy", layout.shape, "y")
    out = allocate(layout.nbytes)
    found = runtime.plan(_Backward, layout, axis, log)
    found.run(pointer, in_layout(gradient, layout), out)
    return wrap(layout, out)


def softmax(x: Array, axis: int = 1) -> mdarray:
    """``exp(x) / sum(exp(x))`` over one axis, in the layout of ``x``.

    Args:
        x: any shape.
        axis: the axis whose elements sum to one.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    return _forward(x, axis, False)


def softmax_backward(y: Array, gy: Array, axis: int = 1) -> mdarray:
    """Gradient of :func:`softmax` from its output ``y``."""
    return _backward(y, gy, axis, False)


def log_softmax(x: Array, axis: int = 1) -> mdarray:
    """``x - log(sum(exp(x)))`` over one axis, in the layout of ``x``."""
    return _forward(x, axis, True)


def log_softmax_backward(y: Array, gy: Array, axis: int = 1) -> mdarray:
    """Gradient of :func:`log_softmax` from its output ``y``."""
    return _backward(y, gy, axis, True)
