"""Pooling over regions of interest."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


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
    y_max, x_max)``; ``roi_indices``, integers of shape ``(R,)``, are the numbers of the images. The
    region covers rows ``round(y_min * scale)`` up to ``round(y_max * scale)``, which is excluded,
    at least one; columns likewise. Bin ``i`` of ``n`` covers ``floor(i * size / n)`` to ``ceil((i +
    1) * size / n)`` of it, cut off at the borders of the image.

    ``select(x, rois, roi_indices, out_size=, scale=)``.

    Methods:
        ``forward(x, rois, roi_indices, out_size, scale) -> (y, indices)``: ``y`` of shape ``(R, C,
        *out_size)``, minus infinity in empty bins; ``indices`` of the same shape: row-major
        position of the first maximum within ``(H, W)``, or -1.

        ``backward(gy, indices, rois, roi_indices, in_shape, out_size, scale) -> gx`` of shape
        ``in_shape``.

        ``gather(x, indices, rois, roi_indices, out_size, scale) -> y``: elements of ``x`` at
        ``indices``, zero for -1.
    """

    name = "roi_max_pooling_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_poolings:ROIMaxPooling2DKernel"


class ROIAveragePooling2D(Operation):
    """Mean over a grid of bins in each region of interest.

    Arrays, attributes and bins are those of :class:`ROIMaxPooling2D`.

    ``select(x, rois, roi_indices, out_size=, scale=)``.

    Methods:
        ``forward(x, rois, roi_indices, out_size, scale) -> (y, None)``: ``y`` of shape ``(R, C,
        *out_size)``, zero in empty bins.

        ``backward(gy, None, rois, roi_indices, in_shape, out_size, scale) -> gx`` of shape
        ``in_shape``.

        ``gather(x, None, rois, roi_indices, out_size, scale) -> y``: the first result of
        ``forward``.

    16-bit types are summed in float32.
    """

    name = "roi_average_pooling_2d"
    methods = ("forward", "backward", "gather")
    reference = "chainer.backends.numpy.kernels.roi_poolings:ROIAveragePooling2DKernel"


roi_pooling_2d = ROIPooling2D()
roi_max_pooling_2d = ROIMaxPooling2D()
roi_average_pooling_2d = ROIAveragePooling2D()
