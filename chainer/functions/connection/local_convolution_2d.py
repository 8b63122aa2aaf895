"""Two-dimensional local convolution."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.convolutions import im2col as operation
from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.utils.conv import pair
from chainer.core.variable import Variable
from chainer.functions._composed import composed_gradients
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.im2col import im2col
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.math.matmul import matmul

_Pair = tuple[int, int]


class LocalConvolution2DFunction(FunctionNode):
    """Convolution with a filter of its own for each patch.

    Args:
        stride (int or pair of ints): Stride.
    """

    type_check_key = ("stride",)

    def __init__(self, stride: Any = 1) -> None:
        self.stride: _Pair = pair(stride, "stride")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        n_in = in_types.size()
        type_check.expect(n_in >= 2, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect(
            x_type.dtype.kind == "f",
            w_type.dtype.kind == "f",
            x_type.ndim == 4,
            w_type.ndim == 6,
            x_type.shape[1] == w_type.shape[3],
        )
        for axis, stride in enumerate(self.stride):
            # The last patch must lie inside the image.
            last = (w_type.shape[1 + axis] - 1) * stride + w_type.shape[4 + axis]
            type_check.expect(x_type.shape[2 + axis] >= last)
        if len(in_types) == 3:
            b_type = in_types[2]
            type_check.expect(
                b_type.dtype == x_type.dtype,
                b_type.ndim == 3,
                b_type.shape == w_type.shape[:3],
            )

    def _patches(self, x: Any, W: Any) -> Any:
        """Returns the patches as one matrix ``(N, C * K)`` for each position."""
        _, h, w, c, kh, kw = W.shape
        patches = self._kernel.forward(x, (kh, kw), self.stride, (0, 0), (1, 1), (h, w))
        patches = patches.reshape(len(x), c * kh * kw, h * w)
        return self.xp.ascontiguousarray(patches.transpose(2, 0, 1))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs(range(len(inputs)))
        x, W = inputs[:2]
        o, h, w, c, kh, kw = W.shape
        self._kernel = operation.select(
            x, ksize=(kh, kw), stride=self.stride, pad=(0, 0), dilate=(1, 1), out_size=(h, w)
        )
        filters = W.reshape(o, h * w, c * kh * kw).transpose(1, 2, 0)
        y = (self._patches(x, W) @ filters).transpose(1, 2, 0).reshape(len(x), o, h, w)
        if len(inputs) == 3:
            y = y + inputs[2]
        return (self.xp.ascontiguousarray(y).astype(x.dtype, copy=False),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, W = self.retained_input_arrays[:2]
        (gy,) = grad_outputs
        o, h, w, c, kh, kw = W.shape
        n = len(x)
        by_position = self.xp.ascontiguousarray(gy.reshape(n, o, h * w).transpose(2, 0, 1))
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                filters = W.reshape(o, h * w, c * kh * kw).transpose(1, 0, 2)
                patches = (by_position @ filters).transpose(1, 2, 0)
                patches = patches.reshape(n, c, kh, kw, h, w)
                gx = self._kernel.backward(patches, x.shape[2:], self.stride, (0, 0), (1, 1))
                gradients.append(gx.astype(x.dtype, copy=False))
            elif i == 1:
                gW = by_position.transpose(0, 2, 1) @ self._patches(x, W)
                gW = gW.transpose(1, 0, 2).reshape(W.shape)
                gradients.append(gW.astype(W.dtype, copy=False))
            else:
                gradients.append(gy.sum(axis=0))
        return tuple(gradients)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return composed_gradients(
            self._composition, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )

    def _composition(self, x: Variable, W: Variable, b: Variable | None = None) -> tuple[Variable]:
        o, h, w, c, kh, kw = W.shape
        n = len(x)
        patches = im2col(x, (kh, kw), self.stride)[:, :, :h, :w]
        patches = transpose(reshape(patches, (n, c * kh * kw, h * w)), (2, 0, 1))
        filters = transpose(reshape(W, (o, h * w, c * kh * kw)), (1, 2, 0))
        y = reshape(transpose(matmul(patches, filters), (1, 2, 0)), (n, o, h, w))
        if b is not None:
            y = y + broadcast_to(b, y.shape)
        return (y,)


def local_convolution_2d(x: Any, W: Any, b: Any = None, stride: Any = 1) -> Variable:
    r"""Two-dimensional local convolution function.

    Locally-connected function for 2D inputs. It works like :func:`convolution_2d` without padding,
    except that weights are not shared: each patch of the input has filters of its own.

    Args:
        x (~chainer.Variable or array): Input of shape :math:`(n, c_I, h, w)`.
        W (~chainer.Variable or array): Weight of shape :math:`(c_O, h_O, w_O, c_I, k_H, k_W)`.
        b (~chainer.Variable or array): Bias of shape :math:`(c_O, h_O, w_O)` (optional).
        stride (int or pair of ints): Stride of filter applications.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c_O, h_O, w_O)`.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    .. seealso:: :class:`~chainer.links.LocalConvolution2D`

    Example:
        >>> x = np.random.uniform(0, 1, (2, 3, 7, 7))
        >>> W = np.random.uniform(0, 1, (2, 5, 5, 3, 3, 3))
        >>> b = np.random.uniform(0, 1, (2, 5, 5))
        >>> F.local_convolution_2d(x, W, b).shape
        (2, 2, 5, 5)
    """
    node = LocalConvolution2DFunction(stride)
    return node.apply((x, W) if b is None else (x, W, b))[0]
