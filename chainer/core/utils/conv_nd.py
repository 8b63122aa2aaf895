"""Patches in any number of dimensions (public module ``chainer.utils.conv_nd``)."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.windows import Sizes, add_patches, copy_patches
from chainer.core.utils.conv import as_sizes, get_conv_outsize


def as_tuple(x: Any, n: int) -> Sizes:
    """Returns an int as a tuple of ``n`` times itself, and ``n`` ints as a tuple."""
    return as_sizes(x, n, "x", least=None)


def im2col_nd_cpu(
    img: Any, ksize: Sizes, stride: Sizes, pad: Sizes, pval: float = 0, cover_all: bool = False
) -> Any:
    """Extracts the patches of NumPy images of any number of dimensions.

    Args:
        img: Images of shape ``(N, C, d_1, ..., d_n)``.
        ksize: Size of a patch.
        stride: Stride.
        pad: Padding.
        pval: Value of the padding.
        cover_all: Whether every position of the input is covered.

    Returns:
        numpy.ndarray: Patches of shape ``(N, C, k_1, ..., k_n, l_1, ..., l_n)``.
    """
    out_size = tuple(
        get_conv_outsize(d, k, s, p, cover_all)
        for d, k, s, p in zip(img.shape[2:], ksize, stride, pad, strict=True)
    )
    if min(out_size) <= 0:
        raise ValueError("Output sizes should be positive.")
    patches = numpy.empty((*img.shape[:2], *ksize, *out_size), img.dtype)
    copy_patches(img, patches, stride, pad, (1,) * len(stride), pval)
    return patches


def col2im_nd_cpu(col: Any, stride: Sizes, pad: Sizes, dims: Sizes) -> Any:
    """Adds NumPy patches up to images; the adjoint of :func:`im2col_nd_cpu`.

    Args:
        col: Patches of shape ``(N, C, k_1, ..., k_n, l_1, ..., l_n)``.
        stride: Stride.
        pad: Padding.
        dims: Size of the images.

    Returns:
        numpy.ndarray: Images of shape ``(N, C, *dims)``.
    """
    img = numpy.zeros((*col.shape[:2], *dims), col.dtype)
    add_patches(col, img, stride, pad, (1,) * len(stride))
    return img
