"""Deconvolution in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.typing import IntTuple, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._fixed_dimensions import convolution_sections, fixed_dimensions
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.connection._convolution_nodes import DeconvolutionND as DeconvolutionND


@explained_keywords
def deconvolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntTuple = 1,
    pad: IntTuple = 0,
    outsize: tuple[int, ...] | None = None,
    dilate: IntTuple = 1,
    groups: int = 1,
) -> Variable:
    r"""N-dimensional deconvolution function.

    The generalization of :func:`deconvolution_2d` to :math:`N` spatial dimensions. Without
    ``outsize`` the output size is

    .. math::

        l_i = s_i (d_i - 1) + k_i - 2 p_i.

    Otherwise the given size must satisfy
    :math:`d_i = \lfloor (l_i + 2p_i - k_i) / s_i \rfloor + 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c_I, d_1, ..., d_N)`.
        W (:class:`~chainer.Variable` or array): Weight of shape
            :math:`(c_I, c_O / \mathrm{groups}, k_1, ..., k_N)`.
        b (:class:`~chainer.Variable` or array): Bias of length :math:`c_O`, dtype of ``x``
            (optional).
        stride (int or tuple of ints): Stride of filter applications.
        pad (int or tuple of ints): Spatial padding width of the output.
        outsize (tuple of ints): Expected output size :math:`(l_1, ..., l_N)`.
        dilate (int or tuple of ints): Dilation factor of filter applications.
        groups (int): Number of groups of channels.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, l_1, ..., l_N)` and the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, ``outsize`` included.
        ValueError: If the output would be empty.

    .. seealso:: :class:`~chainer.links.DeconvolutionND`

    Example:
        >>> x = np.random.uniform(0, 1, (2, 3, 5, 6, 7)).astype(np.float32)
        >>> W = np.random.uniform(0, 1, (3, 1, 10, 10, 10)).astype(np.float32)
        >>> F.deconvolution_nd(x, W, stride=(2, 4, 6), pad=5).shape
        (2, 1, 8, 20, 36)
        >>> F.deconvolution_nd(x, W, stride=(2, 4, 6), pad=5, outsize=(9, 22, 39)).shape
        (2, 1, 9, 22, 39)
    """
    node = DeconvolutionND(len(shape_of(x)) - 2, stride, pad, outsize, dilate, groups)
    return node.apply((x, W) if b is None else (x, W, b))[0]


#: Texts about arguments and results, for the docstrings of the functions below.
_TEXTS = {
    "weight": "c_I, c_O / groups",
    "of": " of the output",
    "own": "outsize (tuple of $ints): Expected output size ``($sizes)``.",
    "outsize": ", ``outsize`` included",
}


@fixed_dimensions(deconvolution_nd, 1, convolution_sections, **_TEXTS)
@explained_keywords
def deconvolution_1d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """One-dimensional deconvolution function: :func:`deconvolution_nd` for one spatial axis.

    Example:
        >>> x = np.array([[[1, 2]]], np.float32)
        >>> F.deconvolution_1d(x, np.ones((1, 1, 3), np.float32), stride=2)
        variable([[[1., 1., 3., 2., 2.]]])
    """
    check_spatial_ndim(x, 1)
    return deconvolution_nd(x, *args, **kwargs)


@fixed_dimensions(deconvolution_nd, 3, convolution_sections, **_TEXTS)
@explained_keywords
def deconvolution_3d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """Three-dimensional deconvolution function: :func:`deconvolution_nd` for three spatial axes.

    Example:
        >>> x = np.ones((2, 3, 5, 6, 7), np.float32)
        >>> W = np.ones((3, 1, 10, 10, 10), np.float32)
        >>> F.deconvolution_3d(x, W, stride=(2, 4, 6), pad=5).shape
        (2, 1, 8, 20, 36)
    """
    check_spatial_ndim(x, 3)
    return deconvolution_nd(x, *args, **kwargs)
