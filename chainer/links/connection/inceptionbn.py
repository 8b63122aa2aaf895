"""Inception module with batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.dtype import get_dtype
from chainer.core.typing import DTypeLike, InitializerLike, VariableLike
from chainer.functions.activation import relu
from chainer.functions.array import concat
from chainer.functions.pooling import average_pooling_2d
from chainer.functions.pooling.max_pooling_2d import max_pooling_2d
from chainer.links.chain import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.errors import InvalidValueError, UnknownOptionError
from chainer.links.normalization.batch_normalization import BatchNormalization

_POOLINGS: dict[str, Callable[..., Any]] = {
    # The other paths do not cover all pixels with a stride of 2 either.
    "max": partial(max_pooling_2d, cover_all=False),
    "avg": average_pooling_2d.average_pooling_2d,
}


class InceptionBN(Chain):
    """Inception module of the new GoogLeNet with batch normalization.

    It differs from :class:`~chainer.links.Inception` in three points: batch normalization follows
    each convolution, two successive 3x3 convolutions replace the 5x5 convolution, and the kind of
    pooling is an argument.

    See `Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
    Shift <https://arxiv.org/abs/1502.03167>`_.

    Args:
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        out1 (int): Output size of the 1x1 convolution path; 0 for leaving it out, as is necessary
            with a stride other than 1 or without projection in the pooling path.
        proj3 (int): Projection size of the single 3x3 convolution path.
        out3 (int): Output size of the single 3x3 convolution path.
        proj33 (int): Projection size of the double 3x3 convolutions path.
        out33 (int): Output size of the double 3x3 convolutions path.
        pooltype (str): ``'max'`` or ``'avg'``.
        proj_pool (int or None): Projection size in the pooling path; None for no projection.
        stride (int): Stride of the last convolution of each path.
        conv_init (initializer): Initializer of the weights of the convolutions.
        dtype (numpy.dtype): Data type of the batch normalization; ``chainer.config.dtype`` by
            default.

    Attributes:
        proj3, conv3, proj33, conv33a, conv33b, conv1, poolp (Convolution2D): The convolutions.
        proj3n, conv3n, proj33n, conv33an, conv33bn, conv1n, poolpn (BatchNormalization): The
            normalizations of their outputs.

    Raises:
        ValueError: If ``pooltype`` is another one, or ``out1`` does not go with the other
            arguments.

    Example:
        >>> x = np.zeros((1, 3, 8, 8), np.float32)
        >>> L.InceptionBN(3, 2, 3, 4, 2, 3, 'avg', 2)(x).shape
        (1, 11, 8, 8)
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj33: int,
        out33: int,
        pooltype: str,
        proj_pool: int | None = None,
        stride: int = 1,
        conv_init: InitializerLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        if pooltype not in _POOLINGS:
            raise UnknownOptionError(f"pooltype must be 'max' or 'avg', got {pooltype!r}")
        # The path of the 1x1 convolution keeps the size of the image.
        if out1 > 0 and (stride != 1 or proj_pool is None):
            raise InvalidValueError(
                f"out1 must be 0 with a stride other than 1 or without proj_pool, got out1={out1}, "
                f"stride={stride} and proj_pool={proj_pool}"
            )
        # The convolutions have no biases, because the normalizations shift their outputs anyway.
        self.out1 = out1
        self.proj_pool = proj_pool
        self.stride = stride
        self.pooltype = pooltype

        def convolution(n_in: int | None, n_out: int, ksize: int, stride: int = 1) -> Convolution2D:
            return Convolution2D(
                n_in, n_out, ksize, stride, pad=ksize // 2, nobias=True, initialW=conv_init
            )

        def normalization(size: int) -> BatchNormalization:
            return BatchNormalization(size, dtype=get_dtype(dtype))

        with self.init_scope():
            self.proj3 = convolution(in_channels, proj3, 1)
            self.conv3 = convolution(proj3, out3, 3, stride)
            self.proj33 = convolution(in_channels, proj33, 1)
            self.conv33a = convolution(proj33, out33, 3)
            self.conv33b = convolution(out33, out33, 3, stride)
            self.proj3n = normalization(proj3)
            self.conv3n = normalization(out3)
            self.proj33n = normalization(proj33)
            self.conv33an = normalization(out33)
            self.conv33bn = normalization(out33)
            if out1 > 0:
                self.conv1 = convolution(in_channels, out1, 1, stride)
                self.conv1n = normalization(out1)
            if proj_pool is not None:
                self.poolp = convolution(in_channels, proj_pool, 1)
                self.poolpn = normalization(proj_pool)

    def forward(self, x: VariableLike) -> Variable:
        """Computes the output of the Inception module.

        Args:
            x (Variable or array): Input images of shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out1 + out3 + out33 + pool, oh, ow)``, where ``pool`` is
            ``proj_pool``, or ``in_channels`` if that is None.
        """
        outs = []
        if self.out1 > 0:
            outs.append(relu.relu(self.conv1n(self.conv1(x))))

        h = relu.relu(self.proj3n(self.proj3(x)))
        outs.append(relu.relu(self.conv3n(self.conv3(h))))

        h = relu.relu(self.proj33n(self.proj33(x)))
        h = relu.relu(self.conv33an(self.conv33a(h)))
        outs.append(relu.relu(self.conv33bn(self.conv33b(h))))

        pooled = _POOLINGS[self.pooltype](x, 3, stride=self.stride, pad=1)
        if self.proj_pool is not None:
            pooled = relu.relu(self.poolpn(self.poolp(pooled)))
        outs.append(pooled)
        return concat.concat(outs, axis=1)
