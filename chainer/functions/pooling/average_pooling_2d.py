"""Two-dimensional average pooling."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.pooling._pooling import TwoDimensionalPooling
from chainer.functions.pooling.average_pooling_nd import AveragePoolingND


class AveragePooling2D(TwoDimensionalPooling, AveragePoolingND):
    """Two-dimensional average pooling.

    Args:
        ksize (int or pair of ints): Size of a window.
        stride (int or pair of ints): Distance between windows; ``ksize`` if None.
        pad (int or pair of ints): Padding, which counts as zeros.
        cover_all (bool): Whether each position of the input is covered.
        return_indices (bool): Without effect; an argument of all two-dimensional poolings.
    """

    def __init__(
        self,
        ksize: IntPair,
        stride: IntPair | None = None,
        pad: IntPair = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        AveragePoolingND.__init__(self, 2, ksize, stride, pad, cover_all)
        self.return_indices = return_indices


@explained_keywords
def average_pooling_2d(
    x: VariableLike, ksize: IntPair, stride: IntPair | None = None, pad: IntPair = 0
) -> Variable:
    """Spatial average pooling function.

    It computes the mean of each window of the image. Positions in the padding count as zeros.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)``, floating point.
        ksize (int or pair of ints): Size of the pooling window. ``ksize=k`` and ``ksize=(k, k)``
            are equivalent.
        stride (int or pair of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or pair of ints): Spatial padding width.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or number of dimensions do not fit.
        ValueError: If the output would be empty.

    .. note:: There is no ``cover_all`` mode as in :func:`max_pooling_2d`.

    Example:
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> F.average_pooling_2d(x, 2).array
        array([[[[ 2.5,  4.5],
                 [10.5, 12.5]]]], dtype=float32)
    """
    return AveragePooling2D(ksize, stride, pad, False).apply((x,))[0]
