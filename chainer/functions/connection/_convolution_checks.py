"""Type checks and arguments of convolutions and deconvolutions of any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.typing import Shape
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes, get_conv_outsize
from chainer.functions._errors import InvalidGroups, InvalidValue, expect_as
from chainer.functions.rules import expect_weighted


def as_outsize(outsize: object, ndim: int) -> Shape:
    """Returns the argument ``outsize`` of a deconvolution as a tuple.

    Raises:
        TypeError: If it is a number.
        ValueError: If it does not have ``ndim`` elements.
    """
    if not isinstance(outsize, Iterable):
        raise TypeError(f"outsize must be a tuple of {ndim} ints, got {outsize!r}")
    return as_sizes(outsize, ndim, "outsize")


def check_convolution_types(
    in_types: type_check.TypeInfoTuple,
    ndim: int,
    groups: int,
    show_groups: bool,
    any_dtype: bool = True,
) -> None:
    """Checks the inputs of a convolution.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.
        ndim: Number of spatial dimensions.
        groups: Number of groups.
        show_groups: Whether error messages show the number of groups even if it is one.
        any_dtype: Whether the bias may have another dtype than ``x``.
    """
    x_type, w_type = _check_images(in_types, ndim)
    if groups != 1:
        expect_as(InvalidGroups, x_type.shape[1] % groups == 0, w_type.shape[0] % groups == 0)
    channels = w_type.shape[1] * groups if show_groups or groups != 1 else w_type.shape[1]
    expect_as(InvalidValue, x_type.shape[1] == channels)
    check_bias(in_types, w_type.shape[0], any_dtype)


def check_deconvolution_types(
    in_types: type_check.TypeInfoTuple,
    geometry: ConvolutionGeometry,
    out_size: Shape | None,
    any_dtype: bool = True,
) -> None:
    """Checks the inputs of a deconvolution.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.
        geometry: Geometry.
        out_size: Spatial size of the output as given by the user, or None.
        any_dtype: Whether the bias may have another dtype than ``x``.
    """
    x_type, w_type = _check_images(in_types, geometry.ndim)
    stride, pad, dilate, groups = geometry
    if groups != 1:
        expect_as(InvalidGroups, x_type.shape[1] % groups == 0)
    expect_as(InvalidValue, x_type.shape[1] == w_type.shape[0])
    if out_size is not None:
        for i, (size, s, p, d) in enumerate(zip(out_size, stride, pad, dilate, strict=True), 2):
            # A convolution of an output of this size has the size of the input, either without or
            # with ``cover_all``.
            type_check.expect(
                get_conv_outsize(size, w_type.shape[i], s, p, d=d) <= x_type.shape[i],
                x_type.shape[i] <= get_conv_outsize(size, w_type.shape[i], s, p, True, d=d),
            )
    channels = w_type.shape[1] if groups == 1 else w_type.shape[1] * groups
    check_bias(in_types, channels, any_dtype)


def _check_images(in_types: type_check.TypeInfoTuple, ndim: int) -> tuple[Any, Any]:
    """Checks what convolutions and deconvolutions have in common; returns the first two types."""
    x_type, w_type = expect_weighted(in_types)
    type_check.expect(x_type.ndim == ndim + 2, w_type.ndim == ndim + 2)
    return x_type, w_type


def check_bias(in_types: type_check.TypeInfoTuple, channels: Any, any_dtype: bool = False) -> None:
    """Checks the third input, if there is one: a vector with one element per output channel.

    Args:
        in_types: Types of ``x``, ``W`` and possibly ``b``.
        channels: Number of output channels.
        any_dtype: Whether the bias may have another dtype than ``x``.
    """
    if len(in_types) == 3:
        x_type, b_type = in_types[0], in_types[2]
        type_check.expect(
            b_type.dtype.kind == "f" if any_dtype else b_type.dtype == x_type.dtype,
            b_type.ndim == 1,
        )
        expect_as(InvalidValue, b_type.shape[0] == channels)
