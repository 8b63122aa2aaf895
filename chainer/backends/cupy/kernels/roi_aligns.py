"""CUDA kernels of the sampling of regions of interest at points between pixels."""

from __future__ import annotations

from chainer.backends.cupy.kernels._regions import RegionMaxKernel, RegionMeanKernel


class ROIAverageAlign2DKernel(RegionMeanKernel):
    """Kernel of ``roi_average_align_2d``."""

    prefix = "roi_average_align"


class DeterministicROIAverageAlign2DKernel(ROIAverageAlign2DKernel):
    """Kernel of ``roi_average_align_2d`` whose gradients are sums in the order of the regions."""

    in_order = True


class ROIMaxAlign2DKernel(RegionMaxKernel):
    """Kernel of ``roi_max_align_2d``."""

    prefix = "roi_max_align"


class DeterministicROIMaxAlign2DKernel(ROIMaxAlign2DKernel):
    """Kernel of ``roi_max_align_2d`` whose gradients are sums in the order of the regions."""

    in_order = True
