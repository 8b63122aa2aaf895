"""Two-dimensional dilated convolution layer."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, Shape, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.connection import dilated_convolution_2d
from chainer.links.connection._convolution import ConvolutionLink2D


class DilatedConvolution2D(ConvolutionLink2D):
    """Two-dimensional dilated convolutional layer.

    Wraps :func:`chainer.functions.dilated_convolution_2d` and holds the filter weight and bias as
    parameters. :class:`~chainer.links.Convolution2D` with an argument ``dilate`` does the same.

    Takes the same arguments as :class:`~chainer.links.Convolution2D`, but ``dilate`` (int or pair
    of ints, the dilation factor of filter applications) follows ``pad``, and there are no groups.

    Attributes:
        W (Parameter): Weight of shape ``(out_channels, in_channels, kh, kw)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.

    Example:
        >>> x = np.arange(1 * 3 * 10 * 10, dtype=np.float32).reshape(1, 3, 10, 10)
        >>> L.DilatedConvolution2D(3, 7, 5)(x).shape
        (1, 7, 6, 6)
        >>> L.DilatedConvolution2D(7, 5, stride=1, pad=0, dilate=2)(x).shape
        (1, 7, 2, 2)
    """

    _spec_names = (
        *("in_channels", "out_channels", "ksize", "stride"),
        *("pad", "dilate", "nobias"),
    )

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: IntPair | None = None,
        stride: IntPair = 1,
        pad: IntPair = 0,
        dilate: IntPair = 1,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, initialW, initial_bias, dilate)

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        return (self.out_channels, in_channels, *ksize)

    def _apply(self, x: VariableLike) -> Variable:
        return dilated_convolution_2d.dilated_convolution_2d(
            x, self.W, self.b, self.stride, self.pad, self.dilate
        )
