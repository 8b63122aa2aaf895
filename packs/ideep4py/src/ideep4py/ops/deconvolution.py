"""Deconvolution (transposed convolution): the gradient of a convolution by its input, with a
bias.
"""

from __future__ import annotations

from collections.abc import Sequence

from ideep4py._core import layout as L
from ideep4py._kernels.binary import broadcast_inplace
from ideep4py._mdarray import mdarray
from ideep4py.ops._inputs import Array, data_of, per_axis, vector
from ideep4py.ops.convolution import convolution_backward_data


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
        stride, pad, dilate, groups: those of the convolution whose input this computes.
        out_size: spatial size of the output; the smallest possible when None.

    Returns:
        Array of shape (N, O, out_size...).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    x_shape = data_of(x, "x")[0].shape
    w_shape = data_of(W, "W")[0].shape
    if not 3 <= len(x_shape) <= 5 or len(w_shape) != len(x_shape):
        raise ValueError(
            f"x and W must have 3, 4 or 5 axes alike, got shapes {x_shape} and {w_shape}"
        )
    if x_shape[1] != w_shape[0]:
        raise ValueError(f"W of shape {w_shape} needs {w_shape[0]} input channels, not {x_shape}")
    channels = w_shape[1] * groups
    if out_size is None:
        n = len(x_shape) - 2
        steps = per_axis(stride, n, "stride", 1)
        before = per_axis(pad, n, "pad", 0)
        distance = per_axis(dilate, n, "dilate", 1)
        rows = zip(x_shape[2:], w_shape[2:], steps, before, distance, strict=True)
        out_size = [(i - 1) * s + (k - 1) * d + 1 - 2 * p for i, k, s, p, d in rows]
    y = convolution_backward_data(
        x,
        W,
        (x_shape[0], channels, *out_size),
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
    )
    if b is not None:
        row = L.dense((1, channels, *[1] * (len(x_shape) - 2)))
        broadcast_inplace("add", y._data, (row, vector(b, "b", channels)))
    return y
