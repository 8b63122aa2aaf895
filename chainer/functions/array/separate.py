"""Separation along an axis."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import expect_axis
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import ShiftsAxes


class Separate(ShiftsAxes, LinearMap):
    """Takes an array apart along an axis."""

    type_check_key = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        expect_axis(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        before = (slice(None),) * (self.axis % x.ndim)
        self._count = x.shape[self.axis]
        return tuple([x[(*before, i, ...)] for i in range(self._count)])

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        node = self.input_nodes[0]
        # Pieces that nothing depends on have no gradient; theirs stays zero.
        gx = self.xp.zeros(node.shape, dtype=node.dtype)
        before = (slice(None),) * (self.axis % gx.ndim)
        for i, gy in enumerate(grad_outputs):
            if gy is not None:
                gx[(*before, i)] = gy
        return (gx,)


@explained_keywords
def separate(x: VariableLike, axis: int = 0) -> tuple[Variable, ...]:
    """Separates an array along a given axis; the inverse of :func:`chainer.functions.stack`.

    Args:
        x (Variable or array): Variable to be separated, of shape ``(s_1, ..., s_N)``.
        axis (int): Axis along which the variable is separated.

    Returns:
        tuple of Variable: As many variables as the length of the axis, without that axis.

    Raises:
        InvalidType: If the axis does not exist.

    Example:
        >>> F.separate(np.array([[1, 2], [3, 4]]), axis=1)
        (variable([1, 3]), variable([2, 4]))
    """
    return Separate(axis).apply((x,))
