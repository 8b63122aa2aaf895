"""Two-dimensional convolution."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.argument import REMOVED_DETERMINISTIC, removed_arguments
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.connection._planar_convolution_nodes import (
    Convolution2DFunction as Convolution2DFunction,
)
from chainer.functions.connection._planar_convolution_nodes import (
    Convolution2DGradW as Convolution2DGradW,
)


@removed_arguments(deterministic=REMOVED_DETERMINISTIC)
def convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntPair = 1,
    pad: IntPair = 0,
    cover_all: bool = False,
    *,
    dilate: IntPair = 1,
    groups: int = 1,
    cudnn_fast: bool = False,
) -> Variable:
    r"""Two-dimensional convolution function.

    It computes correlations between filters and the patches of the input they are shifted over.
    Patches start at multiples of ``stride`` from position ``-pad``; positions outside the image
    count as zero. With

    - :math:`n` the batch size, :math:`c_I` and :math:`c_O` the numbers of input and output
    channels,
    - :math:`h_I, w_I` height and width of the input, :math:`h_K, w_K` of the filters,
    - :math:`h_P, w_P` the padding, :math:`s_Y, s_X` the stride,

    the output size is

    .. math::

        h_O &= (h_I + 2h_P - h_K) / s_Y + 1,\\
        w_O &= (w_I + 2w_P - w_K) / s_X + 1,

    rounded down, or rounded up if ``cover_all``. Dilation :math:`d` makes a filter
    :math:`h_K + (h_K - 1)(d - 1)` high.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c_I, h_I, w_I)`.
        W (:class:`~chainer.Variable` or array): Weight of shape
            :math:`(c_O, c_I / \mathrm{groups}, h_K, w_K)`.
        b (:class:`~chainer.Variable` or array): Bias of length :math:`c_O`, dtype of ``x``
            (optional).
        stride (int or pair of ints): Stride of filter applications. ``stride=s`` and
            ``stride=(s, s)`` are equivalent.
        pad (int or pair of ints): Spatial padding width.
        cover_all (bool): If True, all spatial locations are convoluted into some output pixels.
        dilate (int or pair of ints): Dilation factor of filter applications.
        groups (int): Number of groups of channels. Each group of output channels sees its group of
            input channels only; both channel numbers must be divisible by it.
        cudnn_fast (bool): Hint for GPUs that channels should be last in memory.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, h_O, w_O)` and the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the output would be empty (an AssertionError as well), or for the removed
            argument ``deterministic``.
        RuntimeError: If ``cudnn_fast`` is set for arrays that are not on a GPU.

    .. seealso:: :class:`~chainer.links.Convolution2D`

    Example:
        >>> x = np.random.uniform(0, 1, (10, 3, 30, 40)).astype(np.float32)
        >>> W = np.random.uniform(0, 1, (1, 3, 10, 10)).astype(np.float32)
        >>> b = np.random.uniform(0, 1, (1,)).astype(np.float32)
        >>> F.convolution_2d(x, W, b, stride=(5, 7), pad=(5, 5)).shape
        (10, 1, 7, 6)
        >>> F.convolution_2d(x, W, b, stride=(5, 7), pad=(5, 5), cover_all=True).shape
        (10, 1, 7, 7)
    """
    node = Convolution2DFunction(
        stride, pad, cover_all, dilate=dilate, groups=groups, cudnn_fast=cudnn_fast
    )
    return node.apply((x, W) if b is None else (x, W, b))[0]
