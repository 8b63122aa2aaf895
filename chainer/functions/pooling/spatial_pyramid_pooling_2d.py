"""Spatial pyramid pooling."""

from __future__ import annotations

import math
import warnings

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.pooling.max_pooling_2d import MaxPooling2D


def spatial_pyramid_pooling_2d(
    x: VariableLike,
    pyramid_height: int,
    pooling_class: type[MaxPooling2D] | str | None = None,
    pooling: str | None = None,
) -> Variable:
    r"""Spatial pyramid pooling function.

    It outputs vectors of a fixed length regardless of the size of the feature maps: they are pooled
    into :math:`2^i \times 2^i` windows at each level :math:`i` of the pyramid, and the results are
    concatenated. With input height :math:`b_h`, windows and padding of level :math:`i` are

    .. math::

        k_h^{(i)} &= \lceil b_h / 2^i \rceil, \\
        p_h^{(i)} &= (2^i k_h^{(i)} - b_h) / 2,

    and the same for the width. See `Spatial Pyramid Pooling in Deep Convolutional Networks for
    Visual Recognition <https://arxiv.org/abs/1406.4729>`_.

    Args:
        x (~chainer.Variable or array): Input of shape (batch size, channels, height, width).
        pyramid_height (int): Number of pyramid levels :math:`H`.
        pooling_class (MaxPooling2D): Deprecated since v4; use ``pooling``. In release 7 this is the
            position of ``pooling``, so a string given here is used as ``pooling``.
        pooling (str): Only ``max`` is supported.

    Returns:
        ~chainer.Variable: Output of shape :math:`(batchsize, c \sum_{h=0}^{H-1} 2^{2h}, 1, 1)`.

    Raises:
        ValueError: If not exactly one of ``pooling`` and ``pooling_class`` is given, or for another
            operation, or if ``x`` does not have four dimensions.

    Example:
        >>> x = np.zeros((2, 3, 7, 9), np.float32)
        >>> F.spatial_pyramid_pooling_2d(x, 3, pooling='max').shape
        (2, 63, 1, 1)
    """
    if isinstance(pooling_class, str):
        pooling, pooling_class = pooling_class, None
    if (pooling is None) == (pooling_class is None):
        raise ValueError(
            "Specify the pooling operation either using the pooling_class or the pooling argument."
        )
    if pooling_class is not None:
        warnings.warn(
            "pooling_class argument is deprecated. Please use the pooling argument.",
            DeprecationWarning,
            stacklevel=2,
        )
        if pooling_class is not MaxPooling2D:
            raise ValueError(f"Unsupported pooling operation: {pooling_class}")
    elif pooling != "max":
        raise ValueError(f"Unsupported pooling operation: {pooling}")
    if len(x.shape) != 4:
        raise ValueError(f"x must have four dimensions, got shape {x.shape}")
    height, width = x.shape[2:]
    levels: list[Variable] = []
    for level in range(pyramid_height):
        # Windows of level i divide each axis into 2 ** i parts, with padding if need be.
        count = 2**level
        ksize = math.ceil(height / count), math.ceil(width / count)
        pad = (count * ksize[0] - height) // 2, (count * ksize[1] - width) // 2
        y = MaxPooling2D(ksize, None, pad, cover_all=True).apply((x,))[0]
        batch, channels, y_height, y_width = y.shape
        levels.append(reshape(y, (batch, channels * y_height * y_width, 1, 1)))
    return concat(levels)
