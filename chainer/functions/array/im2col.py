"""Extraction of patches from images."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.backends.operations.convolutions import im2col as im2col_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntPair, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import OutputSizeError, get_conv_outsize, pair
from chainer.core.utils.conv import _pair as _pair
from chainer.functions._spatial_dimensions import PlanarAttributes, component
from chainer.functions.rules import LinearMap

_Pair = tuple[int, int]


class Im2Col(PlanarAttributes, LinearMap):
    """Extracts the patches of images and puts them into the channel dimension."""

    batch_inputs = (0,)

    type_check_key = ()
    kh = component("ksize", 0, "Height of a patch.")
    kw = component("ksize", 1, "Width of a patch.")
    dy = component("dilate", 0, "Vertical dilation.")
    dx = component("dilate", 1, "Horizontal dilation.")

    def __init__(self, ksize: Any, stride: Any, pad: Any, cover_all: bool, dilate: Any) -> None:
        self.ksize = pair(ksize, "ksize")
        self.geometry = ConvolutionGeometry(
            pair(stride, "stride"), pair(pad, "pad", least=0), pair(dilate, "dilate")
        )
        self.dilate = self.geometry.dilate
        self.cover_all = cover_all

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == 4)

    def _out_size(self, in_size: _Pair) -> _Pair:
        out_size = [
            get_conv_outsize(n, k, s, p, self.cover_all, d)
            for n, k, s, p, d in zip(
                in_size, self.ksize, self.stride, self.pad, self.dilate, strict=True
            )
        ]
        for name, length in zip(("Height", "Width"), out_size, strict=True):
            if length <= 0:
                raise OutputSizeError(
                    f"{name} in the output should be positive, got {length}: a patch of size "
                    f"{self.ksize} does not fit into an image of size {in_size}"
                )
        return out_size[0], out_size[1]

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        n, c, *in_size = x.shape
        out_size = self._out_size((in_size[0], in_size[1]))
        self._kernel = im2col_operation.select(
            x, ksize=self.ksize, out_size=out_size, geometry=self.geometry
        )
        patches = self._kernel.forward(x, self.ksize, out_size, self.geometry)
        return (patches.reshape((n, c * self.ksize[0] * self.ksize[1], *out_size)),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        n, c, h, w = self.input_shape(0)
        # Patches overlap: what each pixel contributed to is added up.
        patches = gy.reshape((n, c, *self.ksize, *gy.shape[2:]))
        return (self._kernel.backward(patches, (h, w), self.geometry),)


@explained_keywords
def im2col(
    x: VariableLike,
    ksize: IntPair,
    stride: IntPair = 1,
    pad: IntPair = 0,
    cover_all: bool = False,
    dilate: IntPair = 1,
) -> Variable:
    """Extracts patches from an image based on the filter.

    This function rearranges patches of an image and puts them in the channel dimension of the
    output. Patches are extracted at positions shifted by multiples of ``stride`` from the first
    position ``-pad`` for each spatial axis. The right-most (or bottom-most) patches do not run over
    the padded spatial size.

    With :math:`n` the batch size, :math:`c` the number of channels, :math:`h` and :math:`w` the
    height and width of the image, :math:`k_H, k_W` the sizes of the filters, :math:`s_Y, s_X` the
    strides, :math:`p_H, p_W` the padding and :math:`d_Y, d_X` the dilation factors, the output size
    :math:`(h_O, w_O)` is

    .. math::
       h_O &= (h + 2p_H - k_H - (k_H - 1) * (d_Y - 1)) / s_Y + 1,\\\\
       w_O &= (w + 2p_W - k_W - (k_W - 1) * (d_X - 1)) / s_X + 1,

    rounded down. With ``cover_all``, :math:`s_Y - 1` and :math:`s_X - 1` are added to the
    dividends.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(n, c, h, w)`, floating
            point.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels). ``ksize=k`` and
            ``ksize=(k, k)`` are equivalent.
        stride (int or pair of ints): Stride of filter applications.
        pad (int or pair of ints): Spatial padding width for input arrays.
        cover_all (bool): If True, all spatial locations are rearranged into some output pixels. It
            may make the output size larger.
        dilate (int or pair of ints): Dilation factor of filter applications.

    Returns:
        ~chainer.Variable: Output of shape :math:`(n, c \\cdot k_H \\cdot k_W, h_O, w_O)`.

    Raises:
        InvalidType: If ``x`` is not four-dimensional or not of floating point numbers.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> F.im2col(x, 2).shape
        (1, 4, 2, 2)
    """
    return Im2Col(ksize, stride, pad, cover_all, dilate).apply((x,))[0]
