"""Two-dimensional local convolution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.extended_dtypes import for_products
from chainer.core.arrays.windows import add_patches, copy_patches
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntPair, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import pair
from chainer.functions._spatial_dimensions import component
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.im2col import im2col
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.math.matmul import matmul
from chainer.functions.rules import ComposedFunction, expect_weighted


class LocalConvolution2DFunction(ComposedFunction):
    """Convolution with a separate filter for each patch.

    Args:
        stride (int or pair of ints): Stride.
    """

    type_check_key = ("stride",)
    sy = component("stride", 0, "Vertical stride.")
    sx = component("stride", 1, "Horizontal stride.")

    def __init__(self, stride: IntPair = 1) -> None:
        self.stride: tuple[int, int] = pair(stride, "stride")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_weighted(in_types)
        type_check.expect(
            x_type.ndim == 4,
            w_type.ndim == 6,
            x_type.shape[1] == w_type.shape[3],
        )
        for axis, stride in enumerate(self.stride):
            # The last patch must be inside the image.
            last = (w_type.shape[1 + axis] - 1) * stride + w_type.shape[4 + axis]
            type_check.expect(x_type.shape[2 + axis] >= last)
        if len(in_types) == 3:
            b_type = in_types[2]
            type_check.expect(
                b_type.dtype == x_type.dtype,
                b_type.ndim == 3,
                b_type.shape == w_type.shape[:3],
            )

    def _blocks(self, x: Array, W: Array, most: int) -> Iterator[tuple[slice, Array]]:
        """Iterates over blocks of positions: their slice, and the part of ``x`` that they read.

        Blocks are rows of the output, or parts of one, whose computation takes ``most`` bytes.
        """
        o, h, w, c, kh, kw = W.shape
        (sy, sx), n = self.stride, len(x)
        if not h * w * x.size:
            return
        if self.xp is not numpy:
            # A device has no cache to fit into, and few large products keep it busy.
            yield slice(0, h * w), x[:, :, : (h - 1) * sy + kh, : (w - 1) * sx + kw]
            return
        each = n * (c * kh * kw + o) * x.itemsize
        for rows in chunks(h, w * each, most):
            seen = x[:, :, rows.start * sy : (rows.stop - 1) * sy + kh]
            length = rows.stop - rows.start
            # A block has more than one row only if whole rows fit into it.
            for some in chunks(w, each, most) if length == 1 else (slice(0, w),):
                start = rows.start * w + some.start
                positions = slice(start, start + (length - 1) * w + some.stop - some.start)
                yield positions, seen[:, :, :, some.start * sx : (some.stop - 1) * sx + kw]

    def _patches(self, x: Array, W: Array) -> Array:
        """Returns the patches of a block as one matrix ``(N, C * K)`` for each position."""
        kh, kw = W.shape[4:]
        sy, sx = self.stride
        n, c, height, width = x.shape
        h, w = (height - kh) // sy + 1, (width - kw) // sx + 1
        shape = (h, w, c, kh, kw, n)
        if self.xp is numpy:
            # A view of all patches, so that the reshape below is the only copy.
            sample, channel, row, column = x.strides
            strides = (row * sy, column * sx, channel, row, column, sample)
            patches = numpy.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)
        else:
            patches = self.xp.empty(shape, x.dtype)
            target = patches.transpose(5, 2, 3, 4, 0, 1)
            copy_patches(x, target, self.stride, (0, 0), (1, 1))
        return patches.reshape(h * w, c * kh * kw, n).transpose(0, 2, 1)

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        dtype = inputs[0].dtype
        x, W = map(for_products, inputs[:2])
        o, h, w, c, kh, kw = W.shape
        n = len(x)
        filters = W.reshape(o, h * w, c * kh * kw)
        y = self.xp.zeros((n, o, h * w), x.dtype)
        for positions, seen in self._blocks(x, W, _block_bytes(W, 2)):
            part = self._patches(seen, W) @ filters[:, positions].transpose(1, 2, 0)
            y[:, :, positions] = part.transpose(1, 2, 0)
        y = y.reshape(n, o, h, w)
        if len(inputs) == 3:
            y += inputs[2]
        return (y.astype(dtype, copy=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        retained = self.retained_input_arrays
        x, W = map(for_products, retained[:2])
        gy = self.xp.ascontiguousarray(for_products(grad_outputs[0]))
        gradients: list[Array] = []
        for i in target_input_indexes:
            if i == 0:
                gradient = self._gradient_of_images(x, W, gy)
            elif i == 1:
                gradient = self._gradient_of_filters(x, W, gy)
            else:
                gradient = gy.sum(axis=0)
            gradients.append(gradient.astype(retained[i].dtype, copy=False))
        return tuple(gradients)

    def _by_position(self, gy: Array, positions: slice) -> Array:
        """Returns a block of the gradient as one matrix ``(N, O)`` for each position."""
        n, o, h, w = gy.shape
        part = gy.reshape(n, o, h * w)[:, :, positions]
        return self.xp.ascontiguousarray(part.transpose(2, 0, 1))

    def _gradient_of_images(self, x: Array, W: Array, gy: Array) -> Array:
        o, h, w, c, kh, kw = W.shape
        sy, sx = self.stride
        filters = W.reshape(o, h * w, c * kh * kw)
        gx = self.xp.zeros(x.shape, x.dtype)
        for positions, seen in self._blocks(gx, W, _block_bytes(W, 4)):
            patches = self._by_position(gy, positions) @ filters[:, positions].transpose(1, 0, 2)
            width = (seen.shape[3] - kw) // sx + 1
            patches = patches.reshape(-1, width, len(x), c, kh, kw).transpose(2, 3, 4, 5, 0, 1)
            add_patches(patches, seen, (sy, sx), (0, 0), (1, 1))
        return gx

    def _gradient_of_filters(self, x: Array, W: Array, gy: Array) -> Array:
        o, h, w, c, kh, kw = W.shape
        gW = self.xp.zeros((o, h * w, c * kh * kw), W.dtype)
        for positions, seen in self._blocks(x, W, chunk_bytes(W.nbytes, 40)):
            block = gW[:, positions].transpose(1, 0, 2)
            matrices = self._by_position(gy, positions).transpose(0, 2, 1)
            patches = self._patches(seen, W)
            self.xp.matmul(matrices, patches, out=block, casting="same_kind")
            del matrices, patches  # lowers the peak: the next block allocates its own
        return gW.reshape(W.shape)

    def compose(self, *inputs: Variable) -> tuple[Variable]:
        x, W, b = inputs if len(inputs) == 3 else (*inputs, None)
        o, h, w, c, kh, kw = W.shape
        n = len(x)
        patches = im2col(x, (kh, kw), self.stride)[:, :, :h, :w]
        patches = transpose(reshape(patches, (n, c * kh * kw, h * w)), (2, 0, 1))
        filters = transpose(reshape(W, (o, h * w, c * kh * kw)), (1, 2, 0))
        y = reshape(transpose(matmul(patches, filters), (1, 2, 0)), (n, o, h, w))
        if b is not None:
            y = y + broadcast_to(b, y.shape)
        return (y,)


def _block_bytes(W: Array, parts: int) -> int:
    """Returns the memory for one block, in bytes, where no gradient of the filters is computed.

    It is a fraction of the weight, which exists anyway, within 32 KiB and 1 MiB: smaller blocks
    spend their time in Python, larger ones leave the cache.
    """
    return min(max(W.nbytes // parts, 1 << 15), 1 << 20)


@explained_keywords
def local_convolution_2d(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, stride: IntPair = 1
) -> Variable:
    r"""Two-dimensional local convolution function.

    Locally-connected function for 2D inputs. It works like :func:`convolution_2d` without padding,
    except that weights are not shared: each patch of the input has its own filters.

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
