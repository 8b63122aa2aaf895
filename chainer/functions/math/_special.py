"""Elementwise special functions that an operation computes."""

from __future__ import annotations

from typing import Any, ClassVar

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Arrays
from chainer.core.utils import type_check
from chainer.functions.rules.expressions import UnaryFunction


class SpecialFunction(UnaryFunction):
    """Base of special functions of one floating-point input.

    The derivative is a formula of what is retained: the input unless the class says otherwise.

    Attributes:
        operation: Operation that computes the values.
    """

    type_check_key = ()
    retained_inputs = (0,)
    operation: ClassVar[Operation]

    @property
    def label(self) -> str:
        return self.operation.name

    def derivative(self, ops: Any, *values: Any) -> Any:
        """Returns the derivative as a new array or Variable.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            values: The input if it is retained, and the output if it is retained.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define derivative()")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.operation.select(*inputs).forward(*inputs),)

    def gradient(self, ops: Any, *values: Any) -> Any:
        *retained, gy = values
        gx = self.derivative(ops, *retained)
        gx *= gy
        # Numbers of Python promote dtypes that NumPy does not know, such as bfloat16.
        return gx if gx.dtype == gy.dtype else ops.cast(gx, gy.dtype)


class InverseFunction(SpecialFunction):
    """Base of inverse functions, whose derivative is a formula of the output."""

    retained_inputs = ()
    retained_outputs = (0,)
