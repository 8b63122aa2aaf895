"""Max pooling of regions of interest."""

from __future__ import annotations

import numpy

from chainer.backends.operations import roi_poolings
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, IntPair, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.math import minmax
from chainer.functions.pooling._regions import RegionFunction, pooling_sections


class ROIMaxPooling2D(RegionFunction):
    """Max pooling of regions of interest.

    Takes the same arguments as :class:`RegionFunction`.
    """

    operation = roi_poolings.roi_max_pooling_2d

    @property
    def argmax_data(self) -> Array:
        """Row-major position of each maximum in its image; -1 for empty bins.

        int32, or int64 if the image has more than 2**31 pixels.
        """
        height, width = self._in_shape[2:]
        is_small = height * width <= minmax.MAX_INT32_LENGTH
        return self._residual.astype(numpy.int32 if is_small else numpy.int64)


@pooling_sections(empty="Empty bins are minus infinity.")
def roi_max_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: IntPair,
    spatial_scale: float,
) -> Variable:
    """Spatial Region of Interest (ROI) max pooling function.

    Coordinates are multiplied by ``spatial_scale`` and rounded, the last row and column being
    excluded. Each region is divided into a grid of bins, of which the maximum is computed.

    Example:
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 2, 4]], np.float32)
        >>> index = np.array([0], np.int32)
        >>> F.roi_max_pooling_2d(x, rois, index, (1, 2), 1.0)
        variable([[[[5., 7.]]]])
    """
    return ROIMaxPooling2D(outsize, spatial_scale).apply((x, rois, roi_indices))[0]
