"""Elementwise linear interpolation."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_one_dtype


class LinearInterpolate(ExpressionFunction):
    """Weighted average of two arrays, element by element."""

    is_pointwise = True

    argument_names = ("p", "x", "y")

    type_check_key = ()
    retained_inputs = (0, 1, 2)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        p_type, x_type, y_type = expect_one_dtype(in_types, 3)
        type_check.expect(
            p_type.shape == x_type.shape,
            p_type.shape == y_type.shape,
        )

    def forward(self, inputs: Arrays) -> Arrays:
        p, x, y = inputs
        # y + p (x - y) would round to something else than x at p = 1.
        z = 1 - p
        z *= y
        z += p * x
        return (z,)

    def gradients(
        self, ops: Ops, targets: Indexes, p: Value, x: Value, y: Value, gz: Value
    ) -> Values:
        gradients: list[Any] = []
        for i in targets:
            if i == 1:
                gradient = p * gz
            else:
                # A new array, so that it can be multiplied in place.
                gradient = x - y if i == 0 else 1 - p
                gradient *= gz
            gradients.append(gradient)
        return tuple(gradients)


def linear_interpolate(p: VariableLike, x: VariableLike, y: VariableLike) -> Variable:
    """Elementwise linear interpolation ``p x + (1 - p) y``.

    Args:
        p (Variable or array): Weights, of any shape, floating point.
        x (Variable or array): First values of the same shape and dtype.
        y (Variable or array): Second values of the same shape and dtype.

    Returns:
        Variable: Output of the shape of the inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.linear_interpolate(np.array([0.25]), np.array([0.]), np.array([4.]))
        variable([3.])
    """
    return LinearInterpolate().apply((p, x, y))[0]
