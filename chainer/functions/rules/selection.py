"""Selection of elements of arrays or Variables by a condition.

Functions whose gradient is zero outside of the condition use it. Multiplying by a mask of zeros and
ones is not enough: zero times infinity or NaN is NaN, which a program wants to exclude.
"""

from __future__ import annotations

from chainer.backends.numpy.selection import keep as keep_elements
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule
from chainer.functions.rules.base import Ops, Value


def keep(ops: Ops, xp: ArrayModule, condition: Array, value: Value) -> Value:
    """Returns an array or a Variable where a condition holds, 0 elsewhere.

    Args:
        ops: Functions for arrays or for Variables.
        xp: Array namespace.
        condition: Condition, bool.
        value: Floating-point array or Variable. Shapes are broadcast.
    """
    if isinstance(value, Variable):
        return ops.where(condition, value, xp.zeros((), value.dtype))
    return keep_elements(xp, condition, value)
