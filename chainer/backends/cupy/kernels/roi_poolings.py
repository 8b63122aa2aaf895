"""CUDA kernels of pooling over the bins of regions of interest."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.kernels._regions import (
    PlacedRegions,
    RegionKernel,
    RegionMaxKernel,
    RegionMeanKernel,
)
from chainer.backends.operations.roi_poolings import RegionGrid
from chainer.core.typing import Array

Size = tuple[int, int]


class ROIPooling2DKernel(RegionKernel):
    """Kernel of ``roi_pooling_2d``."""

    def forward(self, x: Array, rois: Array, out_size: Size, scale: float) -> tuple[Array, Array]:
        regions = PlacedRegions(x.shape, rois, None, RegionGrid(out_size, scale))
        return self.chosen("roi_max_pooling_forward", regions, x, 0.0)

    def backward(self, gy: Array, indices: Array, rois: Array, in_size: Size, batch: int) -> Array:
        regions = PlacedRegions(
            (batch, gy.shape[1], *in_size), rois, None, RegionGrid(gy.shape[2:], 1.0)
        )
        return self.gradient("roi_max_pooling_backward", regions, gy, indices)

    def gather(self, x: Array, indices: Array, rois: Array) -> Array:
        regions = PlacedRegions(x.shape, rois, None, RegionGrid(indices.shape[2:], 1.0))
        return self.gathered("roi_max_pooling_gather", regions, x, indices)


class DeterministicROIPooling2DKernel(ROIPooling2DKernel):
    """Kernel of ``roi_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIMaxPooling2DKernel(RegionMaxKernel):
    """Kernel of ``roi_max_pooling_2d``."""

    prefix = "roi_max_pooling"
    # The value of empty bins; roi_pooling_2d has zero there.
    forward_arguments = (-numpy.inf,)


class DeterministicROIMaxPooling2DKernel(ROIMaxPooling2DKernel):
    """Kernel of ``roi_max_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIAveragePooling2DKernel(RegionMeanKernel):
    """Kernel of ``roi_average_pooling_2d``."""

    prefix = "roi_average_pooling"


class DeterministicROIAveragePooling2DKernel(ROIAveragePooling2DKernel):
    """Kernel of ``roi_average_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True
