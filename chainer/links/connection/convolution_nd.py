"""N-dimensional convolution layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.utils.conv import as_sizes
from chainer.functions.connection.convolution_nd import convolution_nd
from chainer.links.connection._convolution import check_groups, normalize_sizes
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels


class ConvolutionND(Link):
    """N-dimensional convolution layer.

    Wraps :func:`chainer.functions.convolution_nd` and holds the filter weight and bias as
    parameters.

    Args:
        ndim (int): Number of spatial dimensions.
        in_channels (int or None): Number of channels of input arrays; if None or omitted, it is
            found out at the first call. If omitted, the arguments from ``stride`` on are keywords.
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
        ValueError: If a size has not ``ndim`` elements, or ``groups`` does not divide the numbers
            of channels.

    Example:
        >>> x = np.zeros((2, 3, 8), np.float32)
        >>> L.ConvolutionND(1, 3, 7, ksize=4)(x).shape
        (2, 7, 5)
    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: Any = None,
        stride: Any = 1,
        pad: Any = 0,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
        cover_all: bool = False,
        dilate: Any = 1,
        groups: int = 1,
    ) -> None:
        super().__init__()
        in_channels, out_channels, ksize = normalize_sizes(self, in_channels, out_channels, ksize)
        self.ndim = ndim
        self.ksize = as_sizes(ksize, ndim, "ksize")
        self.stride = as_sizes(stride, ndim, "stride")
        self.pad = as_sizes(pad, ndim, "pad", least=0)
        self.dilate = as_sizes(dilate, ndim, "dilate")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.cover_all = cover_all
        self.groups = int(groups)
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
        check_groups(self.groups, in_channels=in_channels, out_channels=self.out_channels)
        self.W.initialize((self.out_channels, in_channels // self.groups, *self.ksize))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "ndim", self.ndim
        yield "in_channels", self.in_channels
        yield "out_channels", self.out_channels
        yield "ksize", self.ksize
        yield "stride", self.stride
        yield "pad", self.pad
        yield "nobias", self.b is None
        yield "cover_all", self.cover_all
        yield "dilate", self.dilate
        yield "groups", self.groups

    def forward(self, x: Any) -> Variable:
        """Applies the convolution layer.

        Args:
            x (Variable or array): Input of shape ``(B, in_channels, d_1, ..., d_N)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, l_1, ..., l_N)``.
        """
        if self.W.array is None:
            self.in_channels = infer_channels(self, x, self.ndim + 2)
            self._initialize_params(self.in_channels)
        return convolution_nd(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            cover_all=self.cover_all,
            dilate=self.dilate,
            groups=self.groups,
        )
