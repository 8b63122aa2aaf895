"""Space to depth."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions.array._pixel_shuffle import PixelShuffle, depth_to_space, space_to_depth


class Space2Depth(PixelShuffle):
    """Moves blocks of pixels to blocks of channels."""

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        # Earlier releases left it to reshape(), which raised ValueError.
        expect_as(
            InvalidValue,
            in_types[0].shape[2] % self.r == 0,
            in_types[0].shape[3] % self.r == 0,
        )

    def forward(self, inputs: Arrays) -> Arrays:
        return (space_to_depth(self.xp, inputs[0], self.r),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # Both functions only move elements, so that the adjoint is the inverse.
        return (depth_to_space(self.xp, grad_outputs[0], self.r),)


def space2depth(X: VariableLike, r: int) -> Variable:
    """Computes the space2depth transformation for subpixel calculations.

    It is the inverse of :func:`~chainer.functions.depth2space`.

    Args:
        X (Variable or array): Array of shape ``(batch, channel, dim1 * r, dim2 * r)``, floating
            point.
        r (int): The downscaling factor.

    Returns:
        Variable: Array of shape ``(batch, channel * r * r, dim1, dim2)``.

    Raises:
        InvalidType: If dtype or shape does not fit.

    Example:
        >>> X = np.arange(24, dtype=np.float32).reshape(1, 1, 4, 6)
        >>> F.space2depth(X, 2).shape
        (1, 4, 2, 3)
    """
    return Space2Depth(r).apply((X,))[0]
