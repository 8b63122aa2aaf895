"""Two-dimensional convolution layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, Shape, VariableLike
from chainer.core.utils.argument import REMOVED_DETERMINISTIC, removed_arguments
from chainer.core.utils.conv import _pair as _pair
from chainer.functions.connection import convolution_2d
from chainer.links.connection._convolution import ConvolutionLink2D, given_params

if TYPE_CHECKING:
    from typing import Self


class Convolution2D(ConvolutionLink2D):
    """Two-dimensional convolutional layer.

    Wraps :func:`chainer.functions.convolution_2d` and holds the filter weight and bias as
    parameters.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            it is None or omitted. If it is omitted, give the arguments from ``stride`` on by
            keyword.
        out_channels (int): Number of channels of output arrays.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width for input arrays.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(out_channels, in_channels / groups, kh, kw)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_channels,)``.
        dilate (int or pair of ints): Dilation factor of filter applications.
        groups (int): Number of groups the channels are divided into, each convolved independently.

    Attributes:
        W (Parameter): Weight of shape ``(out_channels, in_channels / groups, kh, kw)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.

    Raises:
        ValueError: If ``groups`` does not divide the numbers of channels.

    Example:
        >>> x = np.arange(1 * 3 * 10 * 10, dtype=np.float32).reshape(1, 3, 10, 10)
        >>> L.Convolution2D(3, 7, 5)(x).shape
        (1, 7, 6, 6)
        >>> L.Convolution2D(7, 5)(x).shape
        (1, 7, 6, 6)
    """

    #: Whether the link computes in the memory layout of ``config.compute_mode == 'cudnn_fast'``.
    cudnn_fast: bool = False
    #: Memory layout of the input; None is the usual one.
    x_layout: int | None = None

    _spec_names = (
        *("in_channels", "out_channels", "ksize", "stride"),
        *("pad", "nobias", "dilate", "groups"),
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
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
        *,
        dilate: IntPair = 1,
        groups: int = 1,
    ) -> None:
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, initialW, initial_bias, dilate, groups)

    @classmethod
    def from_params(
        cls,
        W: VariableLike,
        b: VariableLike | None = None,
        stride: IntPair = 1,
        pad: IntPair = 0,
        nobias: bool = False,
        *,
        dilate: IntPair = 1,
        groups: int = 1,
    ) -> Self:
        """Creates a link whose parameters are copies of given arrays.

        Args:
            W (Variable or array): Weight of shape ``(out_channels, in_channels / groups, kh, kw)``.
            b (Variable or array): Bias of shape ``(out_channels,)``; zero by default.
            stride (int or pair of ints): Stride of filter applications.
            pad (int or pair of ints): Spatial padding width for input arrays.
            nobias (bool): Whether there is no bias, even if one is given.
            dilate (int or pair of ints): Dilation factor of filter applications.
            groups (int): Number of groups the channels are divided into.

        Returns:
            Convolution2D: The link; its parameters are of dtype ``chainer.config.dtype``.

        Raises:
            ValueError: If the shapes do not fit.
        """
        W, b = given_params(W, b, nobias, "out_channels")
        out_channels, channels, kh, kw = W.shape
        sizes = (channels * groups, out_channels, (kh, kw))
        return cls(*sizes, stride, pad, nobias, W, b, dilate=dilate, groups=groups)

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        return (self.out_channels, in_channels // self.groups, *ksize)

    def _apply(self, x: VariableLike) -> Variable:
        return convolution_2d.convolution_2d(
            x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups
        )
