"""Cumulative sum."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import check_axes_exist
from chainer.functions._scalars import as_int
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsOneAxis


class Cumsum(ShiftsOneAxis, UnaryFunction):
    """Cumulative sum along an axis."""

    is_linear = True

    type_check_key = ("axis",)

    def __init__(self, axis: int | None = None) -> None:
        self.axis = (
            None if axis is None else as_int(axis, f"axis must be int or None, got {axis!r}")
        )

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.cumsum(inputs[0], axis=self.axis),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        axis = 0 if self.axis is None else self.axis  # without an axis, gy has one dimension
        gx = ops.flip(ops.cumsum(ops.flip(gy, axis), axis), axis)
        return gx.reshape(self.input_shape(0))


@explained_keywords
def cumsum(x: VariableLike, axis: int | None = None) -> Variable:
    """Cumulative sum of array elements over a given axis.

    Args:
        x (Variable or array): Input of any shape, floating point.
        axis (int or None): Axis to sum along; by default the flattened input is used.

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
