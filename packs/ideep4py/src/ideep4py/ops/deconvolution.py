"""Deconvolution (transposed convolution): the input's gradient of a convolution, plus a bias."""

from __future__ import annotations

from collections.abc import Sequence

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe
from ideep4py._core.reorder import densified, in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, hashable, vector
from ideep4py.ops._windows import make_window, window_dims

Spatial = int | tuple[int, ...]


class _Forward:
    __slots__ = ("W", "channels", "given_W", "run", "x", "y")

    def __init__(
        self,
        x: L.Layout,
        w: tuple[int, ...],
        bias: bool,
        stride: Spatial,
        pad: Spatial,
        dilate: Spatial,
        groups: int,
        out_size: tuple[int, ...] | None,
    ) -> None:
        shape, kind = x.shape, x.data_type
        if not 3 <= len(shape) <= 5 or len(w) != len(shape):
            raise ValueError(f"x and W must have 3, 4 or 5 axes alike, got shapes {shape} and {w}")
        if shape[1] != w[0]:
            raise ValueError(f"W of shape {w} needs {w[0]} input channels, x has {shape[1]}")
        if groups < 1 or w[0] % groups:
            raise ValueError(f"groups={groups} does not divide the {w[0]} input channels")
        window = make_window(w[2:], stride, pad, dilate, None)
        if out_size is None:
            # A convolution ignores inputs behind its last window, so that several sizes fit: this
            # is the smallest.
            rows = zip(shape[2:], window.extent(), window.stride, window.pad, strict=True)
            out_size = tuple((i - 1) * s + e - 2 * p for i, e, s, p in rows)
        window = window.with_out_size(out_size, shape[2:])
        window.check(out_size, shape[2:], "deconvolution")
        self.channels = w[1] * groups
        y = (shape[0], self.channels, *out_size)
        # In memory W is (groups, input, output, kernel); oneDNN counts outputs before inputs.
        inside = (groups, w[0] // groups, w[1], *w[2:])
        steps = L.row_major_strides(inside)
        swapped = (0, 2, 1, *range(3, len(inside)))[1 if groups == 1 else 0 :]
        self.given_W = L.strided(
            tuple(inside[i] for i in swapped), tuple(steps[i] for i in swapped), kind
        )
        pd = describe(
            lib.dnnl_deconvolution_forward_primitive_desc_create,
            f"deconvolution of {shape} with {w}",
            C.TRAINING,
            C.DECONVOLUTION_DIRECT,
            L.any_md(shape, kind),
            L.any_md(self.given_W.shape, kind),
            L.dense((self.channels,)).md if bias else NULL,
            L.any_md(y, kind),
            *window_dims(window),
            attributes(default_precision=True),
        )
        self.x = chosen(pd, C.QUERY_SRC)
        self.W = chosen(pd, C.QUERY_WEIGHTS)
        self.y = chosen(pd, C.QUERY_DST)
        arguments = [(C.SRC, self.x), (C.WEIGHTS, self.W), (C.DST, self.y)]
        if bias:
            arguments.append((C.BIAS, L.dense((self.channels,))))
        self.run = Primitive(pd, arguments).run


def deconvolution(
    x: Array,
    W: Array,
    b: Array | None = None,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    out_size: Sequence[int] | None = None,
) -> mdarray:
    """Deconvolution.

    Its gradients are :func:`convolution` of the output's gradient with ``W`` (by ``x``) and
    :func:`convolution_backward_weights` with the two arrays exchanged (by ``W``).

    Args:
        x: input of shape (N, C, size...), 1 to 3 spatial axes.
        W: filters of shape (C, O / groups, kernel...).
        b: bias of shape (O,), or None.
        stride, pad, dilate, groups: attributes of the convolution whose input this computes.
        out_size: spatial size of the output; the smallest possible when None.

    Returns:
        Array of shape (N, O, out_size...), in the layout oneDNN chose.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    x_data, w_data = data_of(x, "x"), data_of(W, "W")
    found = runtime.plan(
        _Forward,
        x_data[0],
        w_data[0].shape,
        b is not None,
        hashable(stride),
        hashable(pad),
        hashable(dilate),
        groups,
        hashable(out_size),
    )
    # given_W exchanges axes by strides over the dense array: only oneDNN's reorder copies.
    weights = in_layout((found.given_W, densified(w_data)[1]), found.W)
    pointer = allocate(found.y.nbytes)
    pointers = [in_layout(x_data, found.x), weights, pointer]
    if b is not None:
        pointers.append(vector(b, "b", found.channels))
    found.run(*pointers)
    return wrap(found.y, pointer)
