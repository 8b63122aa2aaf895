"""MLP convolution layer of "Network in Network"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, VariableLike
from chainer.core.utils.argument import removed_arguments
from chainer.functions.activation import relu
from chainer.links.chain_list import ChainList
from chainer.links.connection._convolution import normalize_sizes
from chainer.links.connection.convolution_2d import Convolution2D

_WSCALE_REMOVED = (
    "wscale is not supported anymore. Use conv_init and bias_init argument to change the scale of "
    "initial parameters."
)


class MLPConvolution2D(ChainList):
    """Two-dimensional MLP convolution layer of Network in Network.

    It is a two-dimensional convolution layer followed by 1x1 convolution layers, with activation
    functions between them. There is none after the last layer.

    See `Network in Network <https://arxiv.org/abs/1312.4400>`_.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            it is None or omitted. If it is omitted, give the arguments from ``stride`` on by
            keyword.
        out_channels (tuple of ints): Numbers of filters of the convolution layers.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels) of the first layer.
        stride (int or pair of ints): Stride of filter applications of the first layer.
        pad (int or pair of ints): Spatial padding width for input arrays of the first layer.
        activation (callable): Activation function for internal hidden units: one variable in, one
            out. It cannot be a link.
        conv_init: Initializer of the weights of the layers.
        bias_init: Initializer of the biases of the layers.

    Attributes:
        activation (callable): Activation function.

    Example:
        >>> x = np.zeros((1, 3, 10, 10), np.float32)
        >>> L.MLPConvolution2D(3, (16, 8), ksize=5)(x).shape
        (1, 8, 6, 6)
    """

    @removed_arguments(wscale=_WSCALE_REMOVED)
    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sequence[int],
        ksize: IntPair | None = None,
        stride: IntPair = 1,
        pad: IntPair = 0,
        activation: Callable[[Variable], Variable] = relu.relu,
        conv_init: InitializerLike = None,
        bias_init: InitializerLike = None,
        *args: object,
    ) -> None:
        if args:
            raise TypeError(f"there are {len(args)} arguments after bias_init. {_WSCALE_REMOVED}")
        if not callable(activation) and activation is not None:
            # Version 1 had a number, wscale, at this place.
            raise TypeError(f"activation must be callable, got {activation!r}. {_WSCALE_REMOVED}")
        in_channels, out_channels, ksize = normalize_sizes(self, in_channels, out_channels, ksize)
        if not isinstance(out_channels, Sequence) or not out_channels:
            raise ValueError(
                f"out_channels must be a tuple of ints, one for each layer, got {out_channels!r}"
            )
        first = Convolution2D(
            in_channels,
            out_channels[0],
            ksize,
            stride,
            pad,
            initialW=conv_init,
            initial_bias=bias_init,
        )
        # A 1x1 convolution is a linear layer that is applied to each pixel.
        rest = (
            Convolution2D(n_in, n_out, 1, initialW=conv_init, initial_bias=bias_init)
            for n_in, n_out in pairwise(out_channels)
        )
        super().__init__(first, *rest)
        self.activation = activation

    def forward(self, x: VariableLike) -> Variable:
        """Computes the output of the mlpconv layer.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels[-1], oh, ow)``.
        """
        # No activation follows the last layer.
        layers = list(self)
        x = layers[0](x)
        for layer in layers[1:]:
            x = layer(self.activation(x))
        return x
