"""Product of array elements."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._axes import (
    Axis,
    check_axes_argument,
    check_axes_exist,
    kept_shape,
    normalized_axes,
)


class Prod(FunctionNode):
    """Product of array elements over given axes."""

    type_check_key = ("axis",)

    def __init__(self, axis: Axis = None, keepdims: bool = False) -> None:
        self.axis = check_axes_argument(axis)
        self.keepdims = keepdims

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (self.xp.asarray(inputs[0].prod(axis=self.axis, keepdims=self.keepdims)),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        xp = self.xp
        (x,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        axes = normalized_axes(self.axis, x.ndim)
        kept = kept_shape(x.shape, axes)
        gy = grad_outputs[0].reshape(kept)
        if xp is numpy:  # elsewhere, looking at values means waiting for them
            size = abs(y)
            if ((size >= numpy.finfo(y.dtype).tiny) & (size < numpy.inf)).all():
                return ((y.reshape(kept) * gy) / x,)
        # The product of the others without division: of those before and of those after.
        free = [a for a in range(x.ndim) if a not in axes]
        order = (*free, *axes)
        moved = x.transpose(order)
        flat = moved.reshape((*moved.shape[: len(free)], -1)) if x.size else moved
        if not x.size:
            return (xp.zeros_like(x),)
        others = xp.ones_like(flat)
        others[..., 1:] = xp.cumprod(flat[..., :-1], axis=-1)
        others[..., :-1] *= xp.cumprod(flat[..., :0:-1], axis=-1)[..., ::-1]
        inverse = sorted(range(x.ndim), key=order.__getitem__)
        return (others.reshape(moved.shape).transpose(inverse) * gy,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.array.concat import concat
        from chainer.functions.array.flip import flip
        from chainer.functions.array.reshape import reshape
        from chainer.functions.array.transpose import transpose

        (x,) = self.get_retained_inputs()
        (gy,) = grad_outputs
        axes = normalized_axes(self.axis, x.ndim)
        gy = broadcast_to(reshape(gy, kept_shape(x.shape, axes)), x.shape)
        # The product of the others: what comes before times what comes after, so that zeros need
        # no division. The reduced axes are brought to the end and flattened.
        kept = [a for a in range(x.ndim) if a not in axes]
        order = kept + list(axes)
        moved = transpose(x, order)
        shape = moved.shape
        outer = shape[: len(kept)]
        flat = reshape(moved, (*outer, _size(shape[len(kept) :])))
        n = flat.shape[-1]
        if n == 0:
            return (gy * 0,)
        one = self.xp.ones((*outer, 1), dtype=x.dtype)

        def before(values: Variable) -> Variable:
            if n == 1:
                return Variable(one)
            return concat([one, _cumprod(values[..., :-1])], axis=-1)

        others = before(flat) * flip(before(flip(flat, -1)), -1)
        others = reshape(others, shape)
        inverse = sorted(range(x.ndim), key=order.__getitem__)
        return (transpose(others, inverse) * gy,)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _cumprod(x: Variable) -> Variable:
    """Cumulative product along the last axis, in logarithmically many steps."""
    from chainer.functions.array.concat import concat

    n = x.shape[-1]
    shift = 1
    while shift < n:
        x = concat([x[..., :shift], x[..., shift:] * x[..., :-shift]], axis=-1)
        shift *= 2
    return x


def prod(x: Any, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Product of array elements over a given axis. Zeros are no problem for the gradient.

    Args:
        x (Variable or array): Input of any shape, floating point.
        axis (None, int, or tuple of int): Axis or axes along which the product is taken; all by
            default.
        keepdims (bool): Whether reduced axes stay, with length one.

    Returns:
        Variable: The product.

    Raises:
        InvalidType: If the dtype does not fit or an axis does not exist.
        TypeError: If ``axis`` is of a wrong type.
        ValueError: If an axis occurs twice.

    Example:
        >>> F.prod(np.array([[1., 2.], [3., 4.]]), axis=1)
        variable([ 2., 12.])
    """
    return Prod(axis, keepdims).apply((x,))[0]
