"""Functions composed of other functions, differentiable as often as those are."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes, Variables
from chainer.functions.rules.base import Ops, Value, Values, as_constants, as_outputs
from chainer.functions.rules.batching import batched_composition
from chainer.functions.rules.compositions import (
    evaluate,
    gradients_of_composition,
    tangents_of_composition,
)
from chainer.functions.rules.kernels import KernelFunction


class ComposedFunction(KernelFunction):
    """Function composed of differentiable functions.

    Subclasses only need to define :meth:`compose`. Faster array code for the output
    (``forward``) and for the gradient (``backward_arrays``) is optional; a subclass that defines
    ``forward`` retains all inputs there, or names them in ``retained_inputs``. Gradients of
    gradients follow by backpropagation through the composition.

    Example:
        >>> from chainer.functions.rules import ComposedFunction
        >>> class LogCosh(ComposedFunction):
        ...     def compose(self, x):
        ...         return F.log(F.cosh(x)),
        >>> x = chainer.Variable(np.array([0.]))
        >>> LogCosh().apply((x,))[0].backward()
        >>> x.grad
        array([0.])
    """

    def compose(self, *inputs: Variable) -> Variables:
        """Computes the outputs with differentiable functions.

        Args:
            inputs: The inputs, as Variables.

        Returns:
            tuple: The outputs, as Variables.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define compose()")

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        return evaluate(self.compose, inputs)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        found = super().batched(inputs, are_batched, size)
        if found is not None:
            return found
        return batched_composition(self.compose, inputs, are_batched, size)  # type: ignore[return-value]

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gradients = gradients_of_composition(
            self.compose,
            as_constants(self.retained_input_arrays),
            target_input_indexes,
            as_constants(grad_outputs),
        )
        return as_outputs(gradients)

    def retained_variables(self) -> Variables:
        # The composition computes everything from the inputs.
        return self.get_retained_inputs()

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        inputs = self.get_retained_inputs()
        # The rules of a function that keeps other arrays say how it is differentiated.
        if len(inputs) != len(self.input_nodes):
            return super().tangents(moving, tangents)
        return tangents_of_composition(self.compose, inputs, moving, tangents)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        count = len(self._retained_inputs)
        return gradients_of_composition(self.compose, values[:count], targets, values[count:])
