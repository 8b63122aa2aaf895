"""Compiled matrix products: batched, or with further operations fused."""

from __future__ import annotations

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import PostOp, Primitive, attributes, describe


def product(
    a: L.Layout,
    b: L.Layout,
    out: L.Layout,
    post_ops: tuple[PostOp, ...] = (),
    bias: L.Layout | None = None,
    scaled: bool = False,
) -> Primitive:
    """``out = a @ b (+ bias)``, or ``out = scale * a @ b``; leading axes are the batch.

    Its ``run`` takes pointers to ``a``, ``b``, ``out``, and to ``bias`` or the scale.
    """
    pd = describe(
        lib.dnnl_matmul_primitive_desc_create,
        f"product of {a} and {b}",
        a.md,
        b.md,
        NULL if bias is None else bias.md,
        out.md,
        attributes(post_ops, scaled=scaled),
    )
    arguments = [(C.SRC, a), (C.WEIGHTS, b), (C.DST, out)]
    if bias is not None:
        arguments.append((C.BIAS, bias))
    if scaled:
        arguments.append((C.SCALES | C.SRC, L.dense((1,))))
    return Primitive(pd, arguments)
