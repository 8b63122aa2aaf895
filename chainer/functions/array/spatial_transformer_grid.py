"""Sampling points of a spatial transformer."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, DType, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords, parse_kwargs
from chainer.functions._callable import CallableNode
from chainer.functions.rules import LinearMap

USE_CUDNN = (
    'The argument "use_cudnn" is not supported anymore. Use '
    "chainer.using_config('use_cudnn', value) context where value can be "
    "`always`, `never`, or `auto`."
)


class SpatialTransformerGrid(CallableNode, LinearMap):
    """Affine transformations of the points of a regular grid."""

    batch_inputs = (0,)
    type_check_key = ()

    def __init__(self, output_shape: tuple[int, int]) -> None:
        height, width = output_shape
        self.output_shape = (height, width)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(
            in_types[0].dtype.kind == "f",
            in_types[0].ndim == 3,
            in_types[0].shape[1] == 2,
            in_types[0].shape[2] == 3,
        )

    def _points(self, dtype: DType) -> Any:
        """Homogeneous coordinates of the points of the grid, of shape ``(3, h * w)``."""
        xp = self.xp
        height, width = self.output_shape
        # The third coordinate is one, so that the matrix has a column for the translation.
        points = xp.ones((3, height, width), dtype=dtype)
        points[0] = xp.linspace(-1, 1, width)
        points[1] = xp.linspace(-1, 1, height)[:, None]
        return points.reshape((3, height * width))

    def forward(self, inputs: Arrays) -> Arrays:
        theta = inputs[0]
        grid = theta @ self._points(theta.dtype)
        return (grid.reshape((len(theta), 2, *self.output_shape)),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        gy = gy.reshape((len(gy), 2, gy.shape[2] * gy.shape[3]))
        return (gy @ self._points(gy.dtype).T,)


@explained_keywords
def spatial_transformer_grid(
    theta: VariableLike, output_shape: tuple[int, int], **kwargs: Any
) -> Variable:
    """2D Spatial Transformer grid.

    This function generates coordinates of the points sampled from an image to perform warping
    described in `Spatial Transformer Networks <https://arxiv.org/abs/1506.02025>`_.

    Given a coordinate in the warped image :math:`(x_i^t, y_i^t)`, the point sampled from the source
    image :math:`(x_i^s, y_i^s)` is calculated by

    .. math::
       \\left(\\begin{matrix} x_i^s \\\\
         y_i^s \\end{matrix}\\right) =
       \\left(\\begin{matrix} \\theta_{11} & \\theta_{12} & \\theta_{13} \\\\
         \\theta_{21} & \\theta_{22} & \\theta_{23} \\end{matrix}\\right)
       \\left(\\begin{matrix} x_i^t \\\\
         y_i^t \\\\
         1 \\end{matrix}\\right)

    Args:
        theta (:class:`~chainer.Variable` or array): Batch of :math:`2 \\times 3` matrices used for
            the warping, of shape :math:`(n, 2, 3)`, floating point.
        output_shape (tuple): Height and width of the output image, :math:`h_O, w_O`.

    Returns:
        ~chainer.Variable: Coordinates of shape :math:`(n, 2, h_O, w_O)`. In the second dimension,
            the
        first element is the coordinate along the x axis, the second the one along the y axis. The
        coordinates are scaled so that :math:`(-1, -1)` is the upper-left corner of the input image
        and :math:`(1, 1)` the lower-right one.

    Raises:
        InvalidType: If dtype or shape do not fit.
        ValueError: If the removed argument ``use_cudnn`` is given.

    Example:
        >>> theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
        >>> F.spatial_transformer_grid(theta, (2, 2)).array[0, 0]
        array([[-1.,  1.],
               [-1.,  1.]], dtype=float32)
    """
    parse_kwargs(kwargs, use_cudnn=USE_CUDNN)
    return SpatialTransformerGrid(output_shape).apply((theta,))[0]
