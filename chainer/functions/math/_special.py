"""Elementwise special functions that an operation computes."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array
from chainer.core.utils import type_check
from chainer.functions.rules import ElementwiseFunction


class SpecialFunction(ElementwiseFunction):
    """Base class of special functions of one floating-point input.

    The derivative is a formula of what is retained: the input unless the class says otherwise.

    Attributes:
        operation: Operation that computes the values.
    """

    operation: ClassVar[Operation]

    @property
    def label(self) -> str:
        return self.operation.name

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def compute(self, x: Array) -> Array:
        return self.operation.select(x).forward(x)


class InverseFunction(SpecialFunction):
    """Base class of inverse functions, whose derivative is a formula of the output."""

    retained_inputs = ()
    retained_outputs = (0,)
