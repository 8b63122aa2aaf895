"""``f(x, y)`` for two arrays of one shape (or with axes of length 1 in ``y``): oneDNN's binary
primitive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi, lib
from ideep4py._core.primitive import Primitive, attributes, describe
from ideep4py._core.reorder import Data, copy_into, densified, in_layout

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


class _Binary:
    """``out = f(x, y)`` on arrays of one layout."""

    __slots__ = ("run",)

    def __init__(self, layout: L.Layout, name: str) -> None:
        layout = layout.flat()
        md = layout.md
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            f"binary operation {name}",
            C.BINARY[name],
            md,
            md,
            md,
            attributes(),
        )
        self.run = Primitive(pd, [(C.SRC, layout), (C.SRC_1, layout), (C.DST, layout)]).run


class Broadcast:
    """``out = f(x, y)``, where ``y`` has axes of length 1."""

    __slots__ = ("run",)

    def __init__(self, x: L.Layout, y: L.Layout, name: str) -> None:
        # Products and quotients keep the zeros in the padding of blocks; a sum would fill it with
        # the number.
        if y.size == 1 and (name in ("mul", "div") or x.unpadded()):
            x = x.flat()
            y = L.dense((1,) * x.ndim)
        elif x.dense and y.dense:
            x, y = _merged(x, y)
        pd = describe(
            lib.dnnl_binary_primitive_desc_create,
            f"binary operation {name}",
            C.BINARY[name],
            x.md,
            y.md,
            x.md,
            attributes(),
        )
        self.run = Primitive(pd, [(C.SRC, x), (C.SRC_1, y), (C.DST, x)]).run


def _merged(x: L.Layout, y: L.Layout) -> tuple[L.Layout, L.Layout]:
    """The same elements with as few axes as possible.

    oneDNN has generated code where one number serves each row of a matrix, but none where it serves
    each row of an array of four axes: that took 300 times as long.
    """
    long: list[int] = []
    short: list[int] = []
    for n, m in zip(x.shape, y.shape, strict=True):
        if long and (short[-1] == 1) == (m == 1):
            long[-1], short[-1] = long[-1] * n, short[-1] * m
        else:
            long.append(n)
            short.append(m)
    return L.dense(tuple(long), x.data_type), L.dense(tuple(short), y.data_type)


def common_layout(layouts: list[L.Layout]) -> L.Layout:
    """If the layouts differ, the first one in blocks: its array is most likely a large result."""
    first = layouts[0]
    for layout in layouts:
        if layout is not first:
            return next((a for a in layouts if not a.dense), first)
    return first


def binary(name: str, x: Data, y: Data) -> Data:
    """A new array; the arguments have one shape and data type."""
    if name == "div" and not x[0].unpadded():
        x, y = densified(x), densified(y)  # 0 / 0 in the padding would not stay 0
    layout = x[0]
    if y[0] is not layout:
        layout = common_layout([layout, y[0]])
        x = layout, in_layout(x, layout)
        y = layout, in_layout(y, layout)
    out = allocate(layout.nbytes)
    runtime.plan(_Binary, layout, name).run(x[1], y[1], out)
    return layout, out


def binary_inplace(name: str, x: Data, y: Data) -> None:
    """``x[...] = f(x, y)``; the arguments have one shape and data type."""
    layout, pointer = x
    if name == "div" and not layout.unpadded():
        copy_into(binary(name, x, y), x)
        return
    other = in_layout(y, layout)
    runtime.plan(_Binary, layout, name).run(pointer, other, pointer)


def binary_into(name: str, layout: L.Layout, x: AnyArray, y: AnyArray, out: Any) -> None:
    """``out[...] = f(x, y)`` on pointers to arrays of one layout."""
    runtime.plan(_Binary, layout, name).run(x, y, out)


def broadcast_into(name: str, layout: L.Layout, x: AnyArray, y: Data, out: Any) -> None:
    """``out[...] = f(x, y)``; ``x`` and ``out`` point to arrays of ``layout``, ``y`` broadcasts."""
    runtime.plan(Broadcast, layout, y[0], name).run(x, y[1], out)


def broadcast(name: str, x: Data, y: Data) -> Data:
    """A new array of the shape of ``x``; ``y`` has the same number of axes, some of length 1.

    A divisor may not be 0 or NaN where ``x`` has padding, which must stay 0.
    """
    layout, pointer = x
    out = allocate(layout.nbytes)
    runtime.plan(Broadcast, layout, y[0], name).run(pointer, y[1], out)
    return layout, out


def broadcast_inplace(name: str, x: Data, y: Data) -> None:
    """``x[...] = f(x, y)``; ``y`` has the same number of axes, some of length 1."""
    layout, pointer = x
    runtime.plan(Broadcast, layout, y[0], name).run(pointer, y[1], pointer)


def scalar(value: float, ndim: int) -> Data:
    """A number as an array that broadcasts against ``ndim`` axes."""
    # oneDNN has no arrays without axes.
    return L.dense((1,) * max(ndim, 1)), ffi.new("float[1]", [value])
