"""Elementwise special functions that an operation computes."""

from __future__ import annotations

from typing import Any, ClassVar

from chainer.core.arrays.kernel import Operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.arrays import force_array


class SpecialFunction(FunctionNode):
    """Base of special functions of one floating-point input.

    Attributes:
        operation: Operation that computes the values.
        needs_input: Whether the derivative depends on the input.
        needs_output: Whether the derivative depends on the output.
    """

    type_check_key = ()
    operation: ClassVar[Operation]
    needs_input: ClassVar[bool] = True
    needs_output: ClassVar[bool] = False

    @property
    def label(self) -> str:
        return self.operation.name

    @classmethod
    def of(cls, x: VariableLike) -> VariableLike:
        """Returns the values at an array or, as part of the graph, at a Variable."""
        if isinstance(x, Variable):
            return cls().apply((x,))[0]
        # NumPy makes scalars of 0-dimensional results.
        x = force_array(x)
        return cls.operation.select(x).forward(x)

    def derivative(self, m: Any, x: VariableLike, y: VariableLike) -> VariableLike:
        """Returns the derivative, given arrays or Variables.

        Args:
            m: Namespace of elementary functions: the array module, or ``chainer.functions``.
            x: Input; None unless ``needs_input``.
            y: Output; None unless ``needs_output``.
        """
        raise NotImplementedError

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x",))
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: Arrays) -> Arrays:
        if self.needs_input:
            self.retain_inputs((0,))
        if self.needs_output:
            self.retain_outputs((0,))
        return (self.operation.select(*inputs).forward(*inputs),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Variables) -> Grads:
        from chainer import functions

        x = self.get_retained_inputs()[0] if self.needs_input else None
        y = self.get_retained_outputs()[0] if self.needs_output else None
        return (self.derivative(functions, x, y) * grad_outputs[0],)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> ArrayGrads:
        x = self.retained_input_arrays[0] if self.needs_input else None
        y = self.retained_output_arrays[0] if self.needs_output else None
        gx = self.derivative(self.xp, x, y)
        gx *= grad_outputs[0]
        return (gx.astype(grad_outputs[0].dtype, copy=False),)
