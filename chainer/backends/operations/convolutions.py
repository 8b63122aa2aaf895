"""Convolutions, and the rearrangement of patches."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class ConvolutionND(Operation):
    """Convolution (cross-correlation) in any number of dimensions, with both of its gradients.

    With ``x`` of shape ``(N, C, d_1, ..., d_n)``, ``W`` of shape ``(O, C / groups, k_1, ...,
    k_n)`` and ``y`` of shape ``(N, O, l_1, ..., l_n)``, window number ``t`` of a dimension starts
    at ``t * stride - pad``; positions outside ``x`` count as zero. The output size ``l`` is an
    argument of its own and may exceed what fits into the padded input (``cover_all``).
    Deconvolution is the gradient w.r.t. ``x``.

    ``select(x, W, b, stride=, pad=, dilate=, groups=, out_size=, transposed=)``: all attributes
    but the last two are tuples of ``n`` ints (``groups`` an int). ``out_size`` is the spatial
    size of the result. With ``transposed`` False the call is a convolution of ``x``; with
    ``transposed`` True it is a deconvolution: ``x`` takes the place of ``y`` above, ``W`` has the
    shape ``(O, C / groups, ...)`` with ``O`` channels of ``x``, and ``b`` has ``C`` elements.
    ``b`` may be None. Dtypes are floating point; ``W`` may differ from ``x``.

    Methods:
        ``forward(x, W, b, out_size, stride, pad, dilate, groups) -> y``, dtype of ``x``.

        ``backward_data(gy, W, b, in_size, stride, pad, dilate, groups) -> gx`` with spatial size
        ``in_size`` and the dtype of ``gy``; ``b`` (or None) is added to each channel of ``gx``:
        it makes this a deconvolution.

        ``backward_weight(x, gy, ksize, dtype, stride, pad, dilate, groups) -> gW`` of shape
        ``(O, C / groups, *ksize)`` and the given dtype.

        ``backward_weight_and_bias(x, gy, ksize, dtype, stride, pad, dilate, groups) -> (gW, gb)``,
        optional: the same with the sums of ``gy`` by channel, where one pass gives both.

    float16 is accumulated in float32.
    """

    name = "convolution_nd"
    methods = ("forward", "backward_data", "backward_weight")
    reference = "chainer.backends.numpy.kernels.convolutions:ConvolutionNDKernel"


class Im2Col(Operation):
    """Extraction of the patches of images, and its adjoint.

    ``select(x, ksize=, stride=, pad=, dilate=, out_size=)`` with ``x`` of shape ``(N, C, d_1,
    ..., d_n)``.

    Methods:
        ``forward(x, ksize, stride, pad, dilate, out_size) -> patches`` of shape ``(N, C, *ksize,
        *out_size)``.

        ``backward(patches, in_size, stride, pad, dilate) -> x``: patches added up to images of
        shape ``(N, C, *in_size)``.
    """

    name = "im2col"
    reference = "chainer.backends.numpy.kernels.convolutions:Im2ColKernel"


convolution_nd = ConvolutionND()
im2col = Im2Col()
