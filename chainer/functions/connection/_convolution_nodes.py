"""Convolution, deconvolution and the gradient of the weight, as nodes of the graph.

A convolution relates three arrays: the input, the weight and the output. Each of the three nodes
computes one of them (or its gradient) from the two others. So the gradients of each node are the
other two nodes, and gradients of any order need no further classes.
"""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

from chainer.backends.operations.convolutions import (
    ConvolutionGeometry,
    convolution_size,
    deconvolution_size,
)
from chainer.backends.operations.convolutions import convolution_nd as operation
from chainer.backends.operations.reductions import axes_sum
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.batching import is_batched
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    DType,
    Grads,
    Indexes,
    IntTuple,
    Shape,
    Variables,
)
from chainer.core.utils import type_check
from chainer.functions._spatial_dimensions import (
    WindowAttributes,
    check_out_size,
)
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.moveaxis import moveaxis
from chainer.functions.array.reshape import reshape
from chainer.functions.connection._convolution_checks import (
    as_outsize,
    check_convolution_types,
    check_deconvolution_types,
)
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules.batching import with_samples


class ConvolutionNode(WindowAttributes, FunctionNode):
    """Base of the three nodes.

    Attributes:
        geometry: Where the windows are on the larger image.
        kernel: Implementation of operation ``convolution_nd``. The first of related nodes selects
            it, and passes it on to the nodes of its gradients.
    """

    accepts_opaque_arrays = True
    geometry: ConvolutionGeometry
    kernel: Any = None

    @property
    def ndim(self) -> int:
        """Number of spatial dimensions."""
        return len(self.geometry.stride)

    @property
    def dilate(self) -> Shape:
        """Distance between neighboring elements of a window."""
        return self.geometry.dilate

    @property
    def groups(self) -> int:
        """Number of groups of channels."""
        return self.geometry.groups

    def convolve(self, x: Variable, W: Variable, out_size: Shape) -> Variable:
        """Convolves ``x`` with the geometry and the kernel of this node."""
        stride, pad, dilate, groups = self.geometry
        node = ConvolutionND(len(stride), stride, pad, False, dilate, groups)
        return node.apply_with(self.kernel, out_size, x, W)

    def deconvolve(self, x: Variable, W: Variable, out_size: Shape) -> Variable:
        """Deconvolves ``x`` with the geometry and the kernel of this node."""
        stride, pad, dilate, groups = self.geometry
        node = DeconvolutionND(len(stride), stride, pad, out_size, dilate, groups)
        return node.apply_with(self.kernel, out_size, x, W)

    def differentiate_weight(self, x: Variable, gy: Variable, W: Variable) -> Variable:
        """Returns the gradient of a convolution of ``x`` with respect to its weight ``W``."""
        node = ConvolutionNDGradW(self.geometry, self.kernel, W.shape[2:], W.dtype)
        return node.apply((x, gy))[0]


