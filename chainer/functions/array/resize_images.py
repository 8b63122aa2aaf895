"""Resizing of images by bilinear interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, ArrayModule, Arrays, DType, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import LinearMap

#: Number of positions along an axis that are interpolated by one matrix product.
_BLOCK = 64


class ResizeImages(LinearMap):
    """Bilinear interpolation at the points of a grid whose corners are those of the image."""

    type_check_key = ()

    def __init__(self, output_shape: Sequence[int]) -> None:
        height, width = output_shape
        if height <= 0 or width <= 0:
            raise ValueError(f"output_shape must be positive, got {tuple(output_shape)}")
        self.out_size = (height, width)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == 4)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        # There are no fast matrix products of float16.
        y = x.astype("f") if x.dtype.char == "e" else x
        for axis, length in ((2, self.out_size[0]), (3, self.out_size[1])):
            y = _resample(self.xp, y, axis, x.shape[axis], length, adjoint=False)
        return (y.astype(x.dtype, copy=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        gx = gy.astype("f") if gy.dtype.char == "e" else gy
        in_size = self.input_shape(0)[2:]
        for axis, length in ((3, in_size[1]), (2, in_size[0])):
            gx = _resample(self.xp, gx, axis, length, gy.shape[axis], adjoint=True)
        return (gx.astype(gy.dtype, copy=False),)


def _resample(xp: ArrayModule, x: Array, axis: int, small: int, large: int, adjoint: bool) -> Any:
    """Interpolates linearly along one of the last two axes, or applies the adjoint.

    Args:
        xp: Array namespace.
        x: Array of length ``small`` along the axis (``large`` for the adjoint).
        axis: 2 or 3.
        small: Length of the interpolated axis.
        large: Number of positions, from the first to the last element.
        adjoint: Whether values are spread instead.
    """
    if small == large:
        return x
    shape = list(x.shape)
    shape[axis] = small if adjoint else large
    # The adjoint adds to elements that neighboring blocks share; interpolation writes each once.
    y = (xp.zeros if adjoint else xp.empty)(tuple(shape), dtype=x.dtype)
    # A product with one matrix would multiply mostly by zeros, because each output position depends
    # on two input positions: hence a product with a small matrix for each block of positions.
    for block, source, weights in _blocks(backend_of(x).device_of(x), x.dtype, small, large):
        if adjoint:
            block, source = source, block
            weights = weights.T
        if axis == 2:
            product = weights @ x[:, :, source]
            view = y[:, :, block]
        else:
            product = x[..., source] @ weights.T
            view = y[..., block]
        if adjoint:
            view += product
        else:
            view[...] = product
    return y


@lru_cache(maxsize=32)  # so that a size used again costs no transfer to the device
def _blocks(
    device: Device, dtype: DType, small: int, large: int
) -> tuple[tuple[slice, slice, Any], ...]:
    """Returns blocks of positions, the elements each depends on, and the matrix from these."""
    positions = numpy.linspace(0, small - 1, large)
    # The last position is an element itself: its pair begins one before, with fraction 1.
    lower = numpy.minimum(positions.astype(int), max(small - 2, 0))
    upper = numpy.minimum(lower + 1, small - 1)
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


def resize_images(x: VariableLike, output_shape: Sequence[int]) -> Variable:
    """Resizes images to the given shape.

    This function resizes 2D data to ``output_shape``. The sampling method is bilinear
    interpolation; the corners of the output are those of the input.

    Args:
        x (:class:`~chainer.Variable` or array): Images of shape :math:`(n, c_I, h, w)`, floating
            point: batch size, channels, height and width.
        output_shape (tuple): Height and width of the output :math:`(h_O, w_O)`. Note that the order
            is opposite of the one in OpenCV.

    Returns:
        ~chainer.Variable: Resized images of shape :math:`(n, c_I, h_O, w_O)`.

    Raises:
        InvalidType: If ``x`` is not four-dimensional or not of floating point numbers.
        ValueError: If ``output_shape`` is not positive.

    Example:
        >>> x = np.array([[0, 1], [2, 3]], np.float32).reshape(1, 1, 2, 2)
        >>> F.resize_images(x, (2, 3)).array
        array([[[[0. , 0.5, 1. ],
                 [2. , 2.5, 3. ]]]], dtype=float32)
    """
    return ResizeImages(output_shape).apply((x,))[0]
