"""The nodes of convolutions over images, and their names.

They compute as the nodes of any number of dimensions do. Programs that read graphs know them by the
names of their classes, and their attributes have the names of earlier releases.
"""

from __future__ import annotations

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, IntTuple, Shape
from chainer.core.utils import type_check
from chainer.core.utils.argument import (
    REMOVED_DETERMINISTIC,
    REMOVED_REQUIRES_X_GRAD,
    removed_arguments,
)
from chainer.functions._spatial_dimensions import (
    HEIGHT_AND_WIDTH,
    PlanarAttributes,
    PlanarOutput,
    check_out_size,
    component,
)
from chainer.functions.connection._convolution_checks import (
    check_convolution_types,
    check_deconvolution_types,
)
from chainer.functions.connection._convolution_nodes import (
    ConvolutionND,
    ConvolutionNDGradW,
    ConvolutionNode,
    DeconvolutionND,
)


class _TwoDimensional(PlanarAttributes, ConvolutionNode):
    """Mixin of the two-dimensional nodes: planar attributes, and two-dimensional gradient nodes.

    Programs that read graphs know the two-dimensional nodes by the names of their classes.
    """

    dy = component("dilate", 0, "Vertical dilation.")
    dx = component("dilate", 1, "Horizontal dilation.")

    def convolve(self, x: Variable, W: Variable, out_size: Shape) -> Variable:
        stride, pad, dilate, groups = self.geometry
        node = Convolution2DFunction(stride, pad, dilate=dilate, groups=groups)
        return node.apply_with(self.kernel, out_size, x, W)

    def deconvolve(self, x: Variable, W: Variable, out_size: Shape) -> Variable:
        stride, pad, dilate, groups = self.geometry
        size = (out_size[0], out_size[1])
        node = Deconvolution2DFunction(stride, pad, size, dilate=dilate, groups=groups)
        return node.apply_with(self.kernel, out_size, x, W)

    def differentiate_weight(self, x: Variable, gy: Variable, W: Variable) -> Variable:
        node = Convolution2DGradW(self.geometry, self.kernel, W.shape[2:], W.dtype)
        return node.apply((x, gy))[0]


class Convolution2DFunction(_TwoDimensional, ConvolutionND):
    """Two-dimensional convolution.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
        cover_all (bool): Whether each position of the input is covered.
        dilate (int or pair of ints): Dilation.
        groups (int): Number of groups of channels.
        cudnn_fast (bool): Hint for GPUs that channels should be last in memory; an error on other
            devices, as in earlier releases.
    """

    type_check_key = ("groups",)

    @removed_arguments(requires_x_grad=REMOVED_REQUIRES_X_GRAD, deterministic=REMOVED_DETERMINISTIC)
    def __init__(
        self,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        cover_all: bool = False,
        *,
        dilate: IntTuple = 1,
        groups: int = 1,
        cudnn_fast: bool = False,
    ) -> None:
        super().__init__(2, stride, pad, cover_all, dilate, groups)
        self.cudnn_fast = cudnn_fast

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_convolution_types(in_types, 2, self.groups, show_groups=True, any_dtype=False)

    def forward(self, inputs: Arrays) -> Arrays:
        if self.cudnn_fast and not backend_of(inputs[0]).is_accelerator:
            raise RuntimeError("'cudnn_fast' can't be used in the CPU backend")
        return super().forward(inputs)

    def _check_size(self, out_size: Shape) -> None:
        check_out_size(out_size, HEIGHT_AND_WIDTH)


class Deconvolution2DFunction(PlanarOutput, _TwoDimensional, DeconvolutionND):
    """Two-dimensional deconvolution.

    Args:
        stride (int or pair of ints): Stride.
        pad (int or pair of ints): Padding.
        outsize (pair of ints): Size of the output; computed if None.
        dilate (int or pair of ints): Dilation.
        groups (int): Number of groups of channels.
    """

    @removed_arguments(requires_x_grad=REMOVED_REQUIRES_X_GRAD, deterministic=REMOVED_DETERMINISTIC)
    def __init__(
        self,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        outsize: tuple[int, int] | None = None,
        *,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        super().__init__(2, stride, pad, outsize, dilate, groups)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_deconvolution_types(in_types, self.geometry, self.outsize, any_dtype=False)

    def _check_size(self, out_size: Shape) -> None:
        for name, size in zip(HEIGHT_AND_WIDTH, out_size, strict=True):
            if size <= 0:
                # Earlier releases raised this class of error here, and programs catch it.
                raise RuntimeError(f"{name} in the output must be positive. Actual: {size}")


class Convolution2DGradW(_TwoDimensional, ConvolutionNDGradW):
    """Gradient of a two-dimensional convolution with respect to its weight."""
