"""Cumulative sum."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._scalars import as_int


class Cumsum(FunctionNode):
    """Cumulative sum along an axis."""

    type_check_key = ("axis",)

    def __init__(self, axis: int | None = None) -> None:
        self.axis = (
            None if axis is None else as_int(axis, f"axis must be int or None, got {axis!r}")
        )

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")
        if self.axis is not None:
            if self.axis >= 0:
                type_check.expect(in_types[0].ndim > self.axis)
            else:
                type_check.expect(in_types[0].ndim >= -self.axis)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.xp.cumsum(inputs[0], axis=self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.flip import flip

        (gy,) = grad_outputs
        axis = 0 if self.axis is None else self.axis
        gx = flip(cumsum(flip(gy, axis), axis), axis)
        return (gx.reshape(self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        xp = self.xp
        axis = 0 if self.axis is None else self.axis
        gx = xp.flip(xp.cumsum(xp.flip(grad_outputs[0], axis), axis=axis), axis)
        return (gx.reshape(self.inputs[0].shape),)  # type: ignore[index]


def cumsum(x: Any, axis: int | None = None) -> Variable:
    """Cumulative sum of array elements over a given axis.

    Args:
        x (Variable or array): Input of any shape, floating point.
        axis (int or None): Axis along which the sum is taken; by default the flattened input is
            used.

    Returns:
        Variable: Output of the shape of ``x``, or a vector if ``axis`` is None.

    Raises:
        InvalidType: If the dtype does not fit or the axis does not exist.
        TypeError: If ``axis`` is of a wrong type.

    Example:
        >>> F.cumsum(np.array([[1., 2.], [3., 4.]]), axis=1)
        variable([[1., 3.],
                  [3., 7.]])
    """
    return Cumsum(axis).apply((x,))[0]
