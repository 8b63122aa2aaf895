"""Sizes of convolutions and patches of images (public module ``chainer.utils.conv``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.arrays.windows import add_patches, copy_patches
from chainer.core.typing import Array, IntPair


class WindowSizeError(AssertionError, ValueError):
    """Raised where a size does not have one value for each dimension.

    Earlier releases raised :class:`AssertionError`; this is a bad argument, so it is a
    :class:`ValueError` as well.
    """


class OutputSizeError(AssertionError, ValueError):
    """Raised where a convolution would have an output without elements.

    It has two base classes for the same reason as :class:`WindowSizeError`.
    """


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """Calculates output size of convolution.

    This function takes the size of input feature map, kernel, stride, and pooling of one particular
    dimension, then calculates the output feature map size of that dimension.

    Args:
        size (int): The size of input feature map, usually the length of one of its sides.
        k (int): The size of convolution kernel.
        s (int): The size of stride.
        p (int): The size of padding.
        cover_all (bool): Whether every position of the input is covered, if need be by a last patch
            that runs over the end.
        d (int): The size of dilation.

    Returns:
        int: The expected output size of the convolution operation.

    Example:
        >>> chainer.utils.get_conv_outsize(30, 10, 5, 5)
        7
    """
    extent = k + (k - 1) * (d - 1)  # of the kernel, with the gaps of dilation
    if cover_all:  # rounded up instead of down
        return (size + p * 2 - extent + s - 1) // s + 1
    return (size + p * 2 - extent) // s + 1


def get_deconv_outsize(
    size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1
) -> int:
    """Calculates output size of deconvolution.

    The arguments describe the convolution whose gradient the deconvolution is, as in
    :func:`get_conv_outsize`.

    Args:
        size, k, s, p (int): Sizes of input, kernel, stride and padding in one dimension.
        cover_all (bool): Whether the input was made by a convolution in ``cover_all`` mode.
        d (int): The size of dilation.

    Returns:
        int: The expected output size of the deconvolution operation.

    Example:
        >>> chainer.utils.get_deconv_outsize(5, 10, 5, 5)
        20
    """
    extent = k + (k - 1) * (d - 1)
    if cover_all:
        return s * (size - 1) + extent - s + 1 - 2 * p
    return s * (size - 1) + extent - 2 * p


def pair(value: IntPair, name: str, least: int | None = 1) -> tuple[int, int]:
    """Returns an int as a pair of itself, and two ints as a pair.

    Args:
        value: An int or an iterable of two ints.
        name: Name of the argument, for the message.
        least: Smallest allowed value; None if values are not to be checked.

    Raises:
        WindowSizeError: If there are not two values, or if one is not an int.
        ValueError: If a value is too small.
    """
    first, second = as_sizes(value, 2, name, least)
    return first, second


def as_sizes(
    value: Iterable[int] | object, n: int, name: str, least: int | None = 1
) -> tuple[int, ...]:
    """Returns an int as a tuple of ``n`` times itself, and ``n`` ints as a tuple.

    Args:
        value: An int or an iterable of ``n`` ints.
        n: Number of dimensions.
        name: Name of the argument, for the message.
        least: Smallest allowed value; None if values are not to be checked.

    Raises:
        WindowSizeError: If there are not ``n`` values, or if one is not an int.
        ValueError: If a value is too small.
    """
    if type(value) is int and least is not None and value >= least:  # the most frequent case
        return (value,) * n
    values: tuple[Any, ...] = tuple(value) if isinstance(value, Iterable) else (value,) * n  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if len(values) != n or (
        least is not None and not all(isinstance(v, (int, numpy.integer)) for v in values)
    ):
        expected = "a pair of ints" if n == 2 else f"a tuple of {n} ints"
        raise WindowSizeError(f"{name} must be an int or {expected}, got {value!r}")
    if least is not None and min(values, default=least) < least:
        expected = "positive" if least == 1 else f"at least {least}"
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return values


def im2col_cpu(
    img: Array,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pval: float = 0,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> Any:
    """Extracts the patches of images.

    The work is done by slicing, so that arrays of every NumPy-like backend are accepted.

    Args:
        img: Images of shape ``(N, C, H, W)``.
        kh: Height of a patch.
        kw: Width of a patch.
        sy: Vertical stride.
        sx: Horizontal stride.
        ph: Vertical padding.
        pw: Horizontal padding.
        pval: Value of the padding.
        cover_all: Whether every position of the input is covered.
        dy: Vertical dilation.
        dx: Horizontal dilation.
        out_h: Height of the output; computed if None.
        out_w: Width of the output; computed if None.

    Returns:
        array: Patches of shape ``(N, C, kh, kw, out_h, out_w)``.

    Raises:
        OutputSizeError: If the output would be empty.
    """
    n, c, h, w = img.shape
    if out_h is None:
        out_h = get_conv_outsize(h, kh, sy, ph, cover_all, dy)
    if out_w is None:
        out_w = get_conv_outsize(w, kw, sx, pw, cover_all, dx)
    for name, size in (("Height", out_h), ("Width", out_w)):
        if size <= 0:
            raise OutputSizeError(f"{name} in the output should be positive.")
    patches = get_array_module(img).empty((n, c, kh, kw, out_h, out_w), img.dtype)
    copy_patches(img, patches, (sy, sx), (ph, pw), (dy, dx), pval)
    return patches


def col2im_cpu(
    col: Any, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> Any:
    """Adds patches up to images; the adjoint of :func:`im2col_cpu`.

    Args:
        col: Patches of shape ``(N, C, kh, kw, out_h, out_w)``.
        sy: Vertical stride.
        sx: Horizontal stride.
        ph: Vertical padding.
        pw: Horizontal padding.
        h: Height of the images.
        w: Width of the images.
        dy: Vertical dilation.
        dx: Horizontal dilation.

    Returns:
        array: Images of shape ``(N, C, h, w)``.
    """
    img = get_array_module(col).zeros((*col.shape[:2], h, w), col.dtype)
    add_patches(col, img, (sy, sx), (ph, pw), (dy, dx))
    return img


def im2col(
    img: Array,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> Array:
    """Extracts the patches of images, padded with zeros; see :func:`im2col_cpu`."""
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


#: The names of earlier releases for arrays on a GPU.
im2col_gpu = im2col
col2im_gpu = col2im = col2im_cpu


def _pair(x: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
    """Returns a number as a pair, and a sequence as it is.

    Programs import this name from the modules of two-dimensional functions and links.
    """
    return x if hasattr(x, "__getitem__") else (x, x)
