"""Resizing of images by bilinear interpolation, or by repeating the nearest pixel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy

from chainer.core.arguments import wrong_type
from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, ArrayModule, Arrays, DType, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.rules import LinearMap

#: Number of positions along an axis that are interpolated by one matrix product.
_BLOCK = 64


#: How a pixel of the output is computed.
ResizeMode = Literal["bilinear", "nearest"]


class ResizeImages(LinearMap):
    """Sampling of images at the points of a grid.

    Args:
        output_shape (pair of int): Height and width of the output.
        mode (str): ``'bilinear'`` or ``'nearest'``.
        align_corners (bool): Whether to align the centers of the corner pixels of input and output;
            without effect on ``'nearest'``.

    Attributes:
        out_H: Height of the output.
        out_W: Width of the output.
    """

    batch_inputs = (0,)

    type_check_key = ()

    def __init__(
        self,
        output_shape: Sequence[int],
        mode: ResizeMode = "bilinear",
        align_corners: bool = True,
    ) -> None:
        if not hasattr(output_shape, "__len__") or len(output_shape) != 2:
            raise wrong_type("output_shape", "a pair (height, width)", output_shape)
        height, width = output_shape
        if height <= 0 or width <= 0:
            raise ValueError(f"output_shape must be positive, got {tuple(output_shape)}")
        if mode not in ("bilinear", "nearest"):
            raise ValueError(f"mode must be 'bilinear' or 'nearest', got {mode!r}")
        self.out_H = int(height)
        self.out_W = int(width)
        self.mode: ResizeMode = mode
        self.align_corners = align_corners

    @property
    def _rule(self) -> str:
        if self.mode == "bilinear" and self.align_corners:
            return "corners"
        return self.mode

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == 4)

    def forward(self, inputs: Arrays) -> Arrays:
        height, width = inputs[0].shape[2:]
        axes = ((2, height, self.out_H), (3, width, self.out_W))
        return (_resample(self.xp, inputs[0], axes, self._rule, adjoint=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        height, width = self.input_shape(0)[2:]
        axes = ((3, width, self.out_W), (2, height, self.out_H))
        return (_resample(self.xp, grad_outputs[0], axes, self._rule, adjoint=True),)


def _resample(
    xp: ArrayModule, x: Array, axes: Iterable[tuple[int, int, int]], rule: str, adjoint: bool
) -> Array:
    """Interpolates linearly along the last two axes, or applies the adjoint.

    Args:
        xp: Array namespace.
        x: Images, or gradients of images for the adjoint.
        axes: Each axis (2 or 3), its length in the image, and the number of positions.
        rule: Where the positions are: ``'corners'``, ``'bilinear'`` or ``'nearest'``.
        adjoint: Whether values are spread instead.
    """
    # There are no fast matrix products of float16.
    y = x.astype("f") if x.dtype.char == "e" else x
    changed = [lengths for lengths in axes if lengths[1] != lengths[2]]
    by_pairs = xp is numpy and changed and not _is_moderate(y)
    for axis, small, large in changed:
        if by_pairs:
            y = _resample_by_pairs(y, axis, small, large, rule, adjoint)
        else:
            y = _resample_by_blocks(xp, y, axis, small, large, rule, adjoint)
    return y.astype(x.dtype, copy=False)


def _is_moderate(x: Array) -> bool:
    """Returns whether a sum of squares is finite: the fastest way to look for NaN and infinities.

    Elements whose squares overflow are not moderate either. Interpolation between moderate elements
    gives finite results, so it is enough to check the input.
    """
    # The order of the elements does not matter. Memory order avoids a copy.
    flat = x.ravel(order="K")
    with numpy.errstate(all="ignore"):
        return math.isfinite(numpy.dot(flat, flat))


def _resample_by_blocks(
    xp: ArrayModule, x: Array, axis: int, small: int, large: int, rule: str, adjoint: bool
) -> Array:
    """Resamples along one axis by matrix products; see :func:`_resample` for the arguments."""
    # A product with one matrix would multiply mostly by zeros, because each output position depends
    # on two input positions. So each block of positions is multiplied by a small matrix.
    blocks = _blocks(backend_of(x).device_of(x), x.dtype, small, large, rule)
    if len(blocks) == 1 and blocks[0][1] == slice(0, small):
        # The usual case for images. Copying the only product would take as long as computing it.
        weights = blocks[0][2]
        return _product(weights.T if adjoint else weights, x, axis)
    shape = list(x.shape)
    shape[axis] = small if adjoint else large
    # The adjoint adds to elements that neighboring blocks share; interpolation writes each once.
    y = (xp.zeros if adjoint else xp.empty)(tuple(shape), dtype=x.dtype)
    before = (slice(None),) * axis
    for block, source, weights in blocks:
        if adjoint:
            y[(*before, source)] += _product(weights.T, x[(*before, block)], axis)
        else:
            y[(*before, block)] = _product(weights, x[(*before, source)], axis)
    return y


def _product(weights: Array, x: Array, axis: int) -> Array:
    """Returns the product of a matrix and the vectors along axis 2 or 3."""
    return weights @ x if axis == 2 else x @ weights.T


def _resample_by_pairs(
    x: Array, axis: int, small: int, large: int, rule: str, adjoint: bool
) -> Array:
    """Does the same as :func:`_resample_by_blocks` for arrays with NaN or infinities.

    A matrix product would multiply them by the zeros of the matrix, and spread NaN over the image.
    """
    positions = _positions(small, large, rule)
    lower, upper = _neighbors(positions, small)
    fraction = (positions - lower).astype(x.dtype)
    along = numpy.moveaxis(x, axis, 0)
    y = numpy.zeros((small if adjoint else large, *along.shape[1:]), x.dtype)
    for elements, weights in ((lower, 1 - fraction), (upper, fraction)):
        # Skip elements of weight 0, because 0 * NaN would be NaN.
        used = numpy.flatnonzero(weights)
        elements, factor = elements[used], weights[used].reshape(-1, 1, 1, 1)
        if adjoint:
            numpy.add.at(y, elements, along[used] * factor)
        else:
            y[used] += along[elements] * factor
    return numpy.moveaxis(y, 0, axis)


def _neighbors(positions: numpy.ndarray, small: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Returns the indexes of the elements before and after positions."""
    # The last position is an element itself: its pair begins one before, with fraction 1.
    lower = numpy.minimum(positions.astype(int), max(small - 2, 0))
    return lower, numpy.minimum(lower + 1, small - 1)


