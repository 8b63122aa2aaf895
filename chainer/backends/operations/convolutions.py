"""Convolutions, and the extraction of patches from images."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from chainer.core.arrays.kernel import Operation, Recording
from chainer.core.typing import Shape
from chainer.core.utils.conv import as_sizes, get_conv_outsize, get_deconv_outsize


class ConvolutionGeometry(NamedTuple):
    """Where the windows of a convolution are on its input.

    All but ``groups`` are tuples of ``n`` ints, one for each spatial dimension. In a dimension,
    window number ``t`` starts at position ``t * stride - pad`` of the input.

    It is a named tuple because each selection of a kernel hashes and compares it, which a tuple
    does in C.

    Attributes:
        stride: Distance between neighboring windows.
        pad: Number of positions before and behind the input that count as zeros.
        dilate: Distance between neighboring elements of one window.
        groups: Number of groups of channels.
    """

    stride: Shape
    pad: Shape
    dilate: Shape
    groups: int = 1

    @property
    def ndim(self) -> int:
        """Number of spatial dimensions."""
        return len(self.stride)

    @classmethod
    def checked(
        cls, ndim: int, stride: object, pad: object, dilate: object = 1, groups: int = 1
    ) -> ConvolutionGeometry:
        """Makes a geometry of what users pass: one int for all dimensions, or one for each.

        Raises:
            ValueError: If there is not one value per dimension, or a value is not an int or too
                small.
        """
        if groups < 1:
            raise ValueError(f"groups must be positive, got {groups}")
        return cls(
            as_sizes(stride, ndim, "stride"),
            as_sizes(pad, ndim, "pad", least=0),
            as_sizes(dilate, ndim, "dilate"),
            groups,
        )


@lru_cache(maxsize=1024)
def convolution_size(
    geometry: ConvolutionGeometry, in_size: Shape, ksize: Shape, cover_all: bool = False
) -> Shape:
    """Returns the spatial size of the output of a convolution.

    Args:
        geometry: Geometry of the windows.
        in_size: Spatial size of the input.
        ksize: Spatial size of the weight.
        cover_all: Whether a last window covers the rest of the input.
    """
    # A network calls each of its convolutions with few shapes, so that a cache saves the loop.
    sizes = zip(in_size, ksize, geometry.stride, geometry.pad, geometry.dilate, strict=True)
    return tuple([get_conv_outsize(n, k, s, p, cover_all, d) for n, k, s, p, d in sizes])


@lru_cache(maxsize=1024)
def deconvolution_size(geometry: ConvolutionGeometry, in_size: Shape, ksize: Shape) -> Shape:
    """Returns the spatial size of the output of a deconvolution.

    Args:
        geometry: Geometry of the windows, which are on the output.
        in_size: Spatial size of the input.
        ksize: Spatial size of the weight.
    """
    sizes = zip(in_size, ksize, geometry.stride, geometry.pad, geometry.dilate, strict=True)
    return tuple([get_deconv_outsize(n, k, s, p, d=d) for n, k, s, p, d in sizes])


class ConvolutionND(Operation):
    """Convolution (cross-correlation) in any number of dimensions, with both of its gradients.

    The input ``x`` has the shape ``(N, C, d_1, ..., d_n)``, the weight ``W`` the shape ``(O, C /
    groups, k_1, ..., k_n)`` and the output ``y`` the shape ``(N, O, l_1, ..., l_n)``. A
    :class:`ConvolutionGeometry` tells where the windows are; positions outside ``x`` count as zero.
    The output size ``l`` is an argument of its own and may exceed what fits into the padded input
    (``cover_all``). Deconvolution is the gradient with respect to ``x``.

    ``select(x, W, b, geometry=, out_size=, transposed=)``: ``out_size`` is the spatial size of the
    result. With ``transposed`` False the call is a convolution of ``x``. With ``transposed`` True
    it is a deconvolution: ``x`` takes the place of ``y`` above, ``W`` has the shape ``(O, C /
    groups, ...)`` with ``O`` the number of channels of ``x``, and ``b`` has ``C`` elements. ``b``
    may be None. Dtypes are floating point; ``W`` may have another dtype than ``x``.

    Methods:
        ``forward(x, W, b, out_size, geometry) -> y``, dtype of ``x``.

        ``backward_data(gy, W, b, in_size, geometry) -> gx`` with spatial size ``in_size`` and the
        dtype of ``gy``. ``b`` (or None) is added to each channel of ``gx``; this makes the method a
        deconvolution.

        ``backward_weight(x, gy, ksize, dtype, geometry) -> gW`` of shape ``(O, C / groups,
        *ksize)`` and the given dtype.

        ``backward_weight_and_bias(x, gy, ksize, dtype, geometry) -> (gW, gb)``, optional: the same
        with the sums of ``gy`` by channel, for kernels that compute both in one pass.

    float16 is accumulated in float32.
    """

    name = "convolution_nd"
    methods = ("forward", "backward_data", "backward_weight")
    reference = "chainer.backends.numpy.kernels.convolutions:ConvolutionNDKernel"
    recording = Recording.SMALL_STEPS


class Im2Col(Operation):
    """Extraction of the patches of images, and its adjoint.

    ``select(x, ksize=, out_size=, geometry=)`` with ``x`` of shape ``(N, C, d_1, ..., d_n)`` and a
    :class:`ConvolutionGeometry` whose ``groups`` does not matter.

    Methods:
        ``forward(x, ksize, out_size, geometry) -> patches`` of shape ``(N, C, *ksize,
        *out_size)``.

        ``backward(patches, in_size, geometry) -> x``: patches added up to images of shape ``(N, C,
        *in_size)``.
    """

    name = "im2col"
    reference = "chainer.backends.numpy.kernels.convolutions:Im2ColKernel"


convolution_nd = ConvolutionND()
im2col = Im2Col()
