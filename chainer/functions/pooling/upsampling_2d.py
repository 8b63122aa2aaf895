"""Upsampling by pooling indices."""

from __future__ import annotations

import copy

from chainer.backends.operations.poolings import window_indexing
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntPair, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._errors import InvalidIndexes
from chainer.functions.pooling.unpooling_2d import Unpooling2D


class Upsampling2D(Unpooling2D):
    """Upsampling by pooling indices.

    Args:
        indexes (array): Position of each element in its window.
        ksize (int or pair of ints): Size of a window.
        stride (int or pair of ints): Distance between windows; ``ksize`` if None.
        pad (int or pair of ints): Padding.
        outsize (pair of ints): Size of the output; estimated if None.
        cover_all (bool): Whether the windows cover each position of the output.
    """

    #: The check depends on the shape of the indices, which is not worth remembering.
    type_check_key = None

    def __init__(
        self,
        indexes: Array,
        ksize: IntPair,
        stride: IntPair | None = None,
        pad: IntPair = 0,
        outsize: IntPair | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ksize, stride, pad, outsize, cover_all)
        self.indexes = indexes

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        type_check.expect(in_types[0].shape == self.indexes.shape)
        if self.indexes.dtype.kind not in "iu":
            raise InvalidIndexes("indexes.dtype.kind in 'iu'", f"{self.indexes.dtype}")

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        node = copy.copy(self)
        # All samples become one longer batch, in which the indices mean the same.
        repeated = self.xp.broadcast_to(self.indexes, (size, *self.indexes.shape))
        shape = (size * self.indexes.shape[0], *self.indexes.shape[1:])
        node.indexes = repeated.reshape(shape)
        return super(Upsampling2D, node).batched(inputs, are_batched, size)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        out_size = self.unpooled_size(x)
        kernel = self._kernel = window_indexing.select(x, geometry=self.geometry)
        return (kernel.scatter(x, self.indexes, out_size, self.geometry),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._kernel.gather(grad_outputs[0], self.indexes, self.geometry),)


@explained_keywords
def upsampling_2d(
    x: VariableLike,
    indexes: VariableLike,
    ksize: IntPair,
    stride: IntPair | None = None,
    pad: IntPair = 0,
    outsize: IntPair | None = None,
    cover_all: bool = True,
) -> Variable:
    """Upsampling using pooling indices.

    It puts each element at one position of its window, and zeros elsewhere. Elements put at one
    position by windows that overlap add up.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)``, floating point.
        indexes (array): Indices that :func:`max_pooling_2d` returned, shape of ``x``.
        ksize (int or pair of ints): Size of the pooling window.
        stride (int or pair of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or pair of ints): Spatial padding width.
        outsize (pair of ints or None): Expected output size (height, width); estimated if None.
        cover_all (bool): Whether the preceding pooling had this flag.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or shapes do not fit; the pooling of ``outsize`` must have the size of
            ``x``.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
        >>> F.upsampling_2d(y, indexes, 2, outsize=(4, 4)).array
        array([[[[ 0.,  0.,  0.,  0.],
                 [ 0.,  6.,  0.,  8.],
                 [ 0.,  0.,  0.,  0.],
                 [ 0., 14.,  0., 16.]]]], dtype=float32)
    """
    if isinstance(indexes, Variable):
        indexes = indexes.array
    return Upsampling2D(indexes, ksize, stride, pad, outsize, cover_all).apply((x,))[0]
