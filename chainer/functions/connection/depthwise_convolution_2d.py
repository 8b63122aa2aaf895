"""Two-dimensional depthwise convolution."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.convolutions import (
    ConvolutionGeometry,
    convolution_nd,
    convolution_size,
)
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntPair, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import pair
from chainer.functions._spatial_dimensions import HEIGHT_AND_WIDTH, check_out_size
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.connection._convolution_checks import check_bias
from chainer.functions.connection._convolution_nodes import bias_gradient
from chainer.functions.connection.convolution_2d import convolution_2d
from chainer.functions.rules import ComposedFunction, expect_weighted


class DepthwiseConvolution2D(ComposedFunction):
    """Two-dimensional depthwise convolution: a convolution with one group for each channel.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
    """

    type_check_key = ()

    def __init__(self, stride: IntPair = 1, pad: IntPair = 0) -> None:
        self.stride = pair(stride, "stride")
        self.pad = pair(pad, "pad", least=0)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_weighted(in_types)
        type_check.expect(
            x_type.ndim == 4,
            w_type.ndim == 4,
            x_type.shape[1] == w_type.shape[1],
        )
        check_bias(in_types, w_type.shape[0] * w_type.shape[1])

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        x, W, b = inputs if len(inputs) == 3 else (*inputs, None)
        geometry = self._geometry = ConvolutionGeometry(self.stride, self.pad, (1, 1), W.shape[1])
        out_size = convolution_size(geometry, x.shape[2:], W.shape[2:])
        check_out_size(out_size, HEIGHT_AND_WIDTH)
        grouped = _grouped(W)
        self._kernel = convolution_nd.select(
            x, grouped, b, geometry=geometry, out_size=out_size, transposed=False
        )
        return (self._kernel.forward(x, grouped, b, out_size, geometry),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, W = self.retained_input_arrays[:2]
        (gy,) = grad_outputs
        kernel, geometry = self._kernel, self._geometry
        gradients: list[Array] = []
        for i in target_input_indexes:
            if i == 0:
                gx = kernel.backward_data(gy, _grouped(W), None, x.shape[2:], geometry)
                gradients.append(gx)
            elif i == 1:
                gW = kernel.backward_weight(x, gy, W.shape[2:], W.dtype, geometry)
                multiplier, channels = W.shape[:2]
                gW = gW.reshape(channels, multiplier, *W.shape[2:])
                gradients.append(gW.transpose(1, 0, 2, 3))
            else:
                gradients.append(bias_gradient(gy))
        return tuple(gradients)

    def compose(self, *inputs: Variable) -> tuple[Variable]:
        x, W, *b = inputs
        return (
            convolution_2d(x, _grouped(W), *b, stride=self.stride, pad=self.pad, groups=W.shape[1]),
        )


def _grouped(W: Array) -> Any:
    """Returns a weight in the layout of a convolution with one group for each channel."""
    multiplier, channels = W.shape[:2]
    shape = (channels * multiplier, 1, *W.shape[2:])
    if isinstance(W, Variable):
        return reshape(transpose(W, (1, 0, 2, 3)), shape)
    return W.transpose(1, 0, 2, 3).reshape(shape)


@explained_keywords
def depthwise_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntPair = 1,
    pad: IntPair = 0,
) -> Variable:
    r"""Two-dimensional depthwise convolution function.

    Unlike :func:`convolution_2d` it does not sum over the channels of the input. Each channel has
    its own :math:`c_M` filters (the channel multiplier). The outputs are concatenated, and outputs
    of the same channel are adjacent.

    Args:
        x (~chainer.Variable or array): Input of shape :math:`(n, c_I, h, w)`.
        W (~chainer.Variable or array): Weight of shape :math:`(c_M, c_I, k_H, k_W)`.
        b (~chainer.Variable or array): Bias of length :math:`c_M * c_I` (optional).
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_I * c_M, h_O, w_O)`, sizes as with
        :func:`convolution_2d`.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If the output would be empty.

    See: `L. Sifre. Rigid-motion scattering for image classification
    <https://www.di.ens.fr/data/publications/papers/phd_sifre.pdf>`_

    .. seealso:: :class:`~chainer.links.DepthwiseConvolution2D`

    Example:
        >>> x = np.random.uniform(0, 1, (2, 3, 4, 7))
        >>> W = np.random.uniform(0, 1, (2, 3, 3, 3))
        >>> b = np.random.uniform(0, 1, (6,))
        >>> F.depthwise_convolution_2d(x, W, b).shape
        (2, 6, 2, 5)
    """
    node = DepthwiseConvolution2D(stride, pad)
    return node.apply((x, W) if b is None else (x, W, b))[0]
