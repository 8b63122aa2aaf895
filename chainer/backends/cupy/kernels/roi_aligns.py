"""CUDA kernels of the sampling of regions of interest at points between pixels."""

from __future__ import annotations

from chainer.backends.cupy.kernels._regions import RegionKernel, Regions
from chainer.backends.operations.roi_poolings import RegionGrid
from chainer.core.typing import Array, Shape


class ROIAverageAlign2DKernel(RegionKernel):
    """Kernel of ``roi_average_align_2d``."""

    def forward(
        self, x: Array, rois: Array, roi_indices: Array, grid: RegionGrid
    ) -> tuple[Array, None]:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.pooled("roi_average_align_forward", regions, x), None

    def backward(
        self,
        gy: Array,
        residual: None,
        rois: Array,
        roi_indices: Array,
        in_shape: Shape,
        grid: RegionGrid,
    ) -> Array:
        regions = Regions(in_shape, rois, roi_indices, grid)
        return self.gradient("roi_average_align_backward", regions, gy, None)

    def gather(
        self,
        x: Array,
        residual: None,
        rois: Array,
        roi_indices: Array,
        grid: RegionGrid,
    ) -> Array:
        return self.forward(x, rois, roi_indices, grid)[0]


class DeterministicROIAverageAlign2DKernel(ROIAverageAlign2DKernel):
    """Kernel of ``roi_average_align_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIMaxAlign2DKernel(RegionKernel):
    """Kernel of ``roi_max_align_2d``."""

    def forward(
        self, x: Array, rois: Array, roi_indices: Array, grid: RegionGrid
    ) -> tuple[Array, Array]:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.chosen("roi_max_align_forward", regions, x)

    def backward(
        self,
        gy: Array,
        winners: Array,
        rois: Array,
        roi_indices: Array,
        in_shape: Shape,
        grid: RegionGrid,
    ) -> Array:
        regions = Regions(in_shape, rois, roi_indices, grid)
        return self.gradient("roi_max_align_backward", regions, gy, winners)

    def gather(
        self,
        x: Array,
        winners: Array,
        rois: Array,
        roi_indices: Array,
        grid: RegionGrid,
    ) -> Array:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.gathered("roi_max_align_gather", regions, x, winners)


class DeterministicROIMaxAlign2DKernel(ROIMaxAlign2DKernel):
    """Kernel of ``roi_max_align_2d`` whose gradients are sums in the order of the regions."""

    in_order = True
