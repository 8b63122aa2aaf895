"""Pooling over sliding windows."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Shape
from chainer.core.utils.conv import get_conv_outsize, get_deconv_outsize


class PoolingGeometry(NamedTuple):
    """Where the windows of a pooling are on an image.

    All attributes are tuples of ``n`` ints, one for each spatial dimension. In a dimension, window
    number ``t`` starts at position ``t * stride - pad`` of the image.

    Attributes:
        ksize: Size of a window.
        stride: Distance between neighboring windows.
        pad: Number of positions before and behind the image that windows may reach into.
    """

    ksize: Shape
    stride: Shape
    pad: Shape


# A network calls each of its poolings with few shapes, so that a cache saves the loops below.
@lru_cache(maxsize=1024)
def pooling_size(geometry: PoolingGeometry, in_size: Shape, cover_all: bool) -> Shape:
    """Returns the number of windows in each dimension.

    Args:
        geometry: Geometry of the windows.
        in_size: Spatial size of the image.
        cover_all: Whether a last window covers the rest of the image.
    """
    sizes = zip(in_size, *geometry, strict=True)
    return tuple([get_conv_outsize(n, k, s, p, cover_all) for n, k, s, p in sizes])


@lru_cache(maxsize=1024)
def unpooling_size(geometry: PoolingGeometry, in_size: Shape, cover_all: bool) -> Shape:
    """Returns the spatial size of the image that has a given number of windows.

    Args:
        geometry: Geometry of the windows.
        in_size: Number of windows in each dimension.
        cover_all: Whether the last window covers the rest of the image.
    """
    sizes = zip(in_size, *geometry, strict=True)
    return tuple([get_deconv_outsize(n, k, s, p, cover_all) for n, k, s, p in sizes])


class MaxPoolingND(Operation):
    """Maximum of sliding windows.

    ``x`` of shape ``(N, C, d_1, ..., d_n)`` is reduced to ``y`` of shape ``(N, C, *out_size)``. A
    :class:`PoolingGeometry` tells where the windows are. Positions outside ``x`` count as minus
    infinity.

    ``select(x, geometry=, out_size=)``.

    Methods:
        ``forward(x, out_size, geometry) -> (y, residual)``; the residual is opaque. It is kept on
        the node and given to ``backward``.

        ``backward(x, y, gy, residual, geometry) -> gx``: each window passes its gradient to its
        first maximum in row-major order. Shape and dtype of ``x``.
    """

    name = "max_pooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:MaxPoolingNDKernel"


class WindowIndexing(Operation):
    """One chosen element of each sliding window.

    An index is the row-major position within a window. ``select(x, geometry=)`` where ``x`` is the
    larger of the two images, which the windows are on.

    Methods:
        ``find(x, y, geometry) -> indices``: the first element of each window of ``x`` that equals
        ``y``; not-a-number equals itself. Zero where there is none. Shape of ``y``, integers.

        ``gather(x, indices, geometry) -> y``: the chosen elements; zero for those outside ``x``.

        ``scatter(y, indices, in_size, geometry) -> x``: the adjoint of ``gather``, with spatial
        size ``in_size``.
    """

    name = "window_indexing"
    methods = ("find", "gather", "scatter")
    reference = "chainer.backends.numpy.kernels.poolings:WindowIndexingKernel"


class AveragePoolingND(Operation):
    """Mean of sliding windows; shapes as for :class:`MaxPoolingND`.

    ``select(x, geometry=, out_size=, pad_value=)``. With ``pad_value`` 0 positions outside ``x``
    count as zeros, with None they do not count.

    Methods:
        ``forward(x, out_size, geometry, pad_value) -> y``.

        ``backward(gy, in_size, geometry, pad_value) -> gx`` with spatial size ``in_size``.

    float16 is accumulated in float32.
    """

    name = "average_pooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:AveragePoolingNDKernel"


class UnpoolingND(Operation):
    """Copies of each element to its whole window; overlapping windows add up.

    ``select(x, geometry=, out_size=)`` with ``x`` of shape ``(N, C, l_1, ..., l_n)``. The windows
    are on the output, whereas :class:`MaxPoolingND` has its windows on the input.

    Methods:
        ``forward(x, out_size, geometry) -> y`` of shape ``(N, C, *out_size)``.

        ``backward(gy, in_size, geometry) -> gx``: sums of windows of ``gy``.
    """

    name = "unpooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:UnpoolingNDKernel"


max_pooling_nd = MaxPoolingND()
window_indexing = WindowIndexing()
average_pooling_nd = AveragePoolingND()
unpooling_nd = UnpoolingND()
