"""Inception module of GoogLeNet."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation import relu
from chainer.functions.array import concat
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.chain import Chain
from chainer.links.connection.convolution_2d import Convolution2D


class Inception(Chain):
    """Inception module of GoogLeNet.

    Four paths are applied to the input and their outputs concatenated along the channels: a 1x1
    convolution; 3x3 and 5x5 convolutions, each after a 1x1 convolution (called projection); and a
    projection after a 3x3 max pooling. All of them keep the spatial size.

    See `Going Deeper with Convolutions <https://arxiv.org/abs/1409.4842>`_.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        out1 (int): Output size of the 1x1 convolution path.
        proj3 (int): Projection size of the 3x3 convolution path.
        out3 (int): Output size of the 3x3 convolution path.
        proj5 (int): Projection size of the 5x5 convolution path.
        out5 (int): Output size of the 5x5 convolution path.
        proj_pool (int): Projection size of the max pooling path.
        conv_init (initializer): Initializer of the weights of the convolutions.
        bias_init (initializer): Initializer of the biases of the convolutions.

    Attributes:
        conv1, proj3, conv3, proj5, conv5, projp (Convolution2D): The convolutions.

    Example:
        >>> x = np.zeros((1, 3, 8, 8), np.float32)
        >>> L.Inception(3, 2, 3, 4, 2, 3, 2)(x).shape
        (1, 11, 8, 8)
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj5: int,
        out5: int,
        proj_pool: int,
        conv_init: InitializerLike = None,
        bias_init: InitializerLike = None,
    ) -> None:
        super().__init__()

        def convolution(n_in: int | None, n_out: int, ksize: int) -> Convolution2D:
            return Convolution2D(
                n_in,
                n_out,
                ksize,
                pad=ksize // 2,
                initialW=conv_init,
                initial_bias=bias_init,
            )

        # Odd sizes with half of them as padding keep the size of the image.
        with self.init_scope():
            self.conv1 = convolution(in_channels, out1, 1)
            self.proj3 = convolution(in_channels, proj3, 1)
            self.conv3 = convolution(proj3, out3, 3)
            self.proj5 = convolution(in_channels, proj5, 1)
            self.conv5 = convolution(proj5, out5, 5)
            self.projp = convolution(in_channels, proj_pool, 1)

    def forward(self, x: VariableLike) -> Variable:
        """Computes the output of the Inception module.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out1 + out3 + out5 + proj_pool, h, w)``.
        """
        out1 = self.conv1(x)
        out3 = self.conv3(relu.relu(self.proj3(x)))
        out5 = self.conv5(relu.relu(self.proj5(x)))
        pool = self.projp(max_pooling_2d(x, 3, stride=1, pad=1))
        return relu.relu(concat.concat((out1, out3, out5, pool), axis=1))
