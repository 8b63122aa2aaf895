"""Two-dimensional dilated convolution."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.connection.convolution_2d import convolution_2d


@explained_keywords
def dilated_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntPair = 1,
    pad: IntPair = 0,
    dilate: IntPair = 1,
    cover_all: bool = False,
) -> Variable:
    r"""Two-dimensional dilated convolution function.

    The same as :func:`convolution_2d` with its argument ``dilate``: the elements of a patch are
    ``dilate`` positions apart. With :math:`h` and :math:`w` the size of the input the output size
    is

    .. math::

        h_O &= (h + 2p_H - k_H - (k_H - 1) * (d_Y - 1)) / s_Y + 1,\\
        w_O &= (w + 2p_W - k_W - (k_W - 1) * (d_X - 1)) / s_X + 1.

    Args:
        x (~chainer.Variable or array): Input of shape :math:`(n, c_I, h, w)`.
        W (~chainer.Variable or array): Weight of shape :math:`(c_O, c_I, k_H, k_W)`.
        b (~chainer.Variable or array): Bias of length :math:`c_O` (optional).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width.
        dilate (int or pair of ints): Dilation factor of filter applications.
        cover_all (bool): If True, all spatial locations are convoluted into some output pixels.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, h_O, w_O)`.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.ones((1, 1, 7, 7), np.float32)
        >>> W = np.ones((1, 1, 3, 3), np.float32)
        >>> F.dilated_convolution_2d(x, W, dilate=2).shape
        (1, 1, 3, 3)
    """
    return convolution_2d(x, W, b, stride, pad, cover_all, dilate=dilate)
