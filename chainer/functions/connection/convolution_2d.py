"""Two-dimensional convolution."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.argument import parse_kwargs
from chainer.core.utils.conv import pair
from chainer.functions.connection._convolution import (
    ConvolutionBase,
    Geometry,
    WeightGradientBase,
    check_convolution_types,
)

REMOVED_DETERMINISTIC = (
    "deterministic argument is not supported anymore. "
    "Use chainer.using_config('cudnn_deterministic', value) "
    "context where value is either `True` or `False`."
)


class Convolution2DFunction(ConvolutionBase):
    """Two-dimensional convolution.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
        cover_all (bool): Whether each position of the input is covered.
        dilate (int or pair of ints): Dilation.
        groups (int): Number of groups of channels.
    """

    type_check_key = ("groups",)

    def __init__(
        self,
        stride: Any = 1,
        pad: Any = 0,
        cover_all: bool = False,
        *,
        dilate: Any = 1,
        groups: int = 1,
    ) -> None:
        geometry = Geometry(
            pair(stride, "stride"), pair(pad, "pad", least=0), pair(dilate, "dilate"), groups
        )
        self._setup(geometry, cover_all)

    @property
    def sy(self) -> int:
        """Vertical stride."""
        return self.geometry.stride[0]

    @property
    def sx(self) -> int:
        """Horizontal stride."""
        return self.geometry.stride[1]

    @property
    def ph(self) -> int:
        """Vertical padding."""
        return self.geometry.pad[0]

    @property
    def pw(self) -> int:
        """Horizontal padding."""
        return self.geometry.pad[1]

    @property
    def dy(self) -> int:
        """Vertical dilation."""
        return self.geometry.dilate[0]

    @property
    def dx(self) -> int:
        """Horizontal dilation."""
        return self.geometry.dilate[1]

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_convolution_types(in_types, 4, self.groups)

    def _check_out_size(self, out_size: tuple[int, ...]) -> None:
        for name, size in zip(("Height", "Width"), out_size, strict=True):
            if size <= 0:
                raise ValueError(f"{name} in the output should be positive. Actual: {size}")

    def deconvolution_class(self) -> Any:
        from chainer.functions.connection.deconvolution_2d import Deconvolution2DFunction

        return Deconvolution2DFunction

    def weight_gradient_class(self) -> Any:
        return Convolution2DGradW


class Convolution2DGradW(WeightGradientBase):
    """Gradient of a two-dimensional convolution w.r.t. its weight."""

    def convolution_class(self) -> Any:
        return Convolution2DFunction

    def deconvolution_class(self) -> Any:
        from chainer.functions.connection.deconvolution_2d import Deconvolution2DFunction

        return Deconvolution2DFunction


def convolution_2d(
    x: Any,
    W: Any,
    b: Any = None,
    stride: Any = 1,
    pad: Any = 0,
    cover_all: bool = False,
    **kwargs: Any,
) -> Variable:
    r"""convolution_2d(x, W, b=None, stride=1, pad=0, cover_all=False, *, dilate=1, groups=1)

    Two-dimensional convolution function.

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

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, h_O, w_O)` and the dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the output would be empty, or for the removed argument ``deterministic``.

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
    dilate: Any = 1
    groups: int = 1
    if kwargs:
        dilate, groups = parse_kwargs(
            kwargs, ("dilate", 1), ("groups", 1), deterministic=REMOVED_DETERMINISTIC
        )
    node = Convolution2DFunction(stride, pad, cover_all, dilate=dilate, groups=groups)
    return node.apply((x, W) if b is None else (x, W, b))[0]
