"""Two-dimensional deconvolution layer."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, Shape, VariableLike
from chainer.core.utils.argument import REMOVED_DETERMINISTIC, removed_arguments
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import pair
from chainer.functions.connection import deconvolution_2d
from chainer.links.connection._convolution import ConvolutionLink2D


class Deconvolution2D(ConvolutionLink2D):
    """Two-dimensional deconvolution (transposed convolution) layer.

    Wraps :func:`chainer.functions.deconvolution_2d` and holds the filter weight and bias as
    parameters. By default the weight is drawn from a normal distribution of mean 0, whose standard
    deviation follows from the numbers of output channels and filter elements
    (:class:`~chainer.initializers.LeCunNormal` of the shape of ``W``), and the bias is zero.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            it is None or omitted. If it is omitted, give the arguments from ``stride`` on by
            keyword.
        out_channels (int): Number of channels of output arrays.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width, cut off the output.
        nobias (bool): Whether there is no bias.
        outsize (pair of ints): Height and width of the output; by default they follow from the
            size of the input, ``stride`` and ``pad``.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(in_channels, out_channels / groups, kh, kw)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_channels,)``.
        dilate (int or pair of ints): Dilation factor of filter applications.
        groups (int): Number of groups the channels are divided into.

    Attributes:
        W (Parameter): Weight of shape ``(in_channels, out_channels / groups, kh, kw)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.

    Raises:
        ValueError: If ``groups`` does not divide the numbers of channels.

    Example:
        >>> x = np.arange(1 * 3 * 10 * 10, dtype=np.float32).reshape(1, 3, 10, 10)
        >>> L.Deconvolution2D(3, 7, 4)(x).shape
        (1, 7, 13, 13)
        >>> L.Deconvolution2D(7, 4, stride=2, pad=1)(x).shape
        (1, 7, 20, 20)
    """

    _spec_names = (
        *("in_channels", "out_channels", "ksize", "stride"),
        *("pad", "nobias", "outsize", "dilate", "groups"),
    )

    @removed_arguments(deterministic=REMOVED_DETERMINISTIC)
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: IntPair | None = None,
        stride: IntPair = 1,
        pad: IntPair = 0,
        nobias: bool = False,
        outsize: IntPair | None = None,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
        *,
        dilate: IntPair = 1,
        groups: int = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, initialW, initial_bias, dilate, groups)
        # As in earlier releases the attribute is a pair in any case.
        self.outsize = (None, None) if outsize is None else pair(outsize, "outsize")

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        # A deconvolution is the gradient of a convolution, and has the weight of that convolution.
        return (in_channels, self.out_channels // self.groups, *ksize)

    def _apply(self, x: VariableLike) -> Variable:
        height, width = self.outsize
        outsize = None if height is None or width is None else (height, width)
        return deconvolution_2d.deconvolution_2d(
            *(x, self.W, self.b, self.stride, self.pad),
            outsize,
            dilate=self.dilate,
            groups=self.groups,
        )
