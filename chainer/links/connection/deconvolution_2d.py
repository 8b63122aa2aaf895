"""Two-dimensional deconvolution layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.utils.argument import parse_kwargs
from chainer.core.utils.conv import pair
from chainer.functions.connection.deconvolution_2d import deconvolution_2d
from chainer.links.connection._convolution import (
    DETERMINISTIC_REMOVED,
    check_groups,
    normalize_sizes,
)
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels


class Deconvolution2D(Link):
    """Two-dimensional deconvolution (transposed convolution) layer.

    Wraps :func:`chainer.functions.deconvolution_2d` and holds the filter weight and bias as
    parameters. By default the weight is drawn from a normal distribution of mean 0, whose standard
    deviation follows from the numbers of output channels and filter elements
    (:class:`~chainer.initializers.LeCunNormal` of the shape of ``W``), and the bias is zero.

    Args:
        in_channels (int or None): Number of channels of input arrays; if None or omitted, it is
            found out at the first call. If omitted, the arguments from ``stride`` on are keywords.
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
        groups (int): Number of groups the channels are divided into.
        dilate (int or pair of ints): Dilation factor of filter applications.

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

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: Any = None,
        stride: Any = 1,
        pad: Any = 0,
        nobias: bool = False,
        outsize: Any = None,
        initialW: Any = None,
        initial_bias: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        dilate, groups = parse_kwargs(
            kwargs, ("dilate", 1), ("groups", 1), deterministic=DETERMINISTIC_REMOVED
        )
        in_channels, out_channels, ksize = normalize_sizes(self, in_channels, out_channels, ksize)
        self.ksize = ksize
        self.stride = pair(stride, "stride")
        self.pad = pair(pad, "pad", least=0)
        self.dilate = pair(dilate, "dilate")
        self.outsize = (None, None) if outsize is None else pair(outsize, "outsize")
        self.in_channels = in_channels
        self.out_channels = out_channels
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
        kh, kw = pair(self.ksize, "ksize")
        self.W.initialize((in_channels, self.out_channels // self.groups, kh, kw))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_channels", self.in_channels
        yield "out_channels", self.out_channels
        yield "ksize", self.ksize
        yield "stride", self.stride
        yield "pad", self.pad
        yield "nobias", self.b is None
        yield "outsize", self.outsize
        yield "dilate", self.dilate
        yield "groups", self.groups

    def forward(self, x: Any) -> Variable:
        """Applies the deconvolution layer.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, oh, ow)``.
        """
        if self.W.array is None:
            self.in_channels = infer_channels(self, x, 4)
            self._initialize_params(self.in_channels)
        outsize = None if self.outsize[0] is None else self.outsize
        return deconvolution_2d(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            outsize,
            dilate=self.dilate,
            groups=self.groups,
        )
