"""Patches in any number of dimensions (public module ``chainer.utils.conv_nd``)."""

from __future__ import annotations

from chainer.core.arrays.backend import get_array_module
from chainer.core.arrays.windows import Sizes, add_patches, copy_patches
from chainer.core.typing import Array, IntTuple
from chainer.core.utils.conv import OutputSizeError, WindowSizeError, as_sizes, get_conv_outsize


def as_tuple(x: IntTuple, n: int) -> Sizes:
    """Returns an int as a tuple of ``n`` times itself, and ``n`` ints as a tuple.

    Args:
        x: An int or ``n`` ints.
        n: Number of dimensions.

    Raises:
        WindowSizeError: If ``x`` has another number of values.
    """
    return as_sizes(x, n, "x", least=None)


def _check_lengths(ndim: int, **sizes: Sizes) -> None:
    """Raises WindowSizeError unless each size has one value for each spatial dimension."""
    for name, size in sizes.items():
        if len(size) != ndim:
            raise WindowSizeError(f"{name} must have {ndim} values, got {size}")


def im2col_nd_cpu(
    img: Array,
    ksize: Sizes,
    stride: Sizes,
    pad: Sizes,
    pval: float = 0,
    cover_all: bool = False,
    dilate: IntTuple = 1,
) -> Array:
    """Extracts the patches of images of any number of dimensions.

    Args:
        img: Images of shape ``(N, C, d_1, ..., d_n)``.
        ksize: Size of a patch.
        stride: Stride.
        pad: Padding.
        pval: Value of the padding.
        cover_all: Whether every position of the input is covered.
        dilate: Dilation of the patches.

    Returns:
        array: Patches of shape ``(N, C, k_1, ..., k_n, l_1, ..., l_n)``.

    Raises:
        WindowSizeError: If ``ksize``, ``stride`` or ``pad`` does not have one value for each
            dimension.
        OutputSizeError: If the output would be empty.
    """
    _check_lengths(img.ndim - 2, ksize=ksize, stride=stride, pad=pad)
    dilations = as_tuple(dilate, len(stride))
    out_size = tuple(
        get_conv_outsize(d, k, s, p, cover_all, di)
        for d, k, s, p, di in zip(img.shape[2:], ksize, stride, pad, dilations, strict=True)
    )
    if min(out_size) <= 0:
        raise OutputSizeError("Output sizes should be positive.")
    patches = get_array_module(img).empty((*img.shape[:2], *ksize, *out_size), img.dtype)
    copy_patches(img, patches, stride, pad, dilations, pval)
    return patches


def col2im_nd_cpu(
    col: Array, stride: Sizes, pad: Sizes, dims: Sizes, dilate: IntTuple = 1
) -> Array:
    """Adds patches up to images; the adjoint of :func:`im2col_nd_cpu`.

    Args:
        col: Patches of shape ``(N, C, k_1, ..., k_n, l_1, ..., l_n)``.
        stride: Stride.
        pad: Padding.
        dims: Size of the images.
        dilate: Dilation of the patches.

    Returns:
        array: Images of shape ``(N, C, *dims)``.

    Raises:
        WindowSizeError: If ``stride``, ``pad`` or ``dims`` does not have one value for each
            dimension.
    """
    _check_lengths((col.ndim - 2) // 2, stride=stride, pad=pad, dims=dims)
    img = get_array_module(col).zeros((*col.shape[:2], *dims), col.dtype)
    add_patches(col, img, stride, pad, as_tuple(dilate, len(stride)))
    return img


def im2col_nd(
    img: Array,
    ksize: Sizes,
    stride: Sizes,
    pad: Sizes,
    cover_all: bool = False,
    dilate: IntTuple = 1,
) -> Array:
    """Extracts the patches of images, padded with zeros; see :func:`im2col_nd_cpu`."""
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


#: The names of earlier releases for arrays on a GPU.
im2col_nd_gpu = im2col_nd
col2im_nd_gpu = col2im_nd = col2im_nd_cpu