class _SizedNode(ConvolutionNode):
    """Convolution or deconvolution: the nodes that compute an image.

    Attributes:
        transposed: Whether the node is a deconvolution.
        outs: Spatial size of the output; None until it is known.
    """

    transposed: ClassVar[bool] = False
    outs: Shape | None = None
    #: The output size that the user or the caller of :meth:`apply_with` gave.
    _given_size: Shape | None = None
    #: Number of equal parts of the weight; see :meth:`_computed_by_part`.
    _equal_parts: int = 1
    #: Kernel for one of these parts; None until it is selected.
    _kernel_of_part: Any = None

    def apply_with(self, kernel: Any, out_size: Shape, *inputs: Variable) -> Variable:
        """Applies the node with a selected kernel, for an output of known size."""
        self.kernel = kernel
        self._given_size = tuple(out_size)
        return self.apply(inputs)[0]

    def _compute_size(self, in_size: Shape, ksize: Shape) -> Shape:
        """Returns the spatial size of the output."""
        raise NotImplementedError

    def _check_size(self, out_size: Shape) -> None:
        """Raises an error for an output without elements."""
        check_out_size(out_size)

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs((0, 1))
        x, W, b = inputs if len(inputs) == 3 else (*inputs, None)
        if b is not None and b.dtype != x.dtype:
            # With mixed precision the bias may have another dtype. The output has the dtype of x.
            b = b.astype(x.dtype)
        geometry, out_size = self.geometry, self._given_size
        if out_size is None:
            out_size = self._compute_size(x.shape[2:], W.shape[2:])
            self._check_size(out_size)
        # Programs that export graphs read this attribute.
        self.outs = out_size
        kernel = self.kernel
        if kernel is None:
            kernel = self.kernel = operation.select(
                x, W, b, geometry=geometry, out_size=out_size, transposed=self.transposed
            )
        return (self._computed(x, W, b, out_size, self.transposed),)

    def _computed(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, transposed: bool
    ) -> Array:
        """Convolves or deconvolves.

        Args:
            x: Input, or the gradient of the output.
            W: Weight.
            b: Bias, or None.
            out_size: Spatial size of the result.
            transposed: Whether to deconvolve.
        """
        if self._equal_parts > 1:
            return self._computed_by_part(x, W, b, out_size, transposed)
        compute = self.kernel.backward_data if transposed else self.kernel.forward
        return compute(x, W, b, out_size, self.geometry)

    def _computed_by_part(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, transposed: bool
    ) -> Array:
        """Does the work of :meth:`_computed` where all samples of ``vmap`` have the same weight.

        The groups of the one image become images of one convolution with one part of the weight.
        That takes 0.9 of the time, and 0.7 for the gradient of the input (32 samples of 16 channels
        of 14 x 14, AMD Zen 3, one thread).
        """
        parts = self._equal_parts
        images = x.reshape(parts, x.shape[1] // parts, *x.shape[2:])
        part = W[: W.shape[0] // parts]
        geometry = self.geometry._replace(groups=self.geometry.groups // parts)
        kernel = self._kernel_of_part
        if kernel is None:
            kernel = self._kernel_of_part = operation.select(
                images, part, None, geometry=geometry, out_size=out_size, transposed=transposed
            )
        compute = kernel.backward_data if transposed else kernel.forward
        y = compute(images, part, None, out_size, geometry)
        if b is not None:
            y += b.reshape(*y.shape[:2], *[1] * len(out_size))
        return y.reshape(1, -1, *out_size)

    batch_inputs = (0,)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        if not any(are_batched[1:]):
            return super().batched(inputs, are_batched, size)
        # Weights that differ from sample to sample are groups of one convolution.
        x, W, *bias = with_samples(inputs, are_batched, size)
        length = x.shape[1]
        joined = _as_channels(x)
        node = copy.copy(self)
        node.geometry = self.geometry._replace(groups=size * self.geometry.groups)
        if length == 1 and _is_same_for_all(W):
            node._equal_parts = size
        weights = reshape(W, (size * W.shape[1], *W.shape[2:]))
        biases = [reshape(b, (size * b.shape[1],)) for b in bias]
        (y,) = node.apply((joined, weights, *biases))
        return (_as_samples(y, size),)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        # The product of x and W, and the sum with b.
        out_size = self.outs
        assert out_size is not None
        compute = self.deconvolve if self.transposed else self.convolve
        x, W = self.get_retained_inputs()
        total: Variable | None = None
        for i, tangent in zip(moving, tangents, strict=True):
            if i < 2:
                part = compute(x, tangent, out_size) if i else compute(tangent, W, out_size)
            else:
                channels = tangent.shape[0]
                column = reshape(tangent, (1, channels, *[1] * len(out_size)))
                part = cast(broadcast_to(column, (x.shape[0], channels, *out_size)), x.dtype)
            total = part if total is None else total + part
        return (total,)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Variables:
        x, W = self.get_retained_inputs()
        (gy,) = grad_outputs
        assert gy is not None
        gradients: list[Variable] = []
        for i in target_input_indexes:
            if i == 0:
                compute = self.convolve if self.transposed else self.deconvolve
                gradients.append(compute(gy, W, x.shape[2:]))
            elif i == 1:
                image, windows = (gy, x) if self.transposed else (x, gy)
                gradients.append(self.differentiate_weight(image, windows, W))
            else:
                gb = sum_axes(gy, axis=_all_but_channels(gy))
                dtype = self.input_nodes[2].dtype
                gradients.append(gb if gb.dtype == dtype else cast(gb, dtype))
        return tuple(gradients)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, W = self.retained_input_arrays
        (gy,) = grad_outputs
        kernel, geometry = self.kernel, self.geometry
        gradients: list[Array] = []
        gb = None
        for i in target_input_indexes:
            if i == 0:
                gradients.append(self._computed(gy, W, None, x.shape[2:], not self.transposed))
            elif i == 1:
                image, windows = (gy, x) if self.transposed else (x, gy)
                # A kernel that reads all of gy for the weight may also sum it in the same pass. It
                # sums the windows, and only in a convolution gy is the array of windows.
                both = getattr(kernel, "backward_weight_and_bias", None)
                if both is None or self.transposed or 2 not in target_input_indexes:
                    compute = kernel.backward_weight
                    gradients.append(compute(image, windows, W.shape[2:], W.dtype, geometry))
                else:
                    gW, gb = both(image, windows, W.shape[2:], W.dtype, geometry)
                    gradients.append(gW)
            else:
                gb = bias_gradient(gy) if gb is None else gb
                dtype = self.input_nodes[2].dtype
                gradients.append(gb if gb.dtype == dtype else gb.astype(dtype))
        return tuple(gradients)


class ConvolutionND(_SizedNode):
    """Convolution in any number of dimensions.

    Args:
        ndim (int): Number of spatial dimensions.
        stride (int or tuple of ints): Stride.
        pad (int or tuple of ints): Padding.
        cover_all (bool): Whether each position of the input is covered.
        dilate (int or tuple of ints): Dilation.
        groups (int): Number of groups of channels.
    """

    def __init__(
        self,
        ndim: int,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        cover_all: bool = False,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        self.geometry = ConvolutionGeometry.checked(ndim, stride, pad, dilate, groups)
        self.cover_all = cover_all

    type_check_key = ("ndim", "groups")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_convolution_types(in_types, self.ndim, self.groups, show_groups=False)

    def _compute_size(self, in_size: Shape, ksize: Shape) -> Shape:
        return convolution_size(self.geometry, in_size, ksize, self.cover_all)


class DeconvolutionND(_SizedNode):
    """Deconvolution (transposed convolution) in any number of dimensions.

    Args:
        ndim (int): Number of spatial dimensions.
        stride (int or tuple of ints): Stride.
        pad (int or tuple of ints): Padding.
        outsize (tuple of ints): Size of the output; computed if None.
        dilate (int or tuple of ints): Dilation.
        groups (int): Number of groups of channels.
    """

    transposed = True
    #: A deconvolution has no such mode. Programs that read graphs expect the attribute.
    cover_all = False
    type_check_key = ("outsize", "geometry")

    def __init__(
        self,
        ndim: int,
        stride: IntTuple = 1,
        pad: IntTuple = 0,
        outsize: Shape | None = None,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        self.geometry = ConvolutionGeometry.checked(ndim, stride, pad, dilate, groups)
        self.outsize = None if outsize is None else as_outsize(outsize, ndim)
        self.outs = self._given_size = self.outsize

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_deconvolution_types(in_types, self.geometry, self.outsize)

    def _compute_size(self, in_size: Shape, ksize: Shape) -> Shape:
        return deconvolution_size(self.geometry, in_size, ksize)


class ConvolutionNDGradW(ConvolutionNode):
    """Gradient of a convolution with respect to its weight, a function of its input and ``gy``.

    Args:
        geometry: Geometry of the convolution.
        kernel: Kernel of the convolution.
        ksize: Spatial size of the weight.
        dtype: Dtype of the weight.
    """

    is_multilinear = True
    type_check_key = ()

    def __init__(
        self, geometry: ConvolutionGeometry, kernel: Any, ksize: Shape, dtype: DType
    ) -> None:
        self.geometry = geometry
        self.kernel = kernel
        self._ksize = ksize
        self._dtype = dtype

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs((0, 1))
        x, gy = inputs
        return (self.kernel.backward_weight(x, gy, self._ksize, self._dtype, self.geometry),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        x, gy = inputs
        node = copy.copy(self)
        if are_batched[0] or self.geometry.groups > 1:
            # Samples are groups of one convolution, as their weights are.
            x, gy = with_samples(inputs, are_batched, size)
            x = _as_channels(x)
            node.geometry = self.geometry._replace(groups=size * self.geometry.groups)
        # Of one input, gradients that differ from sample to sample are further channels.
        (gW,) = node.apply((x, _as_channels(gy)))
        return (reshape(gW, (size, gW.shape[0] // size, *gW.shape[1:])),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Variables:
        x, gy = self.get_retained_inputs()
        (ggW,) = grad_outputs
        assert ggW is not None
        return tuple(
            [
                self.convolve(x, ggW, gy.shape[2:]) if i else self.deconvolve(gy, ggW, x.shape[2:])
                for i in target_input_indexes
            ]
        )


def _as_channels(x: Variable) -> Variable:
    """Returns images ``(samples, N, C, ...)`` as ``(N, samples * C, ...)``."""
    size, length, channels = x.shape[:3]
    # One image is the usual sample. Its batch axis has nothing to exchange, so one node is enough.
    turned = x if length == 1 else moveaxis(x, 0, 1)
    return reshape(turned, (length, size * channels, *x.shape[3:]))


def _as_samples(y: Variable, size: int) -> Variable:
    """Returns images ``(N, samples * C, ...)`` as ``(samples, N, C, ...)``."""
    length, channels = y.shape[0], y.shape[1] // size
    if length == 1:
        return reshape(y, (size, 1, channels, *y.shape[2:]))
    return moveaxis(reshape(y, (length, size, channels, *y.shape[2:])), 1, 0)


def _is_same_for_all(x: Variable) -> bool:
    """Returns whether all samples are in the same memory, as broadcast ones are."""
    # A batched array is the one of samples of another call of chainer.vmap.
    strides: Shape | None = None if is_batched(x) else getattr(x.array, "strides", None)
    return bool(strides) and strides[0] == 0 and x.shape[0] > 1


def _all_but_channels(y: Array | Variable) -> Shape:
    return (0, *range(2, y.ndim))


def bias_gradient(gy: Array) -> Array:
    """Returns the sums of ``gy`` by channel, the gradient of a bias."""
    if not backend_of(gy).makes_xp_arrays:
        # A blocked layout has no NumPy view to reshape; the array type sums it itself.
        return gy.sum(axis=_all_but_channels(gy))
    # Positions are contiguous: summing them first reads memory in order and leaves a small array.
    gy = gy.reshape(*gy.shape[:2], math.prod(gy.shape[2:]))
    sums = axes_sum.select(gy).forward(gy, 2, False)
    return axes_sum.select(sums).forward(sums, 0, False)
