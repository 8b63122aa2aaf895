"""Moves data between layouts."""

from __future__ import annotations

from typing import Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.errors import check
from ideep4py._core.library import ffi, lib
from ideep4py._core.primitive import Primitive, attributes, describe_reorder

Data = tuple[L.Layout, Any]
"""A layout and the pointer to data in it. The pointer object keeps the memory alive."""


class Move:
    """A compiled copy from one layout to another: ``run(source, target)``."""

    __slots__ = ("run",)

    def __init__(self, source: L.Layout, target: L.Layout) -> None:
        pd = describe_reorder(source, target, attributes())
        self.run = Primitive(pd, [(C.SRC, source), (C.DST, target)]).run


def copy_into(source: Data, target: Data) -> None:
    """Copies the elements of ``source`` to ``target``: same shape, any layouts and data types."""
    if source[0].size:
        runtime.plan(Move, source[0], target[0]).run(source[1], target[1])


def in_layout(data: Data, layout: L.Layout) -> Any:
    """Pointer to the elements of ``data`` in ``layout``: the same memory if it has that layout,
    else a copy.
    """
    # Layouts are interned: the same layout is the same object.
    if data[0] is layout:
        return data[1]
    pointer = allocate(layout.nbytes)
    copy_into(data, (layout, pointer))
    return pointer


def densified(data: Data) -> Data:
    """``data`` in row-major layout: itself, or a copy."""
    layout = data[0]
    if layout.dense:
        return data
    target = L.dense(layout.shape, layout.data_type)
    return target, in_layout(data, target)


def part(
    whole: L.Layout, shape: tuple[int, ...], offsets: tuple[int, ...] | None = None
) -> L.Layout:
    """The layout of a part of an array that begins at ``offsets`` (by default at 0).

    It is used with pointers to the whole array.

    Raises:
        UnsupportedError: the part begins or ends within a block.
    """
    box = ffi.new("md_t *")
    begin = L.c_dims(offsets or (0,) * len(shape))
    status = lib.dnnl_memory_desc_create_submemory(box, whole.md, L.c_dims(shape), begin)
    check(status, f"take the part {shape} of {whole!r}")
    return L.intern(L.own_md(box))
