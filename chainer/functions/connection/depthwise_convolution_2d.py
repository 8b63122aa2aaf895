"""Two-dimensional depthwise convolution."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.conv import get_conv_outsize, pair
from chainer.functions._composed import composed_gradients
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.connection._convolution import Geometry, bias_gradient
from chainer.functions.connection.convolution_2d import convolution_2d


class DepthwiseConvolution2D(FunctionNode):
    """Two-dimensional depthwise convolution: a convolution with one group for each channel.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
    """

    type_check_key = ()

    def __init__(self, stride: Any = 1, pad: Any = 0) -> None:
        self.stride = pair(stride, "stride")
        self.pad = pair(pad, "pad", least=0)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        n_in = in_types.size()
        type_check.expect(n_in >= 2, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect(
            x_type.dtype.kind == "f",
            w_type.dtype.kind == "f",
            x_type.ndim == 4,
            w_type.ndim == 4,
            x_type.shape[1] == w_type.shape[1],
        )
        if len(in_types) == 3:
            b_type = in_types[2]
            type_check.expect(
                b_type.dtype == x_type.dtype,
                b_type.ndim == 1,
                b_type.shape[0] == w_type.shape[0] * w_type.shape[1],
            )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs(range(len(inputs)))
        x, W = inputs[:2]
        b = inputs[2] if len(inputs) == 3 else None
        sizes = zip(x.shape[2:], W.shape[2:], self.stride, self.pad, strict=True)
        out_size = tuple([get_conv_outsize(n, k, s, p) for n, k, s, p in sizes])
        for name, size in zip(("Height", "Width"), out_size, strict=True):
            if size <= 0:
                raise ValueError(f"{name} in the output should be positive. Actual: {size}")
        geometry = self._geometry = Geometry(self.stride, self.pad, (1, 1), W.shape[1])
        grouped = _grouped(W)
        geometry.select(x, grouped, b, out_size, False)
        return (geometry.kernel.forward(x, grouped, b, out_size, *geometry.arguments()),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, W = self.retained_input_arrays[:2]
        (gy,) = grad_outputs
        kernel, arguments = self._geometry.kernel, self._geometry.arguments()
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gx = kernel.backward_data(gy, _grouped(W), None, x.shape[2:], *arguments)
                gradients.append(gx)
            elif i == 1:
                gW = kernel.backward_weight(x, gy, W.shape[2:], W.dtype, *arguments)
                multiplier, channels = W.shape[:2]
                gW = gW.reshape(channels, multiplier, *W.shape[2:])
                gradients.append(gW.transpose(1, 0, 2, 3))
            else:
                gradients.append(bias_gradient(gy))
        return tuple(gradients)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return composed_gradients(
            self._composition, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )

    def _composition(self, x: Variable, W: Variable, b: Variable | None = None) -> tuple[Variable]:
        multiplier, channels = W.shape[:2]
        grouped = transpose(W, (1, 0, 2, 3))
        grouped = reshape(grouped, (channels * multiplier, 1, *W.shape[2:]))
        return (convolution_2d(x, grouped, b, self.stride, self.pad, groups=channels),)


def _grouped(W: Any) -> Any:
    """Returns a weight in the layout of a convolution with one group for each channel."""
    multiplier, channels = W.shape[:2]
    return W.transpose(1, 0, 2, 3).reshape(channels * multiplier, 1, *W.shape[2:])


def depthwise_convolution_2d(
    x: Any, W: Any, b: Any = None, stride: Any = 1, pad: Any = 0
) -> Variable:
    r"""Two-dimensional depthwise convolution function.

    Unlike :func:`convolution_2d` it does not add up the channels of the input: each channel has
    :math:`c_M` filters of its own (the channel multiplier), and the outputs are concatenated, those
    of one channel side by side.

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
