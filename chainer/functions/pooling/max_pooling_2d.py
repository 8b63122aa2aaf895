"""Two-dimensional max pooling."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, IntPair, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.pooling._pooling import TwoDimensionalPooling
from chainer.functions.pooling.max_pooling_nd import MaxPoolingND, apply_max_pooling


class MaxPooling2D(TwoDimensionalPooling, MaxPoolingND):
    """Two-dimensional max pooling.

    Args:
        ksize (int or pair of ints): Size of a window.
        stride (int or pair of ints): Distance between windows; ``ksize`` if None.
        pad (int or pair of ints): Padding.
        cover_all (bool): Whether each position of the input is covered.
        return_indices (bool): Whether the positions of the maxima are found at once.
    """


@explained_keywords
def max_pooling_2d(
    x: VariableLike,
    ksize: IntPair,
    stride: IntPair | None = None,
    pad: IntPair = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, Array]:
    """Spatial max pooling function.

    It computes the maximum of each window of the image. Positions in the padding count as minus
    infinity. If an element is the first maximum of a window (in row-major order), the gradient of
    the window flows to it.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)``, floating point.
        ksize (int or pair of ints): Size of the pooling window. ``ksize=k`` and ``ksize=(k, k)``
            are equivalent.
        stride (int or pair of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or pair of ints): Spatial padding width.
        cover_all (bool): If True, all spatial locations are pooled into some output pixels. It may
            make the output size larger.
        return_indices (bool): If True, the pooling indices are returned as well, which
            :func:`~chainer.functions.upsampling_2d` takes: the position of the maximum within its
            window. No kernel of cuDNN is used then.

    Returns:
        ~chainer.Variable or tuple: The output, or the tuple of it and the array of indices.

    Raises:
        InvalidType: If dtype or number of dimensions do not fit.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> y, indices = F.max_pooling_2d(x, 2, return_indices=True)
        >>> y.array
        array([[[[ 6.,  8.],
                 [14., 16.]]]], dtype=float32)
        >>> indices
        array([[[[3, 3],
                 [3, 3]]]])
    """
    node = MaxPooling2D(ksize, stride, pad, cover_all, return_indices)
    return apply_max_pooling(node, x)
