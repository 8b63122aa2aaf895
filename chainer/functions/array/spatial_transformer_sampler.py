"""Sampling of images at the points of a grid."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.spatial_transformers import sampling_positions
from chainer.backends.operations.spatial_transformers import (
    spatial_transformer_sampler as sampler_operation,
)
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import parse_kwargs
from chainer.functions._callable import CallableNode
from chainer.functions.array.pad import pad
from chainer.functions.array.spatial_transformer_grid import USE_CUDNN
from chainer.functions.array.transpose import transpose
from chainer.functions.rules import ComposedFunction, expect_one_dtype


class SpatialTransformerSampler(CallableNode, ComposedFunction):
    """Bilinear interpolation of images at given points."""

    batch_inputs = (0, 1)
    type_check_key = ()
    retained_inputs = (0, 1)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x, grid = expect_one_dtype(in_types, 2)
        type_check.expect(
            x.ndim == 4,
            grid.ndim == 4,
            grid.shape[1] == 2,
            x.shape[0] == grid.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, grid = inputs
        self._kernel = sampler_operation.select(x, grid)
        return (self._kernel.forward(x, grid),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, grid = self.retained_input_arrays
        gradients = self._kernel.backward(x, grid, grad_outputs[0])
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, x: Variable, grid: Variable) -> Variables:
        n, _, h, w = x.shape
        # A border of zeros: points outside of the image get values of pixels as well.
        padded = transpose(pad(x, ((0, 0), (0, 0), (1, 2), (1, 2)), "constant"), (0, 2, 3, 1))
        samples = self.xp.arange(n).reshape((n, 1, 1))
        column, u = self._position(grid, 0, w)
        row, v = self._position(grid, 1, h)
        # The four pixels around each point, interpolated in one direction and then in the other.
        (a, b), (c, d) = (
            [padded[samples, row + below, column + right] for right in (0, 1)] for below in (0, 1)
        )
        upper, lower = a + (b - a) * u, c + (d - c) * u
        return (transpose(upper + (lower - upper) * v, (0, 3, 1, 2)),)

    def _position(self, grid: Variable, k: int, length: int) -> tuple[Array, Variable]:
        """Index of the pixel before each point, and the distance from it with an axis more."""
        index, fraction = sampling_positions(self.xp, grid.array[:, k], length)
        half = (length - 1) / 2
        shifted = grid.array[:, k] * half + (half + 1)
        inside = ((shifted >= 0) & (shifted <= length + 1)).astype(grid.dtype)
        position = grid[:, k] * half * inside
        # Keep the value that the kernel computed, but let gradients flow through the position.
        fraction = position + (fraction - position.array)
        return index, fraction.reshape((*fraction.shape, 1))


def spatial_transformer_sampler(x: VariableLike, grid: VariableLike, **kwargs: Any) -> Variable:
    """2D Spatial Transformer sampler.

    This is a differentiable image sampler. With a set of sampling points ``grid`` and an input
    feature map ``x``, this produces a sampled output feature map by bilinear interpolation. Where
    coordinates in ``grid`` are outside the range :math:`[-1, 1]`, values are sampled from a
    zero-padded input image.

    See detail in the following paper: `Spatial Transformer Networks
    <https://arxiv.org/abs/1506.02025>`_.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c_I, h, w)`, floating
            point.
        grid (:class:`~chainer.Variable` or array): Coordinates of shape :math:`(n, 2, h_O, w_O)`
            and the dtype of ``x``. ``grid[idx, :, i, j]`` is the point that is sampled for the
            output pixel :math:`(i, j)`: first the coordinate along the horizontal axis, then the
                one along
            the vertical axis. :math:`(-1, -1)` is the upper-left corner of the input image.

    Returns:
        ~chainer.Variable: Output feature map of shape :math:`(n, c_I, h_O, w_O)`.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the removed argument ``use_cudnn`` is given.

    Example:
        >>> x = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 1, 2, 2)
        >>> middle = np.zeros((1, 2, 1, 1), np.float32)
        >>> F.spatial_transformer_sampler(x, middle)
        variable([[[[2.5]]]])
    """
    parse_kwargs(kwargs, use_cudnn=USE_CUDNN)
    return SpatialTransformerSampler().apply((x, grid))[0]