@lru_cache(maxsize=32)  # so that a size used again costs no transfer to the device
def _blocks(
    device: Device, dtype: DType, small: int, large: int, rule: str
) -> tuple[tuple[slice, slice, Any], ...]:
    """Returns blocks of positions, the elements each depends on, and the matrix from these."""
    positions = _positions(small, large, rule)
    lower, upper = _neighbors(positions, small)
    blocks: list[tuple[slice, slice, Any]] = []
    for start in range(0, large, _BLOCK):
        stop = min(start + _BLOCK, large)
        first, last = int(lower[start]), int(upper[stop - 1]) + 1
        matrix = numpy.zeros((stop - start, last - first))
        rows = numpy.arange(stop - start)
        fraction = positions[start:stop] - lower[start:stop]
        matrix[rows, lower[start:stop] - first] += 1 - fraction
        matrix[rows, upper[start:stop] - first] += fraction
        weights = device.send(matrix.astype(dtype))
        blocks.append((slice(start, stop), slice(first, last), weights))
    return tuple(blocks)


def _positions(small: int, large: int, rule: str) -> numpy.ndarray:
    """Returns the positions that are interpolated, in units of elements."""
    number = numpy.arange(large)
    if rule == "corners":
        return numpy.linspace(0, small - 1, large)
    if rule == "nearest":
        return (number * small // large).astype(float)
    # A pixel is a square, and its position is the center. Beyond the first and the last center the
    # image continues with the value of that pixel.
    return numpy.clip((number + 0.5) * (small / large) - 0.5, 0, small - 1)


@explained_keywords
def resize_images(
    x: VariableLike,
    output_shape: Sequence[int],
    *,
    mode: ResizeMode = "bilinear",
    align_corners: bool = True,
) -> Variable:
    """Resizes images to the given shape.

    This function resizes 2D data to ``output_shape``, by bilinear interpolation or by repeating the
    nearest pixel.

    Args:
        x (:class:`~chainer.Variable` or array): Images of shape :math:`(n, c_I, h, w)`, floating
            point: batch size, channels, height and width.
        output_shape (tuple): Height and width of the output :math:`(h_O, w_O)`. Note that the order
            is opposite of the one in OpenCV.
        mode (str): ``'bilinear'``, or ``'nearest'``, which takes the pixel that a point is in.
        align_corners (bool): If True, the centers of the corner pixels of input and output are
            aligned. If False, the borders of the images are aligned. Without effect on
            ``'nearest'``.

    Returns:
        ~chainer.Variable: Resized images of shape :math:`(n, c_I, h_O, w_O)`.

    Raises:
        InvalidType: If ``x`` is not four-dimensional or not of floating point numbers.
        ValueError: If ``output_shape`` is not positive, or ``mode`` is another one.

    Example:
        >>> x = np.array([[0, 1], [2, 3]], np.float32).reshape(1, 1, 2, 2)
        >>> F.resize_images(x, (2, 3)).array
        array([[[[0. , 0.5, 1. ],
                 [2. , 2.5, 3. ]]]], dtype=float32)
        >>> F.resize_images(x, (1, 4), align_corners=False).array
        array([[[[1.  , 1.25, 1.75, 2.  ]]]], dtype=float32)
        >>> F.resize_images(x, (2, 3), mode="nearest").array
        array([[[[0., 0., 1.],
                 [2., 2., 3.]]]], dtype=float32)
    """
    return ResizeImages(output_shape, mode, align_corners).apply((x,))[0]
