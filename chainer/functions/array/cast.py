"""Conversion of dtypes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Arrays, DTypeLike, Grads, Indexes, VariableLike, Variables
from chainer.functions.rules import Ops, UnaryFunction, Value, expect_one_array


class Cast(UnaryFunction):
    """Converts an array to a dtype."""

    is_linear = True

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply(inputs)

    type_check_key = ()

    def __init__(self, typ: Any) -> None:
        self.type = numpy.dtype(typ)

    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        # Without a copy, as in earlier releases: the arrays are not changed in place.
        return (inputs[0].astype(self.type, copy=False),)

    # Integers and booleans have no derivative: theirs would be cut off to a wrong number.
    def gradient(self, ops: Ops, gy: Value) -> Value | None:
        dtype = self.input_nodes[0].dtype
        return None if dtype.kind in "biu" else ops.cast(gy, dtype)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        if self.type.kind in "biu":
            return (None,)
        return Cast(self.type).apply(tangents)  # another node: this one keeps its inputs


def cast(x: VariableLike, typ: DTypeLike) -> Variable:
    """Casts an input variable to a given type.

    Args:
        x (:class:`~chainer.Variable` or array): Input variable of any shape.
        typ (str or numpy.dtype): Typecode or data type to cast to.

    Returns:
        ~chainer.Variable: Variable with the cast array. If ``x`` is of that dtype, its array is not
        copied; the Variable is still another one than ``x``, unless backpropagation is disabled.

    Raises:
        TypeError: If ``typ`` is not a data type.

    Example:
        >>> x = np.arange(0, 3, dtype=np.float64)
        >>> F.cast(x, np.float32).dtype
        dtype('float32')
        >>> F.cast(x, 'float16').dtype
        dtype('float16')
    """
    # With backpropagation even a cast to the same dtype makes a node. Each result is then a
    # separate Variable, so that chainer.grad can distinguish the results of two casts.
    if not threads.state.enable_backprop and as_variable(x).dtype == typ:
        return as_variable(x)
    return Cast(typ).apply((x,))[0]


def in_dtype(x: VariableLike, dtype: numpy.dtype) -> VariableLike:
    """Returns an argument itself if it has the dtype or holds integers, and a cast otherwise.

    It serves functions that accept mixtures of floating-point dtypes and have a rule for equal
    dtypes only. Their checks of types refuse integers.
    """
    return x if x.dtype == dtype or x.dtype.kind in "biu" else cast(x, dtype)
