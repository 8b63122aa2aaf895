"""N-dimensional deconvolution layers."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntTuple, Shape, VariableLike
from chainer.core.utils.conv import as_sizes
from chainer.functions.connection import deconvolution_nd
from chainer.links.connection._convolution import ConvolutionLink, without_ndim


class DeconvolutionND(ConvolutionLink):
    """N-dimensional deconvolution (transposed convolution) layer.

    Wraps :func:`chainer.functions.deconvolution_nd` and holds the filter weight and bias as
    parameters.

    Args:
        ndim (int): Number of spatial dimensions.
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            it is None or omitted. If it is omitted, give the arguments from ``stride`` on by
            keyword.
        out_channels (int): Number of channels of output arrays.
        ksize (int or tuple of ints): Size of filters (a.k.a. kernels).
        stride (int or tuple of ints): Stride of filter applications.
        pad (int or tuple of ints): Spatial padding width, cut off the output.
        nobias (bool): Whether there is no bias.
        outsize (tuple of ints): Size of each dimension of the output; by default it follows from
            the size of the input, ``stride`` and ``pad``.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(in_channels, out_channels / groups, k_1, ..., k_N)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_channels,)``.
        dilate (int or tuple of ints): Dilation factor of filter applications.
        groups (int): Number of groups the channels are divided into.

    Attributes:
        W (Parameter): Weight of shape ``(in_channels, out_channels / groups, k_1, ..., k_N)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.

    Raises:
        ValueError: If a size does not have ``ndim`` elements, or ``groups`` does not divide the
            numbers of channels.

    Example:
        >>> x = np.zeros((2, 3, 8), np.float32)
        >>> L.DeconvolutionND(1, 3, 7, ksize=4)(x).shape
        (2, 7, 11)
    """

    _spec_names = (
        *("ndim", "in_channels", "out_channels", "ksize", "stride"),
        *("pad", "nobias", "outsize", "dilate", "groups"),
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
        outsize: IntTuple | None = None,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(ndim, *sizes, nobias, initialW, initial_bias, dilate, groups)
        # With None, each call computes it from the size of its input.
        self.outsize = None if outsize is None else as_sizes(outsize, ndim, "outsize")

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        # A deconvolution is the gradient of a convolution, and has the weight of that convolution.
        return (in_channels, self.out_channels // self.groups, *ksize)

    def _apply(self, x: VariableLike) -> Variable:
        return deconvolution_nd.deconvolution_nd(
            *(x, self.W, self.b, self.stride, self.pad),
            outsize=self.outsize,
            dilate=self.dilate,
            groups=self.groups,
        )


class Deconvolution1D(DeconvolutionND):
    """One-dimensional deconvolution layer.

    Takes the same arguments as :class:`~chainer.links.DeconvolutionND`, without ``ndim``.

    Example:
        >>> L.Deconvolution1D(3, 7, 4)(np.zeros((2, 3, 8), np.float32)).shape
        (2, 7, 11)
    """

    __init__ = without_ndim(DeconvolutionND.__init__, 1)  # type: ignore[assignment]


class Deconvolution3D(DeconvolutionND):
    """Three-dimensional deconvolution layer.

    Takes the same arguments as :class:`~chainer.links.DeconvolutionND`, without ``ndim``.

    Example:
        >>> L.Deconvolution3D(3, 7, 2, stride=2)(np.zeros((2, 3, 4, 4, 4), np.float32)).shape
        (2, 7, 8, 8, 8)
    """

    __init__ = without_ndim(DeconvolutionND.__init__, 3)  # type: ignore[assignment]
