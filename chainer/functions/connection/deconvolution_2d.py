"""Two-dimensional deconvolution."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.argument import parse_kwargs
from chainer.core.utils.conv import pair
from chainer.functions.connection._convolution import (
    DeconvolutionBase,
    Geometry,
    as_outsize,
    check_deconvolution_types,
)
from chainer.functions.connection.convolution_2d import (
    REMOVED_DETERMINISTIC,
    Convolution2DFunction,
    Convolution2DGradW,
)


class Deconvolution2DFunction(DeconvolutionBase):
    """Two-dimensional deconvolution.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
        outsize (pair of ints): Size of the output; computed if None.
        dilate (int or pair of ints): Dilation.
        groups (int): Number of groups of channels.
    """

    type_check_key = ("outsize", "_windows")

    def __init__(
        self,
        stride: Any = 1,
        pad: Any = 0,
        outsize: Any = None,
        *,
        dilate: Any = 1,
        groups: int = 1,
    ) -> None:
        geometry = Geometry(
            pair(stride, "stride"), pair(pad, "pad", least=0), pair(dilate, "dilate"), groups
        )
        self._setup(geometry, None if outsize is None else as_outsize(outsize, 2))

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_deconvolution_types(in_types, 4, self.geometry, self.outsize)

    def _check_out_size(self, out_size: tuple[int, ...]) -> None:
        for name, size in zip(("Height", "Width"), out_size, strict=True):
            if size <= 0:
                raise RuntimeError(f"{name} in the output must be positive. Actual: {size}")

    def convolution_class(self) -> Any:
        return Convolution2DFunction

    def weight_gradient_class(self) -> Any:
        return Convolution2DGradW


def deconvolution_2d(
    x: Any,
    W: Any,
    b: Any = None,
    stride: Any = 1,
    pad: Any = 0,
    outsize: Any = None,
    **kwargs: Any,
) -> Variable:
    r"""deconvolution_2d(x, W, b=None, stride=1, pad=0, outsize=None, *, dilate=1, groups=1)

    Two-dimensional deconvolution function.

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
    dilate: Any = 1
    groups: int = 1
    if kwargs:
        dilate, groups = parse_kwargs(
            kwargs, ("dilate", 1), ("groups", 1), deterministic=REMOVED_DETERMINISTIC
        )
    node = Deconvolution2DFunction(stride, pad, outsize, dilate=dilate, groups=groups)
    return node.apply((x, W) if b is None else (x, W, b))[0]
