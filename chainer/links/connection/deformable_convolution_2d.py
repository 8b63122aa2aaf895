"""Two-dimensional deformable convolution layer."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, IntPair, Shape, VariableLike
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import pair
from chainer.functions.connection.deformable_convolution_2d_sampler import (
    deformable_convolution_2d_sampler,
)
from chainer.links.chain import Chain
from chainer.links.connection._convolution import ConvolutionLink2D
from chainer.links.connection.convolution_2d import Convolution2D


class DeformableConvolution2DSampler(ConvolutionLink2D):
    """Convolution at positions that the offsets, a second input, displace.

    Wraps :func:`chainer.functions.deformable_convolution_2d_sampler` and holds the filter weight
    and bias as parameters. Takes the same arguments as :class:`~chainer.links.Convolution2D`, but
    the weight is zero by default.

    Attributes:
        W (Parameter): Weight of shape ``(out_channels, in_channels, kh, kw)``.
        b (Parameter): Bias of shape ``(out_channels,)``; None without one.
    """

    _spec_names = ()  # release 7 prints none

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: IntPair,
        stride: IntPair = 1,
        pad: IntPair = 0,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        # Unlike other convolutions, as release 7 does.
        initialW = 0 if initialW is None else initialW
        sizes = (in_channels, out_channels, ksize, stride, pad)
        super().__init__(2, *sizes, nobias, initialW, initial_bias)

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        return (self.out_channels, in_channels, *ksize)

    def forward(self, x: VariableLike, offset: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.
            offset (Variable or array): Displacements of the positions, shape
                ``(B, 2 * kh * kw, oh, ow)``: along the width, then along the height.

        Returns:
            Variable: Output of shape ``(B, out_channels, oh, ow)``.
        """
        self._infer_sizes(x)
        return deformable_convolution_2d_sampler(x, offset, self.W, self.b, self.stride, self.pad)


class DeformableConvolution2D(Chain):
    """Two-dimensional deformable convolutional layer.

    An ordinary convolution computes, for each output pixel, by how much each filter element is
    displaced; a second one samples the image at the displaced positions by bilinear interpolation.

    See `Deformable Convolutional Networks <https://arxiv.org/abs/1703.06211>`_.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        out_channels (int): Number of channels of output arrays.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width for input arrays.
        offset_nobias (bool): Whether the convolution that computes displacements has no bias.
        offset_initialW (initializer): Initializer of its weight.
        offset_initial_bias (initializer): Initializer of its bias; zero by default.
        deform_nobias (bool): Whether the other convolution has no bias.
        deform_initialW (initializer): Initializer of its weight; zero by default.
        deform_initial_bias (initializer): Initializer of its bias; zero by default.

    Attributes:
        offset_conv (Convolution2D): The convolution that computes displacements.
        deform_conv (DeformableConvolution2DSampler): The convolution at displaced positions.

    Example:
        >>> x = np.zeros((1, 3, 10, 10), np.float32)
        >>> L.DeformableConvolution2D(3, 7, 5)(x).shape
        (1, 7, 6, 6)
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: IntPair,
        stride: IntPair = 1,
        pad: IntPair = 0,
        offset_nobias: bool = False,
        offset_initialW: InitializerLike = None,
        offset_initial_bias: InitializerLike = None,
        deform_nobias: bool = False,
        deform_initialW: InitializerLike = None,
        deform_initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        kh, kw = pair(ksize, "ksize")
        with self.init_scope():
            self.offset_conv = Convolution2D(
                in_channels,
                # Two displacements of each element of a filter.
                2 * kh * kw,
                ksize,
                stride,
                pad,
                offset_nobias,
                offset_initialW,
                offset_initial_bias,
            )
            self.deform_conv = DeformableConvolution2DSampler(
                in_channels,
                out_channels,
                ksize,
                stride,
                pad,
                deform_nobias,
                deform_initialW,
                deform_initial_bias,
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the deformable convolution.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, oh, ow)``.
        """
        return self.deform_conv(x, self.offset_conv(x))
