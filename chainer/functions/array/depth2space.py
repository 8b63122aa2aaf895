"""Depth to space."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions.array._pixel_shuffle import PixelShuffle, depth_to_space, space_to_depth


class Depth2Space(PixelShuffle):
    """Moves blocks of channels to blocks of pixels."""

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        # Earlier releases left it to reshape(), which raised ValueError.
        expect_as(InvalidValue, in_types[0].shape[1] % self.r**2 == 0)

    def forward(self, inputs: Arrays) -> Arrays:
        return (depth_to_space(self.xp, inputs[0], self.r),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # Both functions only move elements, so that the adjoint is the inverse.
        return (space_to_depth(self.xp, grad_outputs[0], self.r),)


def depth2space(X: VariableLike, r: int) -> Variable:
    """Computes the depth2space transformation for subpixel calculations.

    It can be used to compute super-resolution transformations, see
    https://arxiv.org/abs/1609.05158.

    Args:
        X (Variable or array): Array of shape ``(batch, channel * r * r, dim1, dim2)``, floating
            point.
        r (int): The upscaling factor.

    Returns:
        Variable: Array of shape ``(batch, channel, dim1 * r, dim2 * r)``.

    Raises:
        InvalidType: If dtype or shape does not fit.

    Example:
        >>> X = np.arange(24, dtype=np.float32).reshape(1, 4, 2, 3)
        >>> F.depth2space(X, 2).shape
        (1, 1, 4, 6)
    """
    return Depth2Space(r).apply((X,))[0]
