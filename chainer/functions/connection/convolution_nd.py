"""Convolution in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.typing import IntTuple, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._fixed_dimensions import convolution_sections, fixed_dimensions
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.connection._convolution_nodes import ConvolutionND as ConvolutionND
from chainer.functions.connection._convolution_nodes import ConvolutionNDGradW as ConvolutionNDGradW


@explained_keywords
def convolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntTuple = 1,
    pad: IntTuple = 0,
    cover_all: bool = False,
    dilate: IntTuple = 1,
    groups: int = 1,
) -> Variable:
    r"""N-dimensional convolution function.

    The generalization of :func:`convolution_2d` to :math:`N` spatial dimensions of input size
    :math:`d_i`, filter size :math:`k_i`, padding :math:`p_i` and stride :math:`s_i`. The output
    size is

    .. math::

        l_i = (d_i + 2p_i - k_i) / s_i + 1,

    rounded down, or rounded up if ``cover_all``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c_I, d_1, ..., d_N)`.
        W (:class:`~chainer.Variable` or array): Weight of shape
            :math:`(c_O, c_I / \mathrm{groups}, k_1, ..., k_N)`.
        b (:class:`~chainer.Variable` or array): Bias of length :math:`c_O`, dtype of ``x``
            (optional).
        stride (int or tuple of ints): Stride of filter applications. ``stride=s`` is equivalent to
            ``(s, s, ..., s)``.
        pad (int or tuple of ints): Spatial padding width.
        cover_all (bool): If True, all spatial locations are convoluted into some output pixels.
        dilate (int or tuple of ints): Dilation factor of filter applications.
        groups (int): Number of groups of channels.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, l_1, ..., l_N)` and the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the output would be empty.

    .. seealso:: :class:`~chainer.links.ConvolutionND`

    Example:
        >>> x = np.random.uniform(0, 1, (2, 3, 10, 11, 12)).astype(np.float32)
        >>> W = np.random.uniform(0, 1, (1, 3, 4, 4, 4)).astype(np.float32)
        >>> F.convolution_nd(x, W, stride=(1, 2, 3), pad=(2, 1, 0)).shape
        (2, 1, 11, 5, 3)
    """
    node = ConvolutionND(len(shape_of(x)) - 2, stride, pad, cover_all, dilate, groups)
    return node.apply((x, W) if b is None else (x, W, b))[0]


#: Texts about arguments and results, for the docstrings of the functions below.
_TEXTS = {
    "weight": "c_O, c_I / groups",
    "own": "cover_all (bool): If True, all spatial locations are convoluted into some output "
    "pixels.",
}


@fixed_dimensions(convolution_nd, 1, convolution_sections, **_TEXTS)
@explained_keywords
def convolution_1d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """One-dimensional convolution function: :func:`convolution_nd` for one spatial axis.

    Example:
        >>> x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
        >>> F.convolution_1d(x, np.ones((1, 2, 2), np.float32))
        variable([[[ 8., 12.]]])
    """
    check_spatial_ndim(x, 1)
    return convolution_nd(x, *args, **kwargs)


@fixed_dimensions(convolution_nd, 3, convolution_sections, **_TEXTS)
@explained_keywords
def convolution_3d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """Three-dimensional convolution function: :func:`convolution_nd` for three spatial axes.

    Example:
        >>> x = np.ones((2, 3, 10, 11, 12), np.float32)
        >>> W = np.ones((1, 3, 4, 4, 4), np.float32)
        >>> F.convolution_3d(x, W, stride=(1, 2, 3), pad=(2, 1, 0)).shape
        (2, 1, 11, 5, 3)
    """
    check_spatial_ndim(x, 3)
    return convolution_nd(x, *args, **kwargs)
