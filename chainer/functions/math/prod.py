"""Product of array elements."""

from __future__ import annotations

import math

import numpy

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Axis, Indexes, VariableLike, Variables
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import (
    ReducesAxes,
    kept_shape,
    normalized_axes,
)
from chainer.functions.array.concat import concat
from chainer.functions.rules import ComposedFunction


class Prod(ReducesAxes, ComposedFunction):
    """Product of array elements over given axes."""

    argument_names = ("x",)

    retained_inputs = (0,)
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.asarray(inputs[0].prod(axis=self.axis, keepdims=self.keepdims)),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        xp = self.xp
        (x,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        axes = normalized_axes(self.axis, x.ndim)
        kept = kept_shape(x.shape, axes)
        gy: Array = grad_outputs[0]
        gy = gy.reshape(kept)
        # Dividing is several times faster, but wrong if a product is zero or infinite. On a device,
        # asking that means waiting for it.
        if xp is numpy:
            size = abs(y)
            if ((size >= numpy.finfo(y.dtype).tiny) & (size < numpy.inf)).all():
                return ((y.reshape(kept) * gy) / x,)
        if not x.size:
            return (xp.zeros_like(x),)
        # The product of the other elements: of those before and of those after.
        free = [a for a in range(x.ndim) if a not in axes]
        order = (*free, *axes)
        moved = x.transpose(order)
        flat = moved.reshape((*moved.shape[: len(free)], -1))
        others = xp.ones_like(flat)
        others[..., 1:] = xp.cumprod(flat[..., :-1], axis=-1)
        others[..., :-1] *= xp.cumprod(flat[..., :0:-1], axis=-1)[..., ::-1]
        inverse = sorted(range(x.ndim), key=order.__getitem__)
        return (others.reshape(moved.shape).transpose(inverse) * gy,)

    def compose(self, x: Variable) -> Variables:
        shape = x.shape
        axes = normalized_axes(self.axis, len(shape))
        free = [a for a in range(len(shape)) if a not in axes]
        outer = tuple([shape[a] for a in free])
        count = math.prod([shape[a] for a in axes])
        flat = x.transpose((*free, *axes)).reshape((*outer, count))
        # The product of nothing is one and depends on no element.
        if count == 0:
            flat = as_variable(self.xp.ones((*outer, 1), dtype=x.dtype))
        # One half times the other until one element is left: in few steps, and without division.
        while flat.shape[-1] > 1:
            half = flat.shape[-1] // 2
            product = flat[..., :half] * flat[..., half : 2 * half]
            odd = flat.shape[-1] % 2
            flat = concat([product, flat[..., -1:]], axis=-1) if odd else product
        return (flat.reshape(kept_shape(shape, axes) if self.keepdims else outer),)


@explained_keywords
def prod(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Product of array elements over a given axis. The gradient is right for zeros, too.

    Args:
        x (Variable or array): Input of any shape, floating point.
        axis (None, int, or tuple of int): Axis or axes to multiply along; all by default.
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
