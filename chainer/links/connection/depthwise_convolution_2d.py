"""Two-dimensional depthwise convolution layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import pair
from chainer.functions.connection import depthwise_convolution_2d
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels


class DepthwiseConvolution2D(Link):
    """Two-dimensional depthwise convolutional layer.

    Wraps :func:`chainer.functions.depthwise_convolution_2d` and holds the filter weight and bias as
    parameters.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        channel_multiplier (int): Number of filters of each channel; there are
            ``in_channels * channel_multiplier`` output channels.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width for input arrays.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(channel_multiplier, in_channels, kh, kw)``.
        initial_bias (initializer): Initializer of the bias; an array has shape
            ``(in_channels * channel_multiplier,)``.

    Attributes:
        W (Parameter): Weight of shape ``(channel_multiplier, in_channels, kh, kw)``.
        b (Parameter): Bias of shape ``(in_channels * channel_multiplier,)``; None without one.

    Example:
        >>> x = np.zeros((1, 3, 10, 10), np.float32)
        >>> L.DepthwiseConvolution2D(3, 2, 5)(x).shape
        (1, 6, 6, 6)
    """

    # Links restored from pickles of older releases lack the attribute.
    in_channels: int | None = None

    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: IntPair,
        stride: IntPair = 1,
        pad: IntPair = 0,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        self.ksize = ksize
        self.stride = pair(stride, "stride")
        self.pad = pair(pad, "pad", least=0)
        self.in_channels = in_channels
        self.channel_multiplier = channel_multiplier
        self.nobias = nobias
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            self.b = None if nobias else Parameter(get_initializer(initial_bias, default=0))
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels: int) -> None:
        # A loaded file may have initialized one of the two.
        if self.W.array is None:
            self.W.initialize((self.channel_multiplier, in_channels, *pair(self.ksize, "ksize")))
        if self.b is not None and self.b.array is None:
            self.b.initialize(self.channel_multiplier * in_channels)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        for name in ("in_channels", "channel_multiplier", "ksize", "stride", "pad", "nobias"):
            yield name, getattr(self, name)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the depthwise convolution layer.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, in_channels * channel_multiplier, oh, ow)``.
        """
        if self.W.array is None:
            self.in_channels = infer_channels(self, x, 4)
            self._initialize_params(self.in_channels)
        return depthwise_convolution_2d.depthwise_convolution_2d(
            x, self.W, self.b, self.stride, self.pad
        )
