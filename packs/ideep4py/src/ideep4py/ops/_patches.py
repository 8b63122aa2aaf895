"""Convolutions of small images with many channels as products of matrices.

Where filters are much larger than images, oneDNN spends more time on reordering the filters and
their gradient than a matrix product takes, which needs no reordering. The patches of the images
that the window covers are copied to the rows of a matrix (im2col).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi, lib
from ideep4py._core.reorder import Move
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.products import product
from ideep4py.ops._images import ITEM, Images, at, copied, dense_images, moved
from ideep4py.ops._windows import Window

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

#: Filters must have this many times the elements of input and output.
_SHARE = 8

#: Filters must have this many elements: smaller ones are reordered quickly.
_LARGE = 1 << 18

#: Most positions of the window: with more, arithmetic takes most of the time.
_POSITIONS = 128

#: The same for the gradient with respect to filters of one tap, whose columns are the images as
#: they are. oneDNN's own gradient is in blocks, and takes as long again to become row-major.
_SHARE_OF_SINGLE_TAPS = 1


class Suits(NamedTuple):
    """Whether to compute products of patches.

    Attributes:
        forward: for the convolution.
        data: for its gradient with respect to the input.
        weights: for its gradient with respect to filters and bias.
    """

    forward: bool
    data: bool
    weights: bool


def suits(
    groups: int,
    data_type: int,
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    window: Window,
) -> Suits:
    """Whether products of patches are faster than oneDNN's convolution.

    Filters of one tap are the matrix of a product as they are, in all three directions.
    """
    elements = math.prod(w)
    images = math.prod(x) + math.prod(y)
    possible = len(x) == 4 and groups == 1 and data_type == C.F32
    few = math.prod(y) // y[1] <= _POSITIONS
    worth_it = possible and few and elements >= _LARGE
    large = worth_it and elements >= _SHARE * images
    single = math.prod(w[2:]) == 1
    each_pixel = single and window.stride == (1, 1) and window.pad == (0, 0) and x[2:] == y[2:]
    share = _SHARE_OF_SINGLE_TAPS if single else _SHARE
    return Suits(large, large and each_pixel, worth_it and elements >= share * images)


class Patches:
    """Copies what each position of the window covers: (positions, channels x taps), dense.

    Args:
        images: strides of the images.
        x: shape of the input.
        out: height and width of the output.
        window: the window.
    """

    def __init__(
        self, images: Images, x: tuple[int, ...], out: tuple[int, ...], window: Window
    ) -> None:
        n, channels, *size = x
        rows, columns = out
        self._pad: Move | None = None
        # Rows and columns that the windows reach, from the first position to the end of the last
        # one.
        needed = [
            (o - 1) * s + e for o, s, e in zip(out, window.stride, window.extent(), strict=True)
        ]
        # The windows reach beyond the image: it is copied into a larger one of zeros first.
        if any(window.pad) or any(k > i for k, i in zip(needed, size, strict=True)):
            whole = dense_images(needed[0], needed[1], channels, images.block)
            self._whole_bytes = n * whole.image * ITEM
            self._inset = window.pad[0] * whole.row + window.pad[1] * whole.column
            used = [min(i, k - p) for i, k, p in zip(size, needed, window.pad, strict=True)]
            self._pad = copied(images, whole, n, channels, used[0], used[1])
            images = whole
        taps = math.prod(window.kernel)
        row = channels * taps
        block = images.block
        # One strided copy for each tap of the window copies its pixels of all positions.
        self._copy = moved(
            (n, rows, columns, *images.channels(channels)),
            (
                images.image,
                window.stride[0] * images.row,
                window.stride[1] * images.column,
                *images.channel_strides,
            ),
            (rows * columns * row, columns * row, row, block * taps, taps),
        )
        self._places = [
            i * window.dilate[0] * images.row + j * window.dilate[1] * images.column
            for i in range(window.kernel[0])
            for j in range(window.kernel[1])
        ]
        self.columns = row
        """Channels times taps."""
        self.positions = n * rows * columns
        """Positions of the window in all images."""

    def run(self, x: AnyArray) -> Any:
        """Pointer to the patches of the images at ``x``."""
        if self._pad is not None:
            whole = allocate(self._whole_bytes)
            # Memory comes from a pool, with the values of its last user.
            lib.memset(whole, 0, self._whole_bytes)
            self._pad.run(x, at(whole, self._inset))
            x = whole
        patches = allocate(self.positions * self.columns * ITEM)
        for tap, place in enumerate(self._places):
            self._copy.run(at(x, place), at(patches, tap))
        return patches


def _by_position(shape: tuple[int, ...], images: Images) -> tuple[tuple[int, ...], ...]:
    """Sizes of images as (image, row, column, two indices of the channel), their strides, and those
    of a matrix (positions, channels).
    """
    n, channels, rows, columns = shape
    return (
        (n, rows, columns, *images.channels(channels)),
        (images.image, images.row, images.column, *images.channel_strides),
        (rows * columns * channels, columns * channels, channels, images.block, 1),
    )


class Forward:
    """``y = convolution(x, W) + b``.

    Args:
        x: layout of the input.
        y: layout of the output.
        images: strides of the images of ``x`` and ``y``.
        window: the window.
        bias: whether there is a bias.
        relu: apply ReLU to the output.

    Attributes:
        x, w, y: the layouts that ``run`` takes pointers to.
        channels: number of output channels.
    """

    def __init__(
        self,
        x: L.Layout,
        y: L.Layout,
        images: tuple[Images, Images],
        window: Window,
        *,
        bias: bool,
        relu: bool,
    ) -> None:
        outs = self.channels = y.shape[1]
        self.x, self.y = x, y
        self.w = L.dense((outs, x.shape[1], *window.kernel))
        self._patches = Patches(images[0], x.shape, y.shape[2:], window)
        m, k = self._patches.positions, self._patches.columns
        self._multiply = product(
            L.dense((m, k)),
            # Filters are (outs, k) in memory; the product reads them transposed.
            L.strided((k, outs), (1, k)),
            L.dense((m, outs)),
            (("eltwise", "relu", 0.0, 0.0),) if relu else (),
            L.dense((1, outs)) if bias else None,
        ).run
        self._size = m * outs * ITEM
        dims, there, here = _by_position(y.shape, images[1])
        self._place = moved(dims, here, there).run

    def run(self, x: AnyArray, w: AnyArray, y: AnyArray, *b: Any) -> None:
        """Computes ``y`` from pointers to data in the layouts of the attributes."""
        outputs = allocate(self._size)
        self._multiply(self._patches.run(x), w, outputs, *b)
        self._place(outputs, y)


class Data:
    """Gradient with respect to the input, for filters of one tap that visit each pixel.

    Args:
        gy: layout of the gradient of the output.
        gx: layout of the gradient of the input.
        images: strides of the images of ``gy`` and ``gx``.

    Attributes:
        gy, w, gx: the layouts that ``run`` takes pointers to.
    """

    def __init__(self, gy: L.Layout, gx: L.Layout, images: tuple[Images, Images]) -> None:
        self.gy, self.gx = gy, gx
        n, outs, *size = gy.shape
        ins = gx.shape[1]
        self.w = L.dense((outs, ins, 1, 1))
        self._sizes = n * math.prod(size), ins, outs
        dims, there, here = _by_position(gy.shape, images[0])
        self._take = moved(dims, there, here).run
        dims, there, here = _by_position(gx.shape, images[1])
        self._place = moved(dims, here, there).run

    def run(self, gy: AnyArray, w: AnyArray, gx: AnyArray) -> None:
        """Computes ``gx`` from pointers to data in the layouts of the attributes."""
        positions, ins, outs = self._sizes
        gradients = allocate(positions * outs * ITEM)
        self._take(gy, gradients)
        result = allocate(positions * ins * ITEM)
        sgemm(gradients, w, result, positions, ins, outs)
        self._place(result, gx)


class Weights:
    """Gradients with respect to filters and bias.

    Args:
        x: layout of the input.
        gy: layout of the gradient of the output.
        images: strides of the images of ``x`` and ``gy``.
        window: the window.

    Attributes:
        x, gy, gw, gb: the layouts that ``run`` takes pointers to.
    """

    def __init__(
        self, x: L.Layout, gy: L.Layout, images: tuple[Images, Images], window: Window
    ) -> None:
        outs = gy.shape[1]
        self.x, self.gy = x, gy
        self.gw = L.dense((outs, x.shape[1], *window.kernel))
        self.gb = L.dense((outs,))
        self._outs = outs
        self._patches = Patches(images[0], x.shape, gy.shape[2:], window)
        self._size = self._patches.positions * outs * ITEM
        dims, there, here = _by_position(gy.shape, images[1])
        self._take = moved(dims, there, here).run
        # The gradient of the bias is the sum over positions, as a product with ones.
        self._ones = ffi.from_buffer(np.ones(self._patches.positions, np.float32))

    def run(self, x: AnyArray, gy: AnyArray, gw: AnyArray, gb: AnyArray = None) -> None:
        """Computes ``gw``, and ``gb`` if there is a pointer for it."""
        positions, outs = self._patches.positions, self._outs
        gradients = allocate(self._size)
        self._take(gy, gradients)
        patches = self._patches.run(x)
        sgemm(gradients, patches, gw, outs, self._patches.columns, positions, trans_a=True)
        if gb is not None:
            sgemm(self._ones, gradients, gb, 1, outs, positions)
