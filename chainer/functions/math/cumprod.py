"""Cumulative product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._axes import check_axes_exist
from chainer.functions._scalars import as_int
from chainer.functions.array.concat import concat


class Cumprod(FunctionNode):
    """Cumulative product along an axis, or of the flattened array."""

    type_check_key = ("axis",)

    def __init__(self, axis: int | None) -> None:
        if axis is not None:
            axis = as_int(axis, f"axis must be int or None, got {type(axis).__name__}")
        self.axis = axis

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (self.xp.cumprod(inputs[0], axis=self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        return (self._gradient(x, y, grad_outputs[0], lambda parts: concat(parts, axis=-1)),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        xp = self.xp
        gx = self._gradient(x, y, grad_outputs[0], lambda parts: xp.concatenate(parts, axis=-1))
        return (gx,)

    def _gradient(self, x: Any, y: Any, gy: Any, join: Callable[[list[Any]], Any]) -> Any:
        """Gradient of arrays or Variables; nothing is divided by, so that ``x`` may contain 0.

        ``gx[i]`` is the product of what comes before ``i``, times the sum over ``k >= i`` of
        ``gy[k]`` times the product of ``x`` between ``i`` and ``k``.
        """
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
        before = join([ones, y[..., :-1]]) if length else ones
        # after[i] = gy[i] + x[i + 1] * after[i + 1], in logarithmically many steps.
        after = gy
        factor = join([x[..., 1:], ones * 0]) if length else ones
        width = 1
        while width < length:
            after = join(
                [
                    after[..., :-width] + factor[..., :-width] * after[..., width:],
                    after[..., -width:],
                ]
            )
            factor = join([factor[..., :-width] * factor[..., width:], factor[..., -width:]])
            width *= 2
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return (before * after).transpose(tuple(inverse)).reshape(shape)


def cumprod(x: Any, axis: int | None = None) -> Variable:
    """Cumulative product of array elements over a given axis.

    Args:
        x (:class:`~chainer.Variable` or array): Elements to multiply, floating point.
        axis (int or None): Axis along which the product is taken; by default the flattened input is
            used.

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
