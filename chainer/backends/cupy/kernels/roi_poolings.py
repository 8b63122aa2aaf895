"""CUDA kernels of pooling over the bins of regions of interest."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.kernels._regions import RegionKernel, Regions
from chainer.backends.operations.roi_poolings import RegionGrid
from chainer.core.typing import Array, Shape

Size = tuple[int, int]


class ROIPooling2DKernel(RegionKernel):
    """Kernel of ``roi_pooling_2d``."""

    def forward(self, x: Array, rois: Array, out_size: Size, scale: float) -> tuple[Array, Array]:
        regions = Regions(x.shape, rois, None, RegionGrid(out_size, scale))
        return self.chosen("roi_max_pooling_forward", regions, x, 0.0)

    def backward(self, gy: Array, indices: Array, rois: Array, in_size: Size, batch: int) -> Array:
        regions = Regions((batch, gy.shape[1], *in_size), rois, None, RegionGrid(gy.shape[2:], 1.0))
        return self.gradient("roi_max_pooling_backward", regions, gy, indices)

    def gather(self, x: Array, indices: Array, rois: Array) -> Array:
        regions = Regions(x.shape, rois, None, RegionGrid(indices.shape[2:], 1.0))
        return self.gathered("roi_max_pooling_gather", regions, x, indices)


class DeterministicROIPooling2DKernel(ROIPooling2DKernel):
    """Kernel of ``roi_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIMaxPooling2DKernel(RegionKernel):
    """Kernel of ``roi_max_pooling_2d``."""

    def forward(
        self, x: Array, rois: Array, roi_indices: Array, grid: RegionGrid
    ) -> tuple[Array, Array]:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.chosen("roi_max_pooling_forward", regions, x, -numpy.inf)

    def backward(
        self,
        gy: Array,
        indices: Array,
        rois: Array,
        roi_indices: Array,
        in_shape: Shape,
        grid: RegionGrid,
    ) -> Array:
        regions = Regions(in_shape, rois, roi_indices, grid)
        return self.gradient("roi_max_pooling_backward", regions, gy, indices)

    def gather(
        self,
        x: Array,
        indices: Array,
        rois: Array,
        roi_indices: Array,
        grid: RegionGrid,
    ) -> Array:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.gathered("roi_max_pooling_gather", regions, x, indices)


class DeterministicROIMaxPooling2DKernel(ROIMaxPooling2DKernel):
    """Kernel of ``roi_max_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIAveragePooling2DKernel(RegionKernel):
    """Kernel of ``roi_average_pooling_2d``."""

    def forward(
        self, x: Array, rois: Array, roi_indices: Array, grid: RegionGrid
    ) -> tuple[Array, None]:
        regions = Regions(x.shape, rois, roi_indices, grid)
        return self.pooled("roi_average_pooling_forward", regions, x), None

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
        return self.gradient("roi_average_pooling_backward", regions, gy, None)

    def gather(
        self,
        x: Array,
        residual: None,
        rois: Array,
        roi_indices: Array,
        grid: RegionGrid,
    ) -> Array:
        return self.forward(x, rois, roi_indices, grid)[0]


class DeterministicROIAveragePooling2DKernel(ROIAveragePooling2DKernel):
    """Kernel of ``roi_average_pooling_2d`` whose gradients are sums in the order of the regions."""

    in_order = True
