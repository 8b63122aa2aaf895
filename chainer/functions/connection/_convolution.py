"""What convolutions and deconvolutions of any number of dimensions have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from chainer.backends.operations.convolutions import convolution_nd as operation
from chainer.backends.operations.reductions import axes_sum
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes, get_conv_outsize, get_deconv_outsize
from chainer.functions.math.sum import sum as sum_axes

Sizes = tuple[int, ...]


class Geometry:
    """How windows lie on the input of a convolution, and the kernel that was chosen for it.

    Attributes:
        stride: Distance between windows.
        pad: Padding.
        dilate: Distance between the elements of a window.
        groups: Number of groups of channels.
        kernel: Implementation of operation ``convolution_nd``; None until chosen.
    """

    __slots__ = ("dilate", "groups", "kernel", "pad", "stride")

    def __init__(self, stride: Sizes, pad: Sizes, dilate: Sizes, groups: int) -> None:
        if groups < 1:
            raise ValueError(f"groups must be positive, got {groups}")
        self.stride = stride
        self.pad = pad
        self.dilate = dilate
        self.groups = groups
        self.kernel: Any = None

    def arguments(self) -> tuple[Any, ...]:
        """Returns what the methods of the kernel take last."""
        return self.stride, self.pad, self.dilate, self.groups

    def select(self, x: Any, W: Any, b: Any, out_size: Sizes, transposed: bool) -> None:
        """Chooses the kernel unless that was done."""
        if self.kernel is None:
            self.kernel = operation.select(
                x,
                W,
                b,
                stride=self.stride,
                pad=self.pad,
                dilate=self.dilate,
                groups=self.groups,
                out_size=out_size,
                transposed=transposed,
            )


def as_outsize(outsize: Any, ndim: int) -> Sizes:
    """Returns the argument ``outsize`` of a deconvolution as a tuple.

    Raises:
        TypeError: If it is a number.
        ValueError: If it has not ``ndim`` elements.
    """
    if not isinstance(outsize, Iterable):
        raise TypeError(f"outsize must be a tuple of {ndim} ints, got {outsize!r}")
    return as_sizes(outsize, ndim, "outsize")


class ConvolutionBase(FunctionNode):
    """Convolution; subclasses have methods that return the classes of its gradients.

    Attributes:
        geometry: How the windows lie on the input.
        cover_all: Whether each position of the input is covered.
        groups: Number of groups of channels.
    """

    accepts_opaque_arrays = True
    deconvolution_class: ClassVar[Any]
    weight_gradient_class: ClassVar[Any]

    def _setup(self, geometry: Geometry, cover_all: bool, out_size: Sizes | None = None) -> None:
        self.geometry = geometry
        self.cover_all = cover_all
        self.groups = geometry.groups
        self._out_size = out_size

    @classmethod
    def _of(cls, geometry: Geometry, out_size: Sizes) -> Self:
        """Makes a node of a known output size."""
        node = cls.__new__(cls)
        node._setup(geometry, False, tuple(out_size))
        return node

    def _check_out_size(self, out_size: Sizes) -> None:
        if min(out_size) <= 0:
            raise ValueError(f"Output sizes should be positive. Actual: {out_size}")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x, W = inputs[:2]
        b = inputs[2] if len(inputs) == 3 else None
        geometry = self.geometry
        out_size = self._out_size
        if out_size is None:
            out_size = tuple(
                [
                    get_conv_outsize(n, k, s, p, self.cover_all, d)
                    for n, k, s, p, d in zip(
                        x.shape[2:],
                        W.shape[2:],
                        geometry.stride,
                        geometry.pad,
                        geometry.dilate,
                        strict=True,
                    )
                ]
            )
            self._check_out_size(out_size)
        geometry.select(x, W, b, out_size, False)
        return (geometry.kernel.forward(x, W, b, out_size, *geometry.arguments()),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        x, W = self.get_retained_inputs()
        (gy,) = grad_outputs
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                node = self.deconvolution_class()._of(self.geometry, x.shape[2:])
                gradients.append(node.apply((gy, W))[0])
            elif i == 1:
                node = self.weight_gradient_class()(self.geometry, W.shape[2:], W.dtype)
                gradients.append(node.apply((x, gy))[0])
            else:
                gradients.append(sum_axes(gy, axis=_all_but_channels(gy)))
        return tuple(gradients)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, W = self.retained_input_arrays
        (gy,) = grad_outputs
        kernel, arguments = self.geometry.kernel, self.geometry.arguments()
        gradients: list[Any] = []
        gb = None
        for i in target_input_indexes:
            if i == 0:
                gradients.append(kernel.backward_data(gy, W, None, x.shape[2:], *arguments))
            elif i == 1:
                # Kernels that pass over gy anyway may sum it up on the way.
                both = getattr(kernel, "backward_weight_and_bias", None)
                if both is None or 2 not in target_input_indexes:
                    gW = kernel.backward_weight(x, gy, W.shape[2:], W.dtype, *arguments)
                else:
                    gW, gb = both(x, gy, W.shape[2:], W.dtype, *arguments)
                gradients.append(gW)
            else:
                gradients.append(bias_gradient(gy) if gb is None else gb)
        return tuple(gradients)


class DeconvolutionBase(FunctionNode):
    """Deconvolution (transposed convolution); subclasses return the classes of its gradients.

    Attributes:
        geometry: How the windows lie on the output.
        groups: Number of groups of channels.
        outsize: Spatial size of the output as given, or None.
    """

    accepts_opaque_arrays = True
    convolution_class: ClassVar[Any]
    weight_gradient_class: ClassVar[Any]

    def _setup(self, geometry: Geometry, out_size: Sizes | None) -> None:
        self.geometry = geometry
        self.groups = geometry.groups
        self.outsize = out_size
        # What the type check depends on.
        self._windows = (geometry.stride, geometry.pad, geometry.dilate, geometry.groups)

    @classmethod
    def _of(cls, geometry: Geometry, out_size: Sizes) -> Self:
        """Makes a node of a known output size."""
        node = cls.__new__(cls)
        node._setup(geometry, tuple(out_size))
        return node

    def _check_out_size(self, out_size: Sizes) -> None:
        if min(out_size) <= 0:
            raise ValueError(f"Output sizes should be positive. Actual: {out_size}")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x, W = inputs[:2]
        b = inputs[2] if len(inputs) == 3 else None
        geometry = self.geometry
        out_size = self.outsize
        if out_size is None:
            out_size = tuple(
                [
                    get_deconv_outsize(n, k, s, p, d=d)
                    for n, k, s, p, d in zip(
                        x.shape[2:],
                        W.shape[2:],
                        geometry.stride,
                        geometry.pad,
                        geometry.dilate,
                        strict=True,
                    )
                ]
            )
            self._check_out_size(out_size)
        geometry.select(x, W, b, out_size, True)
        return (geometry.kernel.backward_data(x, W, b, out_size, *geometry.arguments()),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        x, W = self.get_retained_inputs()
        (gy,) = grad_outputs
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                node = self.convolution_class()._of(self.geometry, x.shape[2:])
                gradients.append(node.apply((gy, W))[0])
            elif i == 1:
                node = self.weight_gradient_class()(self.geometry, W.shape[2:], W.dtype)
                gradients.append(node.apply((gy, x))[0])
            else:
                gradients.append(sum_axes(gy, axis=_all_but_channels(gy)))
        return tuple(gradients)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x, W = self.retained_input_arrays
        (gy,) = grad_outputs
        kernel, arguments = self.geometry.kernel, self.geometry.arguments()
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(kernel.forward(gy, W, None, x.shape[2:], *arguments))
            elif i == 1:
                gradients.append(kernel.backward_weight(gy, x, W.shape[2:], W.dtype, *arguments))
            else:
                gradients.append(bias_gradient(gy))
        return tuple(gradients)


class WeightGradientBase(FunctionNode):
    """Gradient of a convolution w.r.t. its weight, a function of its input and ``gy``.

    Args:
        geometry: Geometry of the convolution.
        ksize: Spatial size of the weight.
        dtype: Dtype of the weight.
    """

    accepts_opaque_arrays = True
    convolution_class: ClassVar[Any]
    deconvolution_class: ClassVar[Any]

    def __init__(self, geometry: Geometry, ksize: Sizes, dtype: Any) -> None:
        self.geometry = geometry
        self._ksize = ksize
        self._dtype = dtype

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x, gy = inputs
        geometry = self.geometry
        return (
            geometry.kernel.backward_weight(x, gy, self._ksize, self._dtype, *geometry.arguments()),
        )

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        x, gy = self.get_retained_inputs()
        (ggW,) = grad_outputs
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                node: Any = self.deconvolution_class()._of(self.geometry, x.shape[2:])
                gradients.append(node.apply((gy, ggW))[0])
            else:
                node = self.convolution_class()._of(self.geometry, gy.shape[2:])
                gradients.append(node.apply((x, ggW))[0])
        return tuple(gradients)


def _all_but_channels(y: Any) -> Sizes:
    return (0, *range(2, y.ndim))


def bias_gradient(gy: Any) -> Any:
    """Sums up everything but channels; contiguous sums first."""
    if not backend_of(gy).makes_xp_arrays:
        return gy.sum(axis=_all_but_channels(gy))  # whatever the layout
    gy = gy.reshape(*gy.shape[:2], math.prod(gy.shape[2:]))
    sums = axes_sum.select(gy).forward(gy, 2, False)
    return axes_sum.select(sums).forward(sums, 0, False)


def check_convolution_types(
    in_types: type_check.TypeInfoTuple, ndim: int, groups: int, factor: bool = True
) -> None:
    """Checks the inputs of a convolution.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.
        ndim: Number of dimensions of ``x`` and ``W``.
        groups: Number of groups.
        factor: Whether the number of groups is shown if it is one.
    """
    n_in = in_types.size()
    type_check.expect(n_in >= 2, n_in <= 3)
    x_type, w_type = in_types[:2]
    channels = w_type.shape[1] * groups if factor or groups != 1 else w_type.shape[1]
    type_check.expect(
        x_type.dtype.kind == "f",
        w_type.dtype.kind == "f",
        x_type.ndim == ndim,
        w_type.ndim == ndim,
        x_type.shape[1] == channels,
    )
    if groups != 1:
        type_check.expect(w_type.shape[0] % groups == 0)
    if len(in_types) == 3:
        _check_bias(in_types, w_type.shape[0])


def check_deconvolution_types(
    in_types: type_check.TypeInfoTuple, ndim: int, geometry: Geometry, out_size: Sizes | None
) -> None:
    """Checks the inputs of a deconvolution.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.
        ndim: Number of dimensions of ``x`` and ``W``.
        geometry: Geometry.
        out_size: Spatial size of the output as given by the user, or None.
    """
    n_in = in_types.size()
    type_check.expect(n_in >= 2, n_in <= 3)
    x_type, w_type = in_types[:2]
    type_check.expect(
        x_type.dtype.kind == "f",
        w_type.dtype.kind == "f",
        x_type.ndim == ndim,
        w_type.ndim == ndim,
        x_type.shape[1] == w_type.shape[0],
    )
    groups = geometry.groups
    if groups != 1:
        type_check.expect(x_type.shape[1] % groups == 0)
    if out_size is not None:
        for i, (size, s, p, d) in enumerate(
            zip(out_size, geometry.stride, geometry.pad, geometry.dilate, strict=True), 2
        ):
            # The fewest and the most windows that a convolution of this output has.
            type_check.expect(
                get_conv_outsize(size, w_type.shape[i], s, p, d=d) <= x_type.shape[i],
                x_type.shape[i] <= get_conv_outsize(size, w_type.shape[i], s, p, True, d=d),
            )
    if len(in_types) == 3:
        _check_bias(in_types, w_type.shape[1] if groups == 1 else w_type.shape[1] * groups)


def _check_bias(in_types: type_check.TypeInfoTuple, channels: Any) -> None:
    x_type, b_type = in_types[0], in_types[2]
    type_check.expect(
        b_type.dtype == x_type.dtype,
        b_type.ndim == 1,
        b_type.shape[0] == channels,
    )
