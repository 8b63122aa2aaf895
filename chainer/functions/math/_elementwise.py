"""Functions of one array, element by element, with a formula for the derivative."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check


class Elementwise(FunctionNode):
    """Base of elementwise functions of one floating-point input.

    Subclasses define :meth:`compute` and :meth:`derivative`. The derivative is written once for
    arrays and Variables: its argument ``m`` is the array namespace in the one case and
    ``chainer.functions`` in the other, which name these functions alike.
    """

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    @property
    def label(self) -> str:
        return type(self).__name__.lower()

    def compute(self, x: Any) -> Any:
        """Returns the values of an array."""
        raise NotImplementedError

    def derivative(self, m: Any, x: Any) -> Any:
        """Returns the derivative at ``x``, an array or a Variable."""
        raise NotImplementedError

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        return (self.compute(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer import functions

        (x,) = self.get_retained_inputs()
        return (self.derivative(functions, x) * grad_outputs[0],)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        slope = self.derivative(self.xp, x)
        slope *= grad_outputs[0]
        return (slope.astype(x.dtype, copy=False),)
