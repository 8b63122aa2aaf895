"""Pooling over sliding windows."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class MaxPoolingND(Operation):
    """Maximum of sliding windows.

    ``x`` of shape ``(N, C, d_1, ..., d_n)`` is reduced to ``y`` of shape ``(N, C, *out_size)``.
    Window number ``t`` of a dimension starts at ``t * stride - pad``; positions outside ``x``
    count as minus infinity.

    ``select(x, ksize=, stride=, pad=, out_size=)``: attributes are tuples of ``n`` ints.

    Methods:
        ``forward(x, ksize, stride, pad, out_size) -> (y, residual)``; the residual is opaque, it
        is kept on the node and given to ``backward``.

        ``backward(x, y, gy, residual, ksize, stride, pad) -> gx``: each window passes its
        gradient to its first maximum in row-major order. Shape and dtype of ``x``.
    """

    name = "max_pooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:MaxPoolingNDKernel"


class WindowIndexing(Operation):
    """One chosen element of each sliding window.

    An index is the row-major position within a window. ``select(x, ksize=, stride=, pad=)`` where
    ``x`` is the larger of the two images; see :class:`MaxPoolingND` for the geometry.

    Methods:
        ``find(x, y, ksize, stride, pad) -> indices``: first element of each window of ``x`` that
        equals ``y``; not-a-number equals itself. Zero where there is none. Shape of ``y``,
        integers.

        ``gather(x, indices, ksize, stride, pad) -> y``: the chosen elements; zero for those
        outside ``x``.

        ``scatter(y, indices, in_size, ksize, stride, pad) -> x``: the adjoint of ``gather``, with
        spatial size ``in_size``.
    """

    name = "window_indexing"
    methods = ("find", "gather", "scatter")
    reference = "chainer.backends.numpy.kernels.poolings:WindowIndexingKernel"


class AveragePoolingND(Operation):
    """Mean of sliding windows; see :class:`MaxPoolingND` for the geometry.

    ``select(x, ksize=, stride=, pad=, out_size=, pad_value=)``. With ``pad_value`` 0 positions
    outside ``x`` count as zeros, with None they do not count.

    Methods:
        ``forward(x, ksize, stride, pad, out_size, pad_value) -> y``.

        ``backward(gy, in_size, ksize, stride, pad, pad_value) -> gx`` with spatial size
        ``in_size``.

    float16 is accumulated in float32.
    """

    name = "average_pooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:AveragePoolingNDKernel"


class UnpoolingND(Operation):
    """Spreading of each element over its window; windows that overlap add up.

    ``select(x, ksize=, stride=, pad=, out_size=)`` with ``x`` of shape ``(N, C, l_1, ..., l_n)``.
    Windows lie on the output, as :class:`MaxPoolingND` lays them on its input.

    Methods:
        ``forward(x, out_size, ksize, stride, pad) -> y`` of shape ``(N, C, *out_size)``.

        ``backward(gy, in_size, ksize, stride, pad) -> gx``: sums of windows of ``gy``.
    """

    name = "unpooling_nd"
    reference = "chainer.backends.numpy.kernels.poolings:UnpoolingNDKernel"


max_pooling_nd = MaxPoolingND()
window_indexing = WindowIndexing()
average_pooling_nd = AveragePoolingND()
unpooling_nd = UnpoolingND()
