"""Diagonals."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._axes import expect_axis


class Diagonal(FunctionNode):
    """Takes the diagonal of two axes."""

    type_check_key = ("axis1", "axis2")

    def __init__(self, offset: int, axis1: int, axis2: int) -> None:
        self.offset = offset
        self.axis1 = axis1
        self.axis2 = axis2

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        expect_axis(in_types[0], self.axis1)
        expect_axis(in_types[0], self.axis2)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        if self.axis1 % x.ndim == self.axis2 % x.ndim:
            raise ValueError(
                f"axis1 and axis2 cannot be the same, got {self.axis1} and {self.axis2} for an "
                f"array of {x.ndim} dimensions"
            )
        return (x.diagonal(self.offset, self.axis1, self.axis2),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return DiagonalGrad(self, self.inputs[0].shape).apply(grad_outputs)  # type: ignore[index]


class DiagonalGrad(FunctionNode):
    """Puts values onto the diagonal of an array of zeros."""

    def __init__(self, diagonal: Diagonal, in_shape: tuple[int, ...]) -> None:
        self._diagonal = diagonal
        self._in_shape = in_shape

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        xp = self.xp
        gy = inputs[0]
        d = self._diagonal
        gx = xp.zeros(self._in_shape, dtype=gy.dtype)
        ndim = gx.ndim
        a, b = d.axis1 % ndim, d.axis2 % ndim
        rows = xp.arange(gy.shape[-1]) + max(-d.offset, 0)
        columns = xp.arange(gy.shape[-1]) + max(d.offset, 0)
        others = [i for i in range(ndim) if i not in (a, b)]
        gx.transpose((*others, a, b))[..., rows, columns] = gy
        return (gx,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        d = self._diagonal
        return Diagonal(d.offset, d.axis1, d.axis2).apply(grad_outputs)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
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
