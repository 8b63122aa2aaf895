"""Trigonometric functions."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions._documentation import elementwise_sections
from chainer.functions.math._operators import FloatBroadcastingFunction
from chainer.functions.rules import ElementwiseFunction, Ops, Value, expect_kinds


class Sin(ElementwiseFunction):
    """Sine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.cos(x)


class Cos(ElementwiseFunction):
    """Cosine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return -ops.sin(x)


class Tan(ElementwiseFunction):
    """Tangent."""

    # The derivative in terms of the output: the tangent is not computed twice.
    retained_inputs = ()
    retained_outputs = (0,)

    def derivative(self, ops: Ops, y: Value) -> Value:
        return y * y + 1


class Arcsin(ElementwiseFunction):
    """Inverse sine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / ops.sqrt(1 - x * x)


class Arccos(ElementwiseFunction):
    """Inverse cosine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return -1 / ops.sqrt(1 - x * x)


class Arctan(ElementwiseFunction):
    """Inverse tangent."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / (x * x + 1)


class Arctan2(FloatBroadcastingFunction):
    """Inverse tangent of a quotient, in the right quadrant."""

    argument_names = ("x1", "x2")

    label = "arctan2"
    retained_inputs = (0, 1)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.arctan2(*inputs),)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        # The dtypes may differ; the result has the wider one.
        x1_type, x2_type = expect_kinds(in_types, "ff")
        type_check.expect_broadcast_shapes(x1_type.shape, x2_type.shape)

    def partials(self, ops: Ops, targets: Indexes, x1: Value, x2: Value, gy: Value) -> list[Value]:
        dtypes = (x1.dtype, x2.dtype)
        if x1.dtype != x2.dtype:
            x1, x2 = ops.cast(x1, gy.dtype), ops.cast(x2, gy.dtype)
        scaled = gy / (x1 * x1 + x2 * x2)
        gxs = [-x1 * scaled if i else x2 * scaled for i in targets]
        # A cast makes a node, so only where it is needed.
        return [
            gx if gx.dtype == dtypes[i] else ops.cast(gx, dtypes[i])
            for i, gx in zip(targets, gxs, strict=True)
        ]


@elementwise_sections(x="Angles in radians")
def sin(x: VariableLike) -> Variable:
    """Elementwise sine.

    Example:
        >>> F.sin(np.array([0.]))
        variable([0.])
    """
    return Sin().apply((x,))[0]


@elementwise_sections(x="Angles in radians")
def cos(x: VariableLike) -> Variable:
    """Elementwise cosine.

    Example:
        >>> F.cos(np.array([0.]))
        variable([1.])
    """
    return Cos().apply((x,))[0]


@elementwise_sections(x="Angles in radians")
def tan(x: VariableLike) -> Variable:
    """Elementwise tangent.

    Example:
        >>> F.tan(np.array([0.]))
        variable([0.])
    """
    return Tan().apply((x,))[0]


@elementwise_sections(x="Numbers in ``[-1, 1]``", y="Angles in ``[-pi/2, pi/2]``")
def arcsin(x: VariableLike) -> Variable:
    """Elementwise inverse sine.

    Example:
        >>> F.arcsin(np.array([0.]))
        variable([0.])
    """
    return Arcsin().apply((x,))[0]


@elementwise_sections(x="Numbers in ``[-1, 1]``", y="Angles in ``[0, pi]``")
def arccos(x: VariableLike) -> Variable:
    """Elementwise inverse cosine.

    Example:
        >>> F.arccos(np.array([1.]))
        variable([0.])
    """
    return Arccos().apply((x,))[0]


@elementwise_sections(y="Angles in ``(-pi/2, pi/2)``")
def arctan(x: VariableLike) -> Variable:
    """Elementwise inverse tangent.

    Example:
        >>> F.arctan(np.array([0.]))
        variable([0.])
    """
    return Arctan().apply((x,))[0]


def arctan2(x1: VariableLike, x2: VariableLike) -> Variable:
    """Elementwise inverse tangent of ``x1 / x2`` in the quadrant of the point ``(x2, x1)``.

    Args:
        x1 (Variable or array): Ordinates, floating point.
        x2 (Variable or array): Abscissas, floating point, in a shape that broadcasts with ``x1``.

    Returns:
        Variable: Angles in ``[-pi, pi]``, of the wider dtype of the two.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.arctan2(np.array([0.]), np.array([1.]))
        variable([0.])
    """
    return Arctan2().apply((x1, x2))[0]
