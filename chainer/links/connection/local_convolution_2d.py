"""Two-dimensional local convolution layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, IntTuple, Shape, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import get_conv_outsize, pair
from chainer.functions.connection import local_convolution_2d
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels


class LocalConvolution2D(Link):
    """Two-dimensional local convolutional layer: a convolution whose weights are not shared.

    Wraps :func:`chainer.functions.local_convolution_2d` and holds the filter weight and bias as
    parameters, of each output position.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        out_channels (int): Number of channels of output arrays.
        in_size (int or pair of ints): Height and width of input arrays; inferred at the
            first call if None.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has the shape of ``W``.
        initial_bias (initializer): Initializer of the bias; an array has the shape of ``b``.

    Attributes:
        W (Parameter): Weight of shape ``(out_channels, oh, ow, in_channels, kh, kw)``.
        b (Parameter): Bias of shape ``(out_channels, oh, ow)``; None without one.

    Example:
        >>> x = np.zeros((1, 3, 10, 10), np.float32)
        >>> L.LocalConvolution2D(3, 7, 10, 5)(x).shape
        (1, 7, 6, 6)
        >>> L.LocalConvolution2D(None, 7, ksize=5)(x).shape
        (1, 7, 6, 6)
    """

    # Links restored from pickles of older releases lack these.
    in_channels: int | None = None
    in_size: IntTuple | None = None

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        in_size: IntPair | None = None,
        ksize: IntPair | None = None,
        stride: IntPair = 1,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        if ksize is None:
            raise TypeError("LocalConvolution2D needs the size of the filters: ksize")
        super().__init__()
        self.ksize = ksize
        self.stride = pair(stride, "stride")
        self.nobias = nobias
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.in_size = in_size
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            self.b = None if nobias else Parameter(get_initializer(initial_bias, default=0))
        if in_channels is not None and in_size is not None:
            self._initialize_params(in_channels, pair(in_size, "in_size"))

    def _initialize_params(self, in_channels: int, in_size: Shape) -> None:
        ksize = pair(self.ksize, "ksize")
        out = tuple(
            get_conv_outsize(size, k, s, 0) for size, k, s in zip(in_size, ksize, self.stride)
        )
        if self.W.array is None:
            self.W.initialize((self.out_channels, *out, in_channels, *ksize))
        if self.b is not None and self.b.array is None:
            self.b.initialize((self.out_channels, *out))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        for name in ("in_channels", "out_channels", "in_size", "ksize", "stride", "nobias"):
            yield name, getattr(self, name)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the local convolution layer.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, oh, ow)``.
        """
        # Each output pixel has its own filter, so the weight depends on the size of the image, too.
        if self.W.array is None:
            in_channels = infer_channels(self, x, 4)
            self._initialize_params(in_channels, x.shape[2:])
            self.in_channels, self.in_size = in_channels, x.shape[2:]
        return local_convolution_2d.local_convolution_2d(x, self.W, self.b, self.stride)


def _conv_output_length(  # pyright: ignore[reportUnusedFunction]
    input_length: int, filter_size: int, stride: int
) -> int:
    """Returns the length of the output without padding; programs import it by this name."""
    return get_conv_outsize(input_length, filter_size, stride, 0)
