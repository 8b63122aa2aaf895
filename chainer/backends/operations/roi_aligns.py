"""Sampling of regions of interest at points between pixels."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class ROIAverageAlign2D(Operation):
    """Mean of samples in a grid of bins in each region of interest.

    ``x`` has shape ``(N, C, H, W)``. Each row of ``rois``, shape ``(R, 4)``, is ``(y_min, x_min,
    y_max, x_max)``; ``roi_indices``, integers of shape ``(R,)``, are the indices of the images. A
    :class:`~chainer.backends.operations.roi_poolings.RegionGrid` describes the bins;
    :class:`~chainer.backends.operations.roi_poolings.Regions` are all three. The region
    begins at ``y_min * scale`` and is ``(y_max - y_min) * scale`` high, at least 1; columns
    likewise. Its ``out_size[0]`` bins have ``ratio[0]`` rows of samples each, or as many as a bin
    has pixels, rounded up, where that is None. Samples are in the middle of equal parts of a bin.

    A sample is the bilinear interpolation of the four pixels around it. Less than a pixel outside
    of the image it counts as one on the border, further outside as zero.

    ``select(x, rois, roi_indices, grid=)``.

    Methods:
        ``forward(x, regions) -> (y, None)``: ``y`` of shape ``(R,
        C, *out_size)``.

        ``backward(gy, None, regions, in_shape) -> gx`` of shape
        ``in_shape``.

        ``gather(x, None, regions) -> y``: the first result of
        ``forward``.

    16-bit types are summed in float32.
    """

    name = "roi_average_align_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_aligns:ROIAverageAlign2DKernel"


class ROIMaxAlign2D(Operation):
    """Maximum of samples in a grid of bins in each region of interest.

    Arrays, attributes and samples are the same as in :class:`ROIAverageAlign2D`, but samples more
    than a pixel outside of the image do not count.

    ``select(x, rois, roi_indices, grid=)``.

    Methods:
        ``forward(x, regions) -> (y, winners)``: ``y`` of shape
        ``(R, C, *out_size)``, minus infinity in bins without samples; ``winners`` of the same
        shape: row-major number of the first maximum among the samples of the bin, or -1.

        ``backward(gy, winners, regions, in_shape) -> gx`` of
        shape ``in_shape``.

        ``gather(x, winners, regions) -> y``: the samples with the
        given numbers, zero for -1.
    """

    name = "roi_max_align_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_aligns:ROIMaxAlign2DKernel"


roi_average_align_2d = ROIAverageAlign2D()
roi_max_align_2d = ROIMaxAlign2D()
