"""Pooling over regions of interest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array


class RegionGrid(NamedTuple):
    """The grid of bins that each region of interest is divided into.

    Attributes:
        out_size: Number of bins in both directions.
        scale: Factor from the coordinates of regions to pixels.
        ratio: Number of samples in each direction of a bin; None for as many as the bin has pixels,
            rounded up. Poolings that read all pixels of a bin ignore it.
    """

    out_size: tuple[int, int]
    scale: float
    ratio: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True)
class Regions:
    """Regions of interest, and the grid of bins in each.

    Attributes:
        rois: Regions, an array of shape ``(R, 4)``: ``(y_min, x_min, y_max, x_max)``.
        images: Indices of their images, integers of shape ``(R,)``.
        grid: The bins of each region.
    """

    rois: Array
    images: Array
    grid: RegionGrid

    def __len__(self) -> int:
        return len(self.rois)


class ROIPooling2D(Operation):
    """Maximum over a grid of bins in each region of interest.

    ``x`` has shape ``(N, C, H, W)``; each row of ``rois``, shape ``(R, 5)``, is ``(batch_index,
    x_min, y_min, x_max, y_max)``. With ``scale`` the region covers columns ``round(x_min * scale)``
    to ``round(x_max * scale)``, both included, at least one; rows likewise. Bin ``i`` of ``n``
    covers ``floor(i * size / n)`` to ``ceil((i + 1) * size / n)`` of it, cut off at the borders of
    the image.

    ``select(x, rois, out_size=, scale=)``.

    Methods:
        ``forward(x, rois, out_size, scale) -> (y, indices)``: ``y`` of shape ``(R, C, *out_size)``,
        zero in empty bins; ``indices`` of the same shape: row-major position of the first maximum
        within ``(H, W)``, or -1.

        ``backward(gy, indices, rois, in_size, batch) -> gx`` of shape ``(batch, C, *in_size)``.

        ``gather(x, indices, rois) -> y``: elements of ``x`` at ``indices``, zero for -1.
    """

    name = "roi_pooling_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_poolings:ROIPooling2DKernel"


class ROIMaxPooling2D(Operation):
    """Maximum over a grid of bins in each region of interest.

    ``x`` has shape ``(N, C, H, W)``. Each row of ``rois``, shape ``(R, 4)``, is ``(y_min, x_min,
    y_max, x_max)``; ``roi_indices``, integers of shape ``(R,)``, are the indices of the images. A
    :class:`RegionGrid` describes the bins; :class:`Regions` are all three. The region covers rows
    ``round(y_min * scale)`` up to ``round(y_max * scale)``, which is excluded, at least one;
    columns likewise. Bin ``i`` of ``n`` covers ``floor(i * size / n)`` to ``ceil((i + 1) * size /
    n)`` of it, cut off at the borders of the image.

    ``select(x, rois, roi_indices, grid=)``.

    Methods:
        ``forward(x, regions) -> (y, indices)``: ``y`` of shape ``(R, C,
        *out_size)``, minus infinity in empty bins; ``indices`` of the same shape: row-major
        position of the first maximum within ``(H, W)``, or -1.

        ``backward(gy, indices, regions, in_shape) -> gx`` of shape
        ``in_shape``.

        ``gather(x, indices, regions) -> y``: elements of ``x`` at
        ``indices``, zero for -1.
    """

    name = "roi_max_pooling_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_poolings:ROIMaxPooling2DKernel"


class ROIAveragePooling2D(Operation):
    """Mean over a grid of bins in each region of interest.

    Arrays, attributes and bins are the same as in :class:`ROIMaxPooling2D`.

    ``select(x, rois, roi_indices, grid=)``.

    Methods:
        ``forward(x, regions) -> (y, None)``: ``y`` of shape ``(R, C,
        *out_size)``, zero in empty bins.

        ``backward(gy, None, regions, in_shape) -> gx`` of shape
        ``in_shape``.

        ``gather(x, None, regions) -> y``: the first result of
        ``forward``.

    16-bit types are summed in float32.
    """

    name = "roi_average_pooling_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_poolings:ROIAveragePooling2DKernel"


roi_pooling_2d = ROIPooling2D()
roi_max_pooling_2d = ROIMaxPooling2D()
roi_average_pooling_2d = ROIAveragePooling2D()
