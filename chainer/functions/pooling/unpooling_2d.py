"""Two-dimensional unpooling."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, Shape, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._spatial_dimensions import PlanarOutput
from chainer.functions.pooling._pooling import TwoDimensionalPooling
from chainer.functions.pooling.unpooling_nd import UnpoolingND


class Unpooling2D(PlanarOutput, TwoDimensionalPooling, UnpoolingND):
    """Two-dimensional unpooling: each element is copied to its whole window.

    Args:
        ksize (int or pair of ints): Size of a window.
        stride (int or pair of ints): Distance between windows; ``ksize`` if None.
        pad (int or pair of ints): Padding.
        outsize (pair of ints): Size of the output; estimated if None.
        cover_all (bool): Whether the windows cover each position of the output.
    """

    def __init__(
        self,
        ksize: IntPair,
        stride: IntPair | None = None,
        pad: IntPair = 0,
        outsize: IntPair | None = None,
        cover_all: bool = True,
    ) -> None:
        UnpoolingND.__init__(self, 2, ksize, stride, pad, outsize, cover_all)

    def _check_in_size(self, x_type: type_check.TypeInfo, expected: Shape) -> None:
        # One comparison for each dimension, so that the message names it.
        type_check.expect(x_type.shape[2] == expected[0], x_type.shape[3] == expected[1])


@explained_keywords
def unpooling_2d(
    x: VariableLike,
    ksize: IntPair,
    stride: IntPair | None = None,
    pad: IntPair = 0,
    outsize: IntPair | None = None,
    cover_all: bool = True,
) -> Variable:
    """Inverse operation of pooling for 2d array.

    It spreads each element over its window, like :func:`deconvolution_2d` without parameters. Where
    windows overlap, elements add up.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)``, floating point.
        ksize (int or pair of ints): Size of the pooling window.
        stride (int or pair of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or pair of ints): Spatial padding width.
        outsize (pair of ints or None): Expected output size (height, width). If None, it is
            estimated from the size of the input with :func:`~chainer.utils.get_deconv_outsize`.
        cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
            may be smaller than otherwise.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or shape do not fit; the pooling of ``outsize`` must have the size of
            ``x``.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.array([[[[1, 2], [3, 4]]]], np.float32)
        >>> F.unpooling_2d(x, 2, cover_all=False).array
        array([[[[1., 1., 2., 2.],
                 [1., 1., 2., 2.],
                 [3., 3., 4., 4.],
                 [3., 3., 4., 4.]]]], dtype=float32)
    """
    return Unpooling2D(ksize, stride, pad, outsize, cover_all).apply((x,))[0]
