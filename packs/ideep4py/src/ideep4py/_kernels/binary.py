"""``f(x, y)`` for two arrays of one shape (or with axes of length 1 in ``y``): oneDNN's binary
primitive.
"""

from __future__ import annotations

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi, lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, in_layout


class _Binary:
    __slots__ = ("run",)

    def __init__(self, x: L.Layout, y: L.Layout, out: L.Layout, alg: int) -> None:
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            "binary operation",
            alg,
            x.md,
            y.md,
            out.md,
            attributes(),
        )
        self.run = Primitive(pd, [(C.SRC, x), (C.SRC_1, y), (C.DST, out)]).run


def common_layout(layouts: list[L.Layout]) -> L.Layout:
    """Where layouts differ, the first blocked one: its array is most likely the large, computed
    one.
    """
    first = layouts[0]
    for layout in layouts:
        if layout is not first:
            return next((a for a in layouts if not a.dense), first)
    return first


def binary(name: str, x: Data, y: Data) -> Data:
    """A new array; the arguments have one shape and data type."""
    layout = x[0]
    if y[0] is not layout:
        layout = common_layout([layout, y[0]])
        x = layout, in_layout(x, layout)
        y = layout, in_layout(y, layout)
    out = allocate(layout.nbytes)
    runtime.plan(_Binary, layout, layout, layout, C.BINARY[name]).run(x[1], y[1], out)
    return layout, out


def binary_inplace(name: str, x: Data, y: Data) -> None:
    """``x[...] = f(x, y)``; the arguments have one shape and data type."""
    layout, pointer = x
    other = in_layout(y, layout)
    runtime.plan(_Binary, layout, layout, layout, C.BINARY[name]).run(pointer, other, pointer)


def broadcast(name: str, x: Data, y: Data) -> Data:
    """A new array of the shape of ``x``; ``y`` has the same number of axes, some of length 1."""
    layout, pointer = x
    out = allocate(layout.nbytes)
    runtime.plan(_Binary, layout, y[0], layout, C.BINARY[name]).run(pointer, y[1], out)
    return layout, out


def broadcast_inplace(name: str, x: Data, y: Data) -> None:
    """``x[...] = f(x, y)``; ``y`` has the same number of axes, some of length 1."""
    layout, pointer = x
    runtime.plan(_Binary, layout, y[0], layout, C.BINARY[name]).run(pointer, y[1], pointer)


def scalar(value: float, ndim: int) -> Data:
    """A number as an array that broadcasts against ``ndim`` axes."""
    return L.dense((1,) * max(ndim, 1)), ffi.new("float[1]", [value])
