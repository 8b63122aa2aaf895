"""Elementwise remainder."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.math._operand import check_broadcastable


class Fmod(FunctionNode):
    """Remainder with the sign of the dividend."""

    type_check_key = ()

    @property
    def label(self) -> str:
        return "fmod"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect(
            in_types[0].dtype == in_types[1].dtype,
            in_types[0].dtype.kind == "f",
        )
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (_fmod(self.xp, *inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.sum import sum_to

        x, divisor = self.retained_input_arrays
        (gy,) = grad_outputs
        gradients = {
            0: lambda: sum_to(gy, x.shape),
            1: lambda: sum_to(gy * -self.xp.trunc(x / divisor), divisor.shape),
        }
        return tuple([gradients[i]() for i in target_input_indexes])


def _fmod(xp: Any, x: Any, divisor: Any) -> Any:
    if xp is numpy and x.dtype.char == "f" and x.ndim:
        # Exact in double precision as long as the quotient has less than 30 bits, and faster.
        with numpy.errstate(all="ignore"):
            quotient = x / divisor.astype("d")
            if (abs(quotient) < 2.0**29).all():
                numpy.trunc(quotient, out=quotient)
                quotient *= divisor
                return numpy.copysign((x - quotient).astype("f"), x)
    return xp.fmod(x, divisor)


def fmod(x: Any, divisor: Any) -> Variable:
    """Elementwise remainder of ``x / divisor``, with the sign of ``x``.

    Args:
        x (Variable or array): Dividends, floating point.
        divisor (Variable or array): Divisors of the same dtype and of a shape that broadcasts with
            that of ``x``.

    Returns:
        Variable: Remainders.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.fmod(np.array([5.5, -5.5]), np.array([2., 2.]))
        variable([ 1.5, -1.5])
    """
    return Fmod().apply((x, divisor))[0]
