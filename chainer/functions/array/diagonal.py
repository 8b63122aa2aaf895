"""Diagonals."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._axes import expect_axis
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import ShiftsAxes


class Diagonal(ShiftsAxes, LinearMap):
    """Takes the diagonal of two axes."""

    type_check_key = ("axis1", "axis2")
    axis_attributes = ("axis1", "axis2")

    def __init__(self, offset: int, axis1: int, axis2: int) -> None:
        self.offset = offset
        self.axis1 = axis1
        self.axis2 = axis2

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        expect_axis(in_types[0], self.axis1)
        expect_axis(in_types[0], self.axis2)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        if self.axis1 % x.ndim == self.axis2 % x.ndim:
            raise ValueError(
                f"axis1 and axis2 cannot be the same, got {self.axis1} and {self.axis2} for an "
                f"array of {x.ndim} dimensions"
            )
        return (x.diagonal(self.offset, self.axis1, self.axis2),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        xp = self.xp
        gy: Array = grad_outputs[0]
        gx = xp.zeros(self.input_shape(0), dtype=gy.dtype)
        a, b = self.axis1 % gx.ndim, self.axis2 % gx.ndim
        # An offset moves the diagonal to the right, a negative one moves it down.
        rows = xp.arange(gy.shape[-1]) + max(-self.offset, 0)
        columns = xp.arange(gy.shape[-1]) + max(self.offset, 0)
        others = [i for i in range(gx.ndim) if i not in (a, b)]
        gx.transpose((*others, a, b))[..., rows, columns] = gy
        return (gx,)


def diagonal(x: VariableLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Takes diagonals: elements whose index along two axes is the same, but for an offset.

    Args:
        x (:class:`~chainer.Variable` or array): Input of at least two dimensions.
        offset (int): Distance of the diagonal from the main one; positive ones are above it.
        axis1 (int): The first axis.
        axis2 (int): The second axis.

    Returns:
        ~chainer.Variable: The diagonals; they are the last axis, after all the other ones. The
        array may be a read-only view of the input.

    Raises:
        InvalidType: If there is no such axis.
        ValueError: If the axes are the same.

    Example:
        >>> F.diagonal(np.arange(9).reshape(3, 3), offset=1)
        variable([1, 5])
    """
    return Diagonal(offset, axis1, axis2).apply((x,))[0]
