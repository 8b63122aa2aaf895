"""Average pooling of regions of interest."""

from __future__ import annotations

from chainer.backends.operations import roi_poolings
from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.pooling._regions import RegionFunction, pooling_sections


class ROIAveragePooling2D(RegionFunction):
    """Average pooling of regions of interest.

    Takes the same arguments as :class:`RegionFunction`.
    """

    operation = roi_poolings.roi_average_pooling_2d


@pooling_sections(empty="Empty bins are 0.")
def roi_average_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: IntPair,
    spatial_scale: float,
) -> Variable:
    """Spatial Region of Interest (ROI) average pooling function.

    Coordinates are multiplied by ``spatial_scale`` and rounded, the last row and column being
    excluded. Each region is divided into a grid of bins, of which the mean is computed.

    Example:
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 2, 4]], np.float32)
        >>> index = np.array([0], np.int32)
        >>> F.roi_average_pooling_2d(x, rois, index, (1, 2), 1.0)
        variable([[[[2.5, 4.5]]]])
    """
    return ROIAveragePooling2D(outsize, spatial_scale).apply((x, rois, roi_indices))[0]
