"""Two-dimensional deconvolution."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntPair, VariableLike
from chainer.core.utils.argument import REMOVED_DETERMINISTIC, removed_arguments
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.connection._planar_convolution_nodes import (
    Deconvolution2DFunction as Deconvolution2DFunction,
)


@removed_arguments(deterministic=REMOVED_DETERMINISTIC)
def deconvolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntPair = 1,
    pad: IntPair = 0,
    outsize: tuple[int, int] | None = None,
    *,
    dilate: IntPair = 1,
    groups: int = 1,
) -> Variable:
    r"""Two-dimensional deconvolution function.

    It is the transpose of :func:`convolution_2d` (elsewhere called transposed convolution; the name
    comes from `Deconvolutional Networks
    <http://www.matthewzeiler.com/pubs/cvpr2010/cvpr2010.pdf>`_). Without ``outsize`` the output
    size is

    .. math::

        h_O &= s_Y (h_I - 1) + h_K - 2h_P,\\
        w_O &= s_X (w_I - 1) + w_K - 2w_P.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c_I, h_I, w_I)`.
        W (:class:`~chainer.Variable` or array): Weight of shape
            :math:`(c_I, c_O / \mathrm{groups}, h_K, w_K)`.
        b (:class:`~chainer.Variable` or array): Bias of length :math:`c_O`, dtype of ``x``
            (optional).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width of the output.
        outsize (pair of ints): Expected output size :math:`(h_O, w_O)`, one whose convolution has
            the size of the input.
        dilate (int or pair of ints): Dilation factor of filter applications.
        groups (int): Number of groups of channels.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, h_O, w_O)` and the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, ``outsize`` included.
        RuntimeError: If the output would be empty.
        ValueError: For the removed argument ``deterministic``.

    .. seealso:: :class:`~chainer.links.Deconvolution2D`

    Example:
        >>> x = np.random.uniform(0, 1, (10, 1, 5, 10)).astype(np.float32)
        >>> W = np.random.uniform(0, 1, (1, 3, 10, 10)).astype(np.float32)
        >>> b = np.random.uniform(0, 1, 3).astype(np.float32)
        >>> F.deconvolution_2d(x, W, b, stride=5, pad=5).shape
        (10, 3, 20, 45)
    """
    node = Deconvolution2DFunction(stride, pad, outsize, dilate=dilate, groups=groups)
    return node.apply((x, W) if b is None else (x, W, b))[0]
