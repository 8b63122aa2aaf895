"""Base of the functions of regions of interest: arguments, type check, gradients."""

from __future__ import annotations

import functools
import numbers
from typing import Any

import numpy

from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.typing import ArrayGrads, Arrays, Indexes, IntPair
from chainer.core.utils import type_check
from chainer.core.utils.documentation import SharedSections
from chainer.functions._callable import CallableNode
from chainer.functions.rules import PiecewiseLinearFunction, expect_kinds

#: Sections shared by the docstrings of the functions of regions.
region_sections = SharedSections(
    """
    It is differentiable with respect to ``x``.

    Args:
        x (~chainer.Variable or array): Images of shape ``(n, c, h, w)``, floating point.
        rois (~chainer.Variable or array): Regions in image coordinates, shape ``(R, 4)`` and dtype
            of ``x``. Each is ``(y_min, x_min, y_max, x_max)``.
        roi_indices (~chainer.Variable or array): Number of the image of each region, shape
            ``(R,)``, signed integers.
        outsize (int or pair of ints): Size of the output after pooling: height and width.
        spatial_scale (float): Factor that converts region coordinates to coordinates in ``x``.
    $sampling_ratio
    Returns:
        ~chainer.Variable: Output of shape ``(R, c, outsize[0], outsize[1])`` and the dtype of
        ``x``. $empty

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a size or a scale is not positive, or of another type.
        IndexError: If there is no image with a number in ``roi_indices``.

    See the original paper proposing $paper.
    """,
    sampling_ratio="",
)

_ROI_ALIGN = "ROIAlign: `Mask R-CNN <https://arxiv.org/abs/1703.06870>`_"
_ROI_POOLING = "ROIPooling: `Fast R-CNN <https://arxiv.org/abs/1504.08083>`_"

#: As ``region_sections``, for functions that round coordinates.
pooling_sections = functools.partial(region_sections, paper=_ROI_POOLING)
#: As ``region_sections``, for functions that sample regions between pixels.
align_sections = functools.partial(
    region_sections,
    paper=_ROI_ALIGN,
    sampling_ratio="""\
    sampling_ratio (int or pair of ints or None): Number of samples in each direction of a bin.
        None takes one for each pixel, rounded up.
""",
)

#: Number of samples in each direction of a bin, None where it depends on the size of the bin.
SamplingRatio = int | tuple[int | None, int | None] | None


class RegionFunction(CallableNode, PiecewiseLinearFunction):
    """Base of functions of images that pool regions of interest.

    Args:
        outsize (int or pair of ints): Size of the output.
        spatial_scale (float): Factor from the coordinates of regions to the coordinates of images.

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
        x_type, roi_type, index_type = expect_kinds(in_types, "ffi")
        type_check.expect(x_type.ndim == 4, x_type.dtype == roi_type.dtype)
        type_check.expect(roi_type.ndim == 2, roi_type.shape[1] == 4)
        type_check.expect(index_type.ndim == 1, roi_type.shape[0] == index_type.shape[0])

    def _regions(self) -> Regions:
        rois, roi_indices = self.retained_input_arrays
        return Regions(rois, roi_indices, self._grid)

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
        regions = self._regions()
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
        regions = self._regions()
        # The derivative reads the tangent where the values came from.
        return (self._kernel.gather(tangents[0], self._residual, regions),)


class RegionAlignFunction(RegionFunction):
    """Base of functions that sample regions between pixels.

    Args:
        outsize (int or pair of ints): Size of the output.
        spatial_scale (float): Factor from the coordinates of regions to the coordinates of images.
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
