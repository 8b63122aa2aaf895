"""What the functions of regions of interest share: arguments, type check, gradients."""

from __future__ import annotations

import numbers
from typing import Any

import numpy

from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.typing import ArrayGrads, Arrays, Indexes, IntPair
from chainer.core.utils import type_check
from chainer.functions._callable import CallableNode
from chainer.functions.rules import PiecewiseLinearFunction

#: Number of samples in each direction of a bin, None where it depends on the size of the bin.
SamplingRatio = int | tuple[int | None, int | None] | None


class RegionFunction(CallableNode, PiecewiseLinearFunction):
    """Base of functions of images that pool regions of interest.

    Args:
        outsize (int or pair of ints): Size of the output.
        spatial_scale (float): Factor from the coordinates of regions to those of the images.

    Attributes:
        outh: Height of the output.
        outw: Width of the output.
        spatial_scale: Scale of the regions.
    """

    type_check_key = ()
    retained_inputs = (1, 2)

    def __init__(self, outsize: IntPair, spatial_scale: float) -> None:
        self.outh, self.outw = _as_sizes(outsize)
        # "not >" instead of "<=" refuses NaN, too.
        if not isinstance(spatial_scale, numbers.Real) or not spatial_scale > 0:
            raise TypeError(
                "spatial_scale must be a positive float number: "
                f"{type(spatial_scale)}, {spatial_scale}"
            )
        self.spatial_scale = float(spatial_scale)

    @property
    def _grid(self) -> RegionGrid:
        """The bins of each region."""
        return RegionGrid((self.outh, self.outw), self.spatial_scale)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        x_type, roi_type, index_type = in_types
        type_check.expect(
            x_type.dtype.kind == "f",
            x_type.ndim == 4,
            x_type.dtype == roi_type.dtype,
            roi_type.ndim == 2,
            roi_type.shape[1] == 4,
            index_type.dtype.kind == "i",
            index_type.ndim == 1,
            roi_type.shape[0] == index_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        grid = self._grid
        self._in_shape = inputs[0].shape
        self._kernel = self.operation.select(*inputs, grid=grid)
        x, rois, roi_indices = inputs
        y, self._residual = self._kernel.forward(x, Regions(rois, roi_indices, grid))
        return (y,)

    def backward_arrays(
        self, target_input_indexes: Indexes, grad_outputs: ArrayGrads
    ) -> ArrayGrads:
        (gy,) = grad_outputs
        regions = Regions(*self.retained_input_arrays, self._grid)
        # Regions are constants.
        return tuple(
            [
                self._kernel.backward(gy, self._residual, regions, self._in_shape)
                if i == 0
                else None
                for i in target_input_indexes
            ]
        )

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        regions = Regions(*self.retained_input_arrays, self._grid)
        # The derivative reads the tangent where the values came from.
        return (self._kernel.gather(tangents[0], self._residual, regions),)


class RegionAlignFunction(RegionFunction):
    """Base of functions that sample regions between pixels.

    Args:
        outsize (int or pair of ints): Size of the output.
        spatial_scale (float): Factor from the coordinates of regions to those of the images.
        sampling_ratio (int or pair of ints): Number of samples in each direction of a bin; None for
            one per pixel, rounded up.

    Attributes:
        sampling_ratio: Pair of the numbers of samples.
    """

    def __init__(
        self, outsize: IntPair, spatial_scale: float, sampling_ratio: SamplingRatio = None
    ) -> None:
        super().__init__(outsize, spatial_scale)
        self.sampling_ratio = _as_ratios(sampling_ratio)

    @property
    def _grid(self) -> RegionGrid:
        return RegionGrid((self.outh, self.outw), self.spatial_scale, self.sampling_ratio)


def _as_sizes(outsize: Any) -> tuple[int, int]:
    sizes = _as_pair(outsize)
    if len(sizes) != 2:
        raise ValueError(f"outsize must be an int or a pair of ints, got {outsize!r}")
    for i, size in enumerate(sizes):
        if not _is_positive_integer(size):
            raise TypeError(f"outsize[{i}] must be positive integer: {type(size)}, {size}")
    return int(sizes[0]), int(sizes[1])


def _as_ratios(sampling_ratio: Any) -> tuple[int | None, int | None]:
    ratios = _as_pair(sampling_ratio)
    if len(ratios) != 2 or not all(r is None or _is_positive_integer(r) for r in ratios):
        raise TypeError(f"sampling_ratio must be integer >= 1 or a pair of it: {sampling_ratio!r}")
    height, width = [None if r is None else int(r) for r in ratios]
    return height, width


def _as_pair(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (tuple, list, numpy.ndarray)):
        return tuple(value)
    return (value, value)


def _is_positive_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and int(value) >= 1
