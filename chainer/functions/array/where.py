"""Choice between two arrays, element by element."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules.base import array_of
from chainer.functions.rules.expressions import ExpressionFunction

#: Number of elements from which on bit operations are faster than ``numpy.where``.
_BITWISE_SIZE = 2048


class Where(ExpressionFunction):
    """Takes elements of one array where a condition holds, of another elsewhere."""

    type_check_key = ()
    retained_inputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        cond_type, x_type, y_type = in_types
        type_check.expect(cond_type.dtype == numpy.bool_, x_type.dtype == y_type.dtype)
        type_check.expect_broadcast_shapes(
            "condition, x and y", cond_type.shape, x_type.shape, y_type.shape
        )

    def forward(self, inputs: Arrays) -> Arrays:
        condition, x, y = inputs
        return (_choose(self.xp, condition, x, y),)

    def gradients(self, ops: Any, targets: Indexes, condition: Any, gy: Any) -> tuple[Any, ...]:
        condition = array_of(condition)
        gradients: list[Any] = []
        for i in targets:
            if i == 0:
                gradients.append(None)
            else:
                gx = gy * (condition if i == 1 else ~condition)
                gradients.append(ops.sum_to(gx, self.input_shape(i)))
        return tuple(gradients)


def _choose(xp: ArrayModule, condition: Array, x: Array, y: Array) -> Any:
    if (
        xp is not numpy
        or condition.size < _BITWISE_SIZE
        or not condition.shape == x.shape == y.shape
        or x.dtype.itemsize not in (2, 4, 8)
    ):
        return xp.where(condition, x, y)
    # numpy.where branches at every element, which costs ten times as much as these passes where the
    # condition is not predictable.
    bits = f"i{x.dtype.itemsize}"
    mask = condition.astype(bits)
    numpy.negative(mask, out=mask)
    x_bits = numpy.ascontiguousarray(x).view(bits)
    y_bits = numpy.ascontiguousarray(y).view(bits)
    chosen = x_bits ^ y_bits
    chosen &= mask
    chosen ^= y_bits
    return chosen.view(x.dtype)


def where(condition: VariableLike, x: VariableLike, y: VariableLike) -> Variable:
    """Chooses elements depending on a condition.

    Args:
        condition (Variable or array): Condition, bool.
        x (Variable or array): Values where the condition holds.
        y (Variable or array): Values elsewhere, of the same dtype. The shapes of all three are
            broadcast.

    Returns:
        Variable: The chosen elements.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> cond = np.array([True, False, True])
        >>> F.where(cond, np.array([1., 2., 3.]), np.array([4., 5., 6.]))
        variable([1., 5., 3.])
    """
    return Where().apply((condition, x, y))[0]
