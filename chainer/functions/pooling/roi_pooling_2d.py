"""Pooling of regions of interest."""

from __future__ import annotations

from chainer.backends.operations.roi_poolings import roi_pooling_2d as operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._scalars import as_int
from chainer.functions.rules import PiecewiseLinearFunction


class ROIPooling2D(PiecewiseLinearFunction):
    """Pooling of regions of interest.

    Args:
        outh (int): Height of the output.
        outw (int): Width of the output.
        spatial_scale (float): Scale of the regions.
    """

    type_check_key = ()
    retained_inputs = (1,)

    def __init__(self, outh: int, outw: int, spatial_scale: float) -> None:
        for name, value in (("outh", outh), ("outw", outw)):
            if as_int(value, f"{name} must be an int, got {type(value)}") <= 0:
                raise ValueError(f"{name} must be positive, got {value}")
        self.outh = int(outh)
        self.outw = int(outw)
        self.spatial_scale = spatial_scale

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, roi_type = in_types
        type_check.expect(
            x_type.dtype.kind == "f",
            x_type.ndim == 4,
            x_type.dtype == roi_type.dtype,
            roi_type.ndim == 2,
            roi_type.shape[1] == 5,
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, rois = inputs
        out_size = (self.outh, self.outw)
        self._kernel = operation.select(x, rois, out_size=out_size, scale=self.spatial_scale)
        y, self.argmax_data = self._kernel.forward(x, rois, out_size, self.spatial_scale)
        return (y,)

    def backward_arrays(
        self, target_input_indexes: Indexes, grad_outputs: ArrayGrads
    ) -> ArrayGrads:
        (rois,) = self.retained_input_arrays
        batch, _, *in_size = self.input_shape(0)
        # The regions have no gradient.
        return tuple(
            [
                self._kernel.backward(
                    grad_outputs[0], self.argmax_data, rois, tuple(in_size), batch
                )
                if i == 0
                else None
                for i in target_input_indexes
            ]
        )

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        # The derivative picks the elements of the tangent at the positions of the maxima.
        (rois,) = self.retained_input_arrays
        return (self._kernel.gather(tangents[0], self.argmax_data, rois),)


def roi_pooling_2d(
    x: VariableLike, rois: VariableLike, outh: int, outw: int, spatial_scale: float
) -> Variable:
    """Spatial Region of Interest (ROI) pooling function.

    This function acts similarly to :func:`max_pooling_2d`, but it computes the maxima of a grid of
    bins in each region of interest. It is differentiable with respect to ``x``.

    Args:
        x (~chainer.Variable or array): Input of shape (n: batch, c: channel, h: height, w: width).
        rois (~chainer.Variable or array): Regions, dtype of ``x``, shape (n: data size, 5). Each is
            (batch_index, x_min, y_min, x_max, y_max), borders included.
        outh (int): Height of output image after pooled.
        outw (int): Width of output image after pooled.
        spatial_scale (float): Factor that converts region coordinates to coordinates in ``x``.

    Returns:
        ~chainer.Variable: Output of shape ``(number of regions, c, outh, outw)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If a batch index is out of range.
        ValueError: If ``outh`` or ``outw`` is not positive.

    See the original paper proposing ROIPooling: `Fast R-CNN <https://arxiv.org/abs/1504.08083>`_.

    Example:
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 0, 3, 1]], np.float32)
        >>> F.roi_pooling_2d(x, rois, 1, 2, 1.0).array
        array([[[[5., 7.]]]], dtype=float32)
    """
    return ROIPooling2D(outh, outw, spatial_scale).apply((x, rois))[0]
