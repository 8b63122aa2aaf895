"""Sampling of images at the points of a grid."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.spatial_transformers import sampling_positions
from chainer.backends.operations.spatial_transformers import (
    spatial_transformer_sampler as sampler_operation,
)
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.argument import parse_kwargs
from chainer.functions.array.get_item import get_item
from chainer.functions.array.pad import pad
from chainer.functions.array.spatial_transformer_grid import USE_CUDNN
from chainer.functions.array.stack import stack
from chainer.functions.array.transpose import transpose
from chainer.functions.math.sum import sum


class SpatialTransformerSampler(FunctionNode):
    """Bilinear interpolation of images at given points."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x, grid = in_types
        type_check.expect(
            x.dtype.kind == "f",
            grid.dtype == x.dtype,
            x.ndim == 4,
            grid.ndim == 4,
            grid.shape[1] == 2,
            x.shape[0] == grid.shape[0],
        )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, grid = inputs
        self._kernel = sampler_operation.select(x, grid)
        self.retain_inputs((0, 1))
        return (self._kernel.forward(x, grid),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, grid = self.retained_input_arrays
        gradients = self._kernel.backward(x, grid, grad_outputs[0])
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        # The interpolation once more, of differentiable functions.
        x, grid = self.get_retained_inputs()
        n, _, h, w = x.shape
        ones = self.xp.ones((n, 1, 1), dtype=int)
        samples = ones * self.xp.arange(n).reshape((n, 1, 1))
        iu, fu = self._position(grid, 0, w)
        iv, fv = self._position(grid, 1, h)
        gy = transpose(grad_outputs[0], (0, 2, 3, 1))
        fu_, fv_ = (f.reshape((*f.shape, 1)) for f in (fu, fv))
        gradients: list[Any] = []
        padded = transpose(pad(x, ((0, 0), (0, 0), (1, 2), (1, 2)), "constant"), (0, 2, 3, 1))
        corners = [[(samples, iv + dv, iu + du) for du in (0, 1)] for dv in (0, 1)]
        for i in target_input_indexes:
            if i == 0:
                gx: Any = self.xp.zeros(padded.shape, dtype=x.dtype)
                weights_u, weights_v = (1 - fu_, fu_), (1 - fv_, fv_)
                for dv in (0, 1):
                    for du in (0, 1):
                        value = gy * (weights_u[du] * weights_v[dv])
                        gx = _scatter(gx, corners[dv][du], value)
                gx = get_item(gx, (slice(None), slice(1, h + 1), slice(1, w + 1)))
                gradients.append(transpose(gx, (0, 3, 1, 2)))
            else:
                (a, b), (c, d) = (
                    [get_item(padded, corners[dv][du]) for du in (0, 1)] for dv in (0, 1)
                )
                twist = d - c - b + a
                gu = sum((b - a + twist * fv_) * gy, axis=3) * ((w - 1) / 2)
                gv = sum((c - a + twist * fu_) * gy, axis=3) * ((h - 1) / 2)
                inside = [self._inside(grid.array, k, length) for k, length in ((0, w), (1, h))]
                gradients.append(stack([gu * inside[0], gv * inside[1]], axis=1))
        return tuple(gradients)

    def _inside(self, grid: Any, k: int, length: int) -> Any:
        half = (length - 1) / 2
        position = grid[:, k] * half + (half + 1)
        return ((position >= 0) & (position <= length + 1)).astype(grid.dtype)

    def _position(self, grid: Variable, k: int, length: int) -> tuple[Any, Variable]:
        """Index of the pixel before each point, and the distance from it as a Variable."""
        index, fraction = sampling_positions(self.xp, grid.array[:, k], length)
        half = (length - 1) / 2
        inside = self._inside(grid.array, k, length)
        position = grid[:, k] * half * inside
        # Of the value only the constant part is corrected; the derivative is that of the points.
        return index, position + (fraction - position.array)


def _scatter(target: Any, index: Any, value: Variable) -> Variable:
    from chainer.functions.array.scatter_add import scatter_add

    return scatter_add(target, index, value)


def spatial_transformer_sampler(x: Any, grid: Any, **kwargs: Any) -> Variable:
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
