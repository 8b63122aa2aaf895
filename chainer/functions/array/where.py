"""Choice between two arrays, element by element."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from chainer.backends.numpy.selection import choose
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, array_of
from chainer.functions.rules.batching import with_rank
from chainer.functions.rules.selection import keep


class Where(ExpressionFunction):
    """Takes elements of one array where a condition holds, of another elsewhere.

    It is applied to ``(x, y)``. A node of release 4, ``Where()``, is applied to ``(condition, x,
    y)``.

    Args:
        condition (array): Condition, bool: an array or a single value.
    """

    argument_names = ("x", "y")
    type_check_key = ("_condition_type",)

    def __init__(self, condition: Any = None) -> None:
        self.condition: Any = array_of(condition)

    @property
    def _condition_type(self) -> tuple[Any, Any]:
        """Dtype and shape of the condition: the type check depends on them, besides the inputs."""
        condition = self.condition
        return getattr(condition, "dtype", type(condition)), getattr(condition, "shape", None)

    def apply(self, inputs: Iterable[VariableLike]) -> Variables:
        inputs = tuple(inputs)
        if self.condition is None and len(inputs) == 3:
            self.condition = array_of(inputs[0])
            inputs = inputs[1:]
        return super().apply(inputs)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        x_type, y_type = in_types
        condition = self.condition
        shape: tuple[int, ...] = ()
        if not isinstance(condition, bool):
            if not hasattr(condition, "dtype"):
                raise InvalidConditionType(
                    "condition is a bool or an array", f"{type(condition).__name__}"
                )
            if condition.dtype != numpy.bool_:
                raise type_check.InvalidType(
                    "condition.dtype == bool", f"{condition.dtype} != bool"
                )
            shape = condition.shape
        type_check.expect(x_type.dtype == y_type.dtype)
        type_check.expect_broadcast_shapes(
            type_check.make_variable(shape, "condition.shape"), x_type.shape, y_type.shape
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, y = inputs
        condition, xp = self.condition, self.xp
        if not getattr(condition, "ndim", 0):
            # A single value; not every array library takes one of Python.
            condition = self.condition = xp.asarray(condition)
        return (choose(xp, condition, x, y),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        condition = self.condition
        ndim = getattr(condition, "ndim", 0)
        rank = max([ndim, *[x.ndim - b for x, b in zip(inputs, are_batched, strict=True)]])
        return Where(condition).apply(
            [with_rank(x, b, rank) for x, b in zip(inputs, are_batched, strict=True)]
        )

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        condition = self.condition
        gradients: list[Any] = []
        for i in targets:
            gx = keep(ops, self.xp, ~condition if i else condition, gy)
            gradients.append(ops.sum_to(gx, self.input_shape(i)))
        return tuple(gradients)


class InvalidConditionType(type_check.InvalidType, TypeError):
    """A condition that is not an array, such as a list."""


def where(condition: VariableLike, x: VariableLike, y: VariableLike) -> Variable:
    """Chooses elements depending on a condition.

    Args:
        condition (Variable, array or bool): Condition, bool. It is a constant, not an input of the
            graph.
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
    return Where(condition).apply((x, y))[0]
