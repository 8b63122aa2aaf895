"""N-dimensional convolution layers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ClassVar

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntTuple, Shape, VariableLike
from chainer.functions.connection import convolution_nd
from chainer.links.connection._convolution import ConvolutionLink, given_params, without_ndim

if TYPE_CHECKING:
    from typing import Self


class ConvolutionND(ConvolutionLink):
    """N-dimensional convolution layer.

    Wraps :func:`chainer.functions.convolution_nd` and holds the filter weight and bias as
    parameters.

    Args:
        ndim (int): Number of spatial dimensions.
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            it is None or omitted. If it is omitted, give the arguments from ``stride`` on by
            keyword.
        out_channels (int): Number of channels of output arrays.
        ksize (int or tuple of ints): Size of filters (a.k.a. kernels).
        stride (int or tuple of ints): Stride of filter applications.
        pad (int or tuple of ints): Spatial padding width for input arrays.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(out_channels, in_channels / groups, k_1, ..., k_N)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_channels,)``.
        cover_all (bool): Whether all spatial locations are convoluted into some output pixels,
            which may make the output larger.
        dilate (int or tuple of ints): Dilation factor of filter applications.
        groups (int): Number of groups the channels are divided into.

    Attributes:
        W (Parameter): Weight of shape ``(out_channels, in_channels / groups, k_1, ..., k_N)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.

    Raises:
        ValueError: If a size does not have ``ndim`` elements, or ``groups`` does not divide the
            numbers of channels.

    Example:
        >>> x = np.zeros((2, 3, 8), np.float32)
        >>> L.ConvolutionND(1, 3, 7, ksize=4)(x).shape
        (2, 7, 5)
    """

    cover_all: bool = False

    #: Number of spatial dimensions of a subclass that has no argument ``ndim``.
    _fixed_ndim: ClassVar[int | None] = None
    _spec_names = (
        *("ndim", "in_channels", "out_channels", "ksize", "stride"),
        *("pad", "nobias", "cover_all", "dilate", "groups"),
    )

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: IntTuple | None = None,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
        cover_all: bool = False,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(ndim, *sizes, nobias, initialW, initial_bias, dilate, groups)
        self.cover_all = cover_all

    @classmethod
    def from_params(
        cls,
        W: VariableLike,
        b: VariableLike | None = None,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        nobias: bool = False,
        *,
        cover_all: bool = False,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> Self:
        """Creates a link whose parameters are copies of given arrays.

        Args:
            W (Variable or array): Weight of shape
                ``(out_channels, in_channels / groups, k_1, ..., k_N)``.
            b (Variable or array): Bias of shape ``(out_channels,)``; zero by default.
            stride (int or tuple of ints): Stride of filter applications.
            pad (int or tuple of ints): Spatial padding width for input arrays.
            nobias (bool): Whether there is no bias, even if one is given.
            cover_all (bool): Whether all spatial locations are convoluted into some output pixels.
            dilate (int or tuple of ints): Dilation factor of filter applications.
            groups (int): Number of groups the channels are divided into.

        Returns:
            ConvolutionND: The link; its parameters are of dtype ``chainer.config.dtype``.

        Raises:
            ValueError: If the shapes do not fit.
        """
        W, b = given_params(W, b, nobias, "out_channels")
        out_channels, channels, *ksize = W.shape
        if cls._fixed_ndim not in (None, len(ksize)):
            raise ValueError(
                f"W must have {cls._fixed_ndim} spatial dimensions, got shape {W.shape}"
            )
        # A class with a fixed number of dimensions has no argument for it.
        create = cls if cls._fixed_ndim is not None else functools.partial(cls, len(ksize))
        sizes = (channels * groups, out_channels, tuple(ksize))
        return create(*sizes, stride, pad, nobias, W, b, cover_all, dilate, groups)  # type: ignore[arg-type]

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        # A group reads its own share of the input channels.
        return (self.out_channels, in_channels // self.groups, *ksize)

    def _apply(self, x: VariableLike) -> Variable:
        return convolution_nd.convolution_nd(
            *(x, self.W, self.b, self.stride, self.pad),
            cover_all=self.cover_all,
            dilate=self.dilate,
            groups=self.groups,
        )


class Convolution1D(ConvolutionND):
    """One-dimensional convolution layer.

    Takes the same arguments as :class:`~chainer.links.ConvolutionND`, without ``ndim``.

    Example:
        >>> L.Convolution1D(3, 7, 4)(np.zeros((2, 3, 8), np.float32)).shape
        (2, 7, 5)
    """

    _fixed_ndim = 1
    __init__ = without_ndim(ConvolutionND.__init__, 1)  # type: ignore[assignment]


class Convolution3D(ConvolutionND):
    """Three-dimensional convolution layer.

    Takes the same arguments as :class:`~chainer.links.ConvolutionND`, without ``ndim``.

    Example:
        >>> L.Convolution3D(3, 7, 2, pad=1)(np.zeros((2, 3, 4, 4, 4), np.float32)).shape
        (2, 7, 5, 5, 5)
    """

    _fixed_ndim = 3
    __init__ = without_ndim(ConvolutionND.__init__, 3)  # type: ignore[assignment]
