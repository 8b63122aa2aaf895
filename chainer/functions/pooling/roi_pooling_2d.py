"""Pooling of regions of interest."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.roi_poolings import roi_pooling_2d as operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._scalars import as_int


class ROIPooling2D(FunctionNode):
    """Pooling of regions of interest.

    Args:
        outh (int): Height of the output.
        outw (int): Width of the output.
        spatial_scale (float): Scale of the regions.
    """

    type_check_key = ()

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

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((1,))
        x, rois = inputs
        out_size = (self.outh, self.outw)
        self._in_shape = x.shape
        self._kernel = operation.select(x, rois, out_size=out_size, scale=self.spatial_scale)
        y, self.argmax_data = self._kernel.forward(x, rois, out_size, self.spatial_scale)
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (rois,) = self.retained_input_arrays
        if 0 not in target_input_indexes:
            return (None,)
        return ROIPooling2DGrad(self, rois).apply(grad_outputs)[0], None

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (rois,) = self.retained_input_arrays
        return tuple(
            [
                self._gradient(grad_outputs[0], rois) if i == 0 else None
                for i in target_input_indexes
            ]
        )

    def _gradient(self, gy: Any, rois: Any) -> Any:
        shape = self._in_shape
        return self._kernel.backward(gy, self.argmax_data, rois, shape[2:], shape[0])


class ROIPooling2DGrad(FunctionNode):
    """Gradient of pooling of regions, a linear function of ``gy``."""

    def __init__(self, pooling: ROIPooling2D, rois: Any) -> None:
        self._pooling = pooling
        self._rois = rois

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._pooling._gradient(inputs[0], self._rois),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return ROIPooling2DWithIndexes(self._pooling, self._rois).apply(grad_outputs)


class ROIPooling2DWithIndexes(FunctionNode):
    """Elements at the maxima of another pooling of regions."""

    def __init__(self, pooling: ROIPooling2D, rois: Any) -> None:
        self._pooling = pooling
        self._rois = rois

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        pooling = self._pooling
        return (pooling._kernel.gather(inputs[0], pooling.argmax_data, self._rois),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return ROIPooling2DGrad(self._pooling, self._rois).apply(grad_outputs)


def roi_pooling_2d(x: Any, rois: Any, outh: int, outw: int, spatial_scale: float) -> Variable:
    """Spatial Region of Interest (ROI) pooling function.

    This function acts similarly to :func:`max_pooling_2d`, but it computes the maxima of a grid of
    bins in each region of interest. It is differentiable w.r.t. ``x``.

    Args:
        x (~chainer.Variable or array): Input of shape (n: batch, c: channel, h: height, w: width).
        rois (~chainer.Variable or array): Regions, dtype of ``x``, shape (n: data size, 5). Each is
            (batch_index, x_min, y_min, x_max, y_max), borders included.
        outh (int): Height of output image after pooled.
        outw (int): Width of output image after pooled.
        spatial_scale (float): Factor from the coordinates of the regions to those of ``x``.

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
