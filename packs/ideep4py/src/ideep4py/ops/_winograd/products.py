"""Products of matrices, point by point."""

from __future__ import annotations

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import PostOp, Primitive, attributes, describe


def product(
    a: L.Layout, b: L.Layout, out: L.Layout, post_ops: tuple[PostOp, ...] = ()
) -> Primitive:
    """``out = a @ b``; axes in front count the products."""
    pd = describe(
        lib.dnnl_matmul_primitive_desc_create,
        f"product of {a} and {b}",
        a.md,
        b.md,
        NULL,
        out.md,
        attributes(post_ops),
    )
    return Primitive(pd, [(C.SRC, a), (C.WEIGHTS, b), (C.DST, out)])
