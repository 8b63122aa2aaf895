"""Average of samples of regions of interest."""

from __future__ import annotations

from chainer.backends.operations import roi_aligns
from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.pooling._regions import RegionAlignFunction, SamplingRatio, align_sections


class ROIAverageAlign2D(RegionAlignFunction):
    """Average of samples of regions of interest.

    Takes the same arguments as :class:`RegionAlignFunction`.
    """

    operation = roi_aligns.roi_average_align_2d


@align_sections(empty="Samples more than a pixel outside of the image are 0.")
def roi_average_align_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: IntPair,
    spatial_scale: float,
    sampling_ratio: SamplingRatio = None,
) -> Variable:
    """Spatial Region of Interest (ROI) average align function.

    Each region is divided into a grid of bins. The output is the mean over bilinearly interpolated
    samples in each bin. Unlike :func:`roi_average_pooling_2d`, it does not round coordinates.

    Example:
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 2, 4]], np.float32)
        >>> index = np.array([0], np.int32)
        >>> F.roi_average_align_2d(x, rois, index, (1, 2), 1.0)
        variable([[[[5.  , 6.75]]]])
    """
    return ROIAverageAlign2D(outsize, spatial_scale, sampling_ratio).apply((x, rois, roi_indices))[
        0
    ]
