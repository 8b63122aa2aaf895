"""Two-dimensional dilated convolution layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.utils.conv import pair
from chainer.functions.connection.dilated_convolution_2d import dilated_convolution_2d
from chainer.links.connection._convolution import normalize_sizes
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels


class DilatedConvolution2D(Link):
    """Two-dimensional dilated convolutional layer.

    Wraps :func:`chainer.functions.dilated_convolution_2d` and holds the filter weight and bias as
    parameters. :class:`~chainer.links.Convolution2D` with an argument ``dilate`` does the same.

    Args:
        in_channels (int or None): Number of channels of input arrays; if None or omitted, it is
            found out at the first call. If omitted, the arguments from ``stride`` on are keywords.
        out_channels (int): Number of channels of output arrays.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width for input arrays.
        dilate (int or pair of ints): Dilation factor of filter applications.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(out_channels, in_channels, kh, kw)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_channels,)``.

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

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: Any = None,
        stride: Any = 1,
        pad: Any = 0,
        dilate: Any = 1,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:
        super().__init__()
        in_channels, out_channels, ksize = normalize_sizes(self, in_channels, out_channels, ksize)
        self.ksize = ksize
        self.stride = pair(stride, "stride")
        self.pad = pair(pad, "pad", least=0)
        self.dilate = pair(dilate, "dilate")
        self.in_channels = in_channels
        self.out_channels = out_channels
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            if in_channels is not None:
                self._initialize_params(in_channels)
            if nobias:
                self.b = None
            else:
                self.b = Parameter(
                    get_initializer(0 if initial_bias is None else initial_bias), out_channels
                )

    def _initialize_params(self, in_channels: int) -> None:
        self.W.initialize((self.out_channels, in_channels, *pair(self.ksize, "ksize")))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_channels", self.in_channels
        yield "out_channels", self.out_channels
        yield "ksize", self.ksize
        yield "stride", self.stride
        yield "pad", self.pad
        yield "dilate", self.dilate
        yield "nobias", self.b is None

    def forward(self, x: Any) -> Variable:
        """Applies the convolution layer.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, oh, ow)``.
        """
        if self.W.array is None:
            self.in_channels = infer_channels(self, x, 4)
            self._initialize_params(self.in_channels)
        return dilated_convolution_2d(x, self.W, self.b, self.stride, self.pad, self.dilate)
