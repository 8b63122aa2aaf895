"""Cumulative product."""

from __future__ import annotations

import functools

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import check_axes_exist
from chainer.functions._scalars import as_int
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsOneAxis


class Cumprod(ShiftsOneAxis, UnaryFunction):
    """Cumulative product along an axis, or of the flattened array."""

    type_check_key = ("axis",)
    retained_inputs = (0,)
    retained_outputs = (0,)

    def __init__(self, axis: int | None) -> None:
        if axis is not None:
            axis = as_int(axis, f"axis must be int or None, got {type(axis).__name__}")
        self.axis = axis

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.cumprod(inputs[0], axis=self.axis),)

    def gradient(self, ops: Ops, x: Value, y: Value, gy: Value) -> Value:
        # gx[i] is the product of what comes before i, times the sum over k >= i of gy[k] times the
        # product between i and k. Nothing is divided by an element, so that x may contain zeros.
        shape = x.shape
        if self.axis is None:
            x = x.reshape((-1,)) if 0 not in shape else x.reshape((0,))
            order: tuple[int, ...] = (0,)
        else:
            order = tuple(range(len(shape)))
            axis = self.axis % len(shape)
            order = (*order[:axis], *order[axis + 1 :], axis)
            x, y, gy = (array.transpose(order) for array in (x, y, gy))
        length = x.shape[-1]
        ones = self.xp.ones((*x.shape[:-1], min(length, 1)), dtype=x.dtype)
        before = ops.concat([ones, y[..., :-1]], axis=-1) if length else ones
        # after[i] = gy[i] + x[i + 1] * after[i + 1], in logarithmically many steps.
        join = functools.partial(ops.concat, axis=-1)
        after = gy
        factor = join([x[..., 1:], ones * 0]) if length else ones
        width = 1
        while width < length:
            tail = after[..., -width:]
            after = join([after[..., :-width] + factor[..., :-width] * after[..., width:], tail])
            factor = join([factor[..., :-width] * factor[..., width:], factor[..., -width:]])
            width *= 2
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return (before * after).transpose(tuple(inverse)).reshape(shape)


@explained_keywords
def cumprod(x: VariableLike, axis: int | None = None) -> Variable:
    """Cumulative product of array elements over a given axis.

    Args:
        x (:class:`~chainer.Variable` or array): Elements to multiply, floating point.
        axis (int or None): Axis to multiply along; by default the flattened input is used.

    Returns:
        ~chainer.Variable: Output of the shape of ``x``, or one-dimensional without an axis.

    Raises:
        InvalidType: If ``x`` has no such axis or is not of floating point numbers.
        TypeError: If ``axis`` is neither an int nor None.

    Example:
        >>> F.cumprod(np.array([1., 2., 3.]))
        variable([1., 2., 6.])
    """
    return Cumprod(axis).apply((x,))[0]
