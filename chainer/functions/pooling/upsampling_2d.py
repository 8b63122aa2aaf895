"""Upsampling by pooling indices."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.poolings import window_indexing
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.core.utils.conv import get_deconv_outsize
from chainer.functions.pooling.max_pooling_nd import MaxPoolingWithIndexes
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

    type_check_key = None

    def __init__(
        self,
        indexes: Any,
        ksize: Any,
        stride: Any = None,
        pad: Any = 0,
        outsize: Any = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ksize, stride, pad, outsize, cover_all)
        self.indexes = indexes

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(
            in_types.size() == 1,
            in_types[0].dtype.kind == "f",
            in_types[0].ndim == 4,
            in_types[0].shape == self.indexes.shape,
        )
        if self.outsize is not None:
            self._check_in_size(in_types[0], self._windows(self.outsize))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        if self.outsize is None:
            self.outsize = tuple(
                [
                    get_deconv_outsize(n, k, s, p, self.cover_all)
                    for n, k, s, p in zip(
                        x.shape[2:], self.ksize, self.stride, self.pad, strict=True
                    )
                ]
            )
            if min(self.outsize) <= 0:
                self._refuse(self.outsize)
        geometry = (self.ksize, self.stride, self.pad)
        kernel = window_indexing.select(x, ksize=self.ksize, stride=self.stride, pad=self.pad)
        self._kernel = kernel
        return (kernel.scatter(x, self.indexes, self.outsize, *geometry),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        node = MaxPoolingWithIndexes(self.indexes, self.ksize, self.stride, self.pad)
        return node.apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        geometry = (self.ksize, self.stride, self.pad)
        return (self._kernel.gather(grad_outputs[0], self.indexes, *geometry),)


def upsampling_2d(
    x: Any,
    indexes: Any,
    ksize: Any,
    stride: Any = None,
    pad: Any = 0,
    outsize: Any = None,
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
