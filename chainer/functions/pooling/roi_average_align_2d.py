"""Average of samples of regions of interest."""

from __future__ import annotations

from chainer.backends.operations import roi_aligns
from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.pooling._regions import RegionAlignFunction, SamplingRatio


class ROIAverageAlign2D(RegionAlignFunction):
    """Average of samples of regions of interest.

    Args:
        outsize (int or pair of ints): Size of the output.
        spatial_scale (float): Factor from the coordinates of regions to those of the images.
        sampling_ratio (int or pair of ints): Number of samples in each direction of a bin.
    """

    operation = roi_aligns.roi_average_align_2d


def roi_average_align_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: IntPair,
    spatial_scale: float,
    sampling_ratio: SamplingRatio = None,
) -> Variable:
    """Spatial Region of Interest (ROI) average align function.

    Each region is divided into a grid of bins, of which the mean of bilinearly interpolated samples
    is computed. Coordinates are not rounded, unlike those of :func:`roi_average_pooling_2d`.

    It is differentiable with respect to ``x``.

    Args:
        x (~chainer.Variable or array): Images of shape ``(n, c, h, w)``, floating point.
        rois (~chainer.Variable or array): Regions in image coordinates, shape ``(R, 4)`` and dtype
            of ``x``. Each is ``(y_min, x_min, y_max, x_max)``.
        roi_indices (~chainer.Variable or array): Number of the image of each region, shape
            ``(R,)``, signed integers.
        outsize (int or pair of ints): Size of the output after pooling: height and width.
        spatial_scale (float): Factor from the coordinates of the regions to those of ``x``.
        sampling_ratio (int or pair of ints or None): Number of samples in each direction of a bin.
            None takes one for each pixel, rounded up.

    Returns:
        ~chainer.Variable: Output of shape ``(R, c, outsize[0], outsize[1])`` and the dtype of
        ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If ``outsize``, ``sampling_ratio`` or ``spatial_scale`` is not positive, or of
            another type.
        IndexError: If there is no image with a number in ``roi_indices``.

    See the original paper proposing ROIAlign: `Mask R-CNN
    <https://arxiv.org/abs/1703.06870>`_.

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
