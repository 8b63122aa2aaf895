"""Unpooling in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.poolings import unpooling_nd as operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import IntTuple, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes, get_conv_outsize, get_deconv_outsize
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.pooling._pooling import PoolingBase, Sizes


class UnpoolingBase(PoolingBase):
    """Spreading of each element over its window; windows lie on the output.

    Attributes:
        outsize: Spatial size of the output, None until known.
    """

    type_check_key = ("ndim", "_geometry", "outsize")
    outsize: Sizes | None = None

    def _setup_unpooling(
        self, ndim: int, ksize: Any, stride: Any, pad: Any, outsize: Any, cover_all: bool
    ) -> None:
        self._setup(ndim, ksize, stride, pad, cover_all)
        self.outsize = None if outsize is None else as_sizes(outsize, ndim, "outsize")
        self._geometry = (self.ksize, self.stride, self.pad, cover_all)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        if self.outsize is not None:
            self._check_in_size(in_types[0], self._windows(self.outsize))

    def _windows(self, outsize: Sizes) -> Sizes:
        return tuple(
            [
                get_conv_outsize(n, k, s, p, self.cover_all)
                for n, k, s, p in zip(outsize, self.ksize, self.stride, self.pad, strict=True)
            ]
        )

    def _check_in_size(self, x_type: Any, expected: Sizes) -> None:
        type_check.expect(x_type.shape[2:] == expected)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self._in_size: Sizes = x.shape[2:]
        if self.outsize is None:
            self.outsize = tuple(
                [
                    get_deconv_outsize(n, k, s, p, self.cover_all)
                    for n, k, s, p in zip(
                        self._in_size, self.ksize, self.stride, self.pad, strict=True
                    )
                ]
            )
            if min(self.outsize) <= 0:
                self._refuse(self.outsize)
        geometry = (self.ksize, self.stride, self.pad)
        self._kernel = operation.select(
            x, ksize=self.ksize, stride=self.stride, pad=self.pad, out_size=self.outsize
        )
        return (self._kernel.forward(x, self.outsize, *geometry),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return UnpoolingGrad(self).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (self._gradient(grad_outputs[0]),)

    def _gradient(self, gy: Any) -> Any:
        return self._kernel.backward(gy, self._in_size, self.ksize, self.stride, self.pad)


class UnpoolingGrad(FunctionNode):
    """Gradient of unpooling, a linear function of ``gy``."""

    def __init__(self, unpooling: UnpoolingBase) -> None:
        self._unpooling = unpooling

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._unpooling._gradient(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        # The adjoint of the adjoint is the unpooling itself.
        unpooling = self._unpooling
        again = object.__new__(type(unpooling))
        again._setup_unpooling(
            unpooling.ndim,
            unpooling.ksize,
            unpooling.stride,
            unpooling.pad,
            unpooling.outsize,
            unpooling.cover_all,
        )
        return again.apply(grad_outputs)


class UnpoolingND(UnpoolingBase):
    """Unpooling in any number of dimensions.

    Args:
        ndim (int): Number of spatial dimensions.
        ksize (int or tuple of ints): Size of a window.
        stride (int or tuple of ints): Distance between windows; ``ksize`` if None.
        pad (int or tuple of ints): Padding.
        outsize (tuple of ints): Size of the output; estimated if None.
        cover_all (bool): Whether the windows cover each position of the output.
    """

    def __init__(
        self,
        ndim: int,
        ksize: Any,
        stride: Any = None,
        pad: Any = 0,
        outsize: Any = None,
        cover_all: bool = True,
    ) -> None:
        self._setup_unpooling(ndim, ksize, stride, pad, outsize, cover_all)


def unpooling_nd(
    x: Any,
    ksize: Any,
    stride: Any = None,
    pad: Any = 0,
    outsize: Any = None,
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
    node = UnpoolingND(len(x.shape) - 2, ksize, stride, pad, outsize, cover_all)
    return node.apply((x,))[0]


def unpooling_1d(
    x: VariableLike,
    ksize: IntTuple,
    stride: IntTuple | None = None,
    pad: IntTuple = 0,
    outsize: tuple[int, ...] | None = None,
    cover_all: bool = True,
) -> Variable:
    """One-dimensional unpooling function: :func:`unpooling_nd` with one check more.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c, d)``, floating point.
        ksize (int or tuple of one int): Size of the pooling window.
        stride (int or tuple of one int): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of one int): Spatial padding width.
        outsize (tuple of one int): Expected output size ``(l,)``; estimated if None.
        cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
            may be smaller than otherwise.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l)``.

    Raises:
        ValueError: If ``x`` does not have one spatial dimension, or the output would be empty.
        InvalidType: If the dtype does not fit, or the pooling of ``outsize`` does not have the size
            of ``x``.

    Example:
        >>> x = np.array([[[1, 2]]], np.float32)
        >>> F.unpooling_1d(x, 2, cover_all=False)
        variable([[[1., 1., 2., 2.]]])
    """
    check_spatial_ndim(x, 1)
    return unpooling_nd(x, ksize, stride, pad, outsize, cover_all)


def unpooling_3d(
    x: VariableLike,
    ksize: IntTuple,
    stride: IntTuple | None = None,
    pad: IntTuple = 0,
    outsize: tuple[int, ...] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Three-dimensional unpooling function: :func:`unpooling_nd` with one check more.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c, d_1, d_2, d_3)``,
            floating point.
        ksize (int or tuple of three ints): Size of the pooling window.
        stride (int or tuple of three ints): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of three ints): Spatial padding width.
        outsize (tuple of three ints): Expected output size ``(l_1, l_2, l_3)``; estimated if None.
        cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
            may be smaller than otherwise.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l_1, l_2, l_3)``.

    Raises:
        ValueError: If ``x`` does not have three spatial dimensions, or the output would be empty.
        InvalidType: If the dtype does not fit, or the pooling of ``outsize`` does not have the size
            of ``x``.

    Example:
        >>> x = np.ones((2, 3, 4, 5, 6), np.float32)
        >>> F.unpooling_3d(x, 2, outsize=(8, 10, 12)).shape
        (2, 3, 8, 10, 12)
    """
    check_spatial_ndim(x, 3)
    return unpooling_nd(x, ksize, stride, pad, outsize, cover_all)
