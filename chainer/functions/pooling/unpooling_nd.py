"""Unpooling in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.poolings import pooling_size, unpooling_size
from chainer.backends.operations.poolings import unpooling_nd as operation
from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntTuple, Shape, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import as_sizes
from chainer.functions._fixed_dimensions import fixed_dimensions, pooling_sections
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.pooling._pooling import PoolingNode
from chainer.functions.rules import LinearMap


class UnpoolingND(PoolingNode, LinearMap):
    """Unpooling in any number of dimensions: each element is copied to its whole window.

    Args:
        ndim, ksize, stride, pad: See :class:`~chainer.functions.MaxPoolingND`.
        outsize (tuple of ints): Size of the output; estimated if None.
        cover_all (bool): Whether the windows cover each position of the output.

    Attributes:
        outs: Spatial size of the output; None until it is known.
    """

    type_check_key = ("geometry", "cover_all", "outs")

    def __init__(
        self,
        ndim: int,
        ksize: IntTuple,
        stride: IntTuple | None = None,
        pad: IntTuple = 0,
        outsize: IntTuple | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self.outs: Shape | None = None if outsize is None else as_sizes(outsize, ndim, "outsize")

    @property
    def outsize(self) -> Shape | None:
        """Spatial size of the output, same as :attr:`outs`."""
        return self.outs

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        if self.outs is not None:
            # The windows on the output are the elements of the input.
            expected = pooling_size(self.geometry, self.outs, self.cover_all)
            self._check_in_size(in_types[0], expected)

    def _check_in_size(self, x_type: type_check.TypeInfo, expected: Shape) -> None:
        type_check.expect(x_type.shape[2:] == expected)

    def unpooled_size(self, x: Array) -> Shape:
        """Returns the spatial size of the output; ``outs`` from now on.

        Padding may leave nothing of the output: a size that would be negative is zero.
        """
        if self.outs is None:
            sizes = unpooling_size(self.geometry, x.shape[2:], self.cover_all)
            self.outs = tuple([max(size, 0) for size in sizes])
        return self.outs

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._in_size: Shape = x.shape[2:]
        out_size = self.unpooled_size(x)
        self._kernel = operation.select(x, geometry=self.geometry, out_size=out_size)
        return (self._kernel.forward(x, out_size, self.geometry),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._kernel.backward(grad_outputs[0], self._in_size, self.geometry),)


@explained_keywords
def unpooling_nd(
    x: VariableLike,
    ksize: IntTuple,
    stride: IntTuple | None = None,
    pad: IntTuple = 0,
    outsize: IntTuple | None = None,
    cover_all: bool = True,
) -> Variable:
    """Inverse operation of N-dimensional spatial pooling.

    It spreads each element over its window, like :func:`deconvolution_nd` without parameters. Where
    windows overlap, elements add up.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, l_1, ..., l_N)``, floating point.
        ksize (int or tuple of ints): Size of the pooling window.
        stride (int or tuple of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of ints): Spatial padding width.
        outsize (tuple of ints or None): Expected output size. If None, it is estimated from input
            size, stride and padding.
        cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
            may be smaller than otherwise.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or shape do not fit; the pooling of ``outsize`` must have the size of
            ``x``.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.array([[[1, 2, 3]]], np.float32)
        >>> F.unpooling_nd(x, 2, cover_all=False).array
        array([[[1., 1., 2., 2., 3., 3.]]], dtype=float32)
    """
    node = UnpoolingND(len(shape_of(x)) - 2, ksize, stride, pad, outsize, cover_all)
    return node.apply((x,))[0]


#: Texts about arguments and results, for the docstrings of the functions below.
_TEXTS = {
    "own": """\
outsize (tuple of $ints): Expected output size ``($sizes)``; estimated if None.
    cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
        may be smaller than otherwise.""",
    "outsize": ", or the pooling of ``outsize`` does not have the size of ``x``",
}


@fixed_dimensions(unpooling_nd, 1, pooling_sections, **_TEXTS)
@explained_keywords
def unpooling_1d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """One-dimensional unpooling function: :func:`unpooling_nd` for one spatial axis.

    Example:
        >>> x = np.array([[[1, 2]]], np.float32)
        >>> F.unpooling_1d(x, 2, cover_all=False)
        variable([[[1., 1., 2., 2.]]])
    """
    check_spatial_ndim(x, 1)
    return unpooling_nd(x, *args, **kwargs)


@fixed_dimensions(unpooling_nd, 3, pooling_sections, **_TEXTS)
@explained_keywords
def unpooling_3d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """Three-dimensional unpooling function: :func:`unpooling_nd` for three spatial axes.

    Example:
        >>> x = np.ones((2, 3, 4, 5, 6), np.float32)
        >>> F.unpooling_3d(x, 2, outsize=(8, 10, 12)).shape
        (2, 3, 8, 10, 12)
    """
    check_spatial_ndim(x, 3)
    return unpooling_nd(x, *args, **kwargs)
