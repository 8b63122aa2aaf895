"""Nodes for the gradients of functions whose gradient is array code."""

# The nodes call the rules of the function that they are the gradient of.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Grads, Indexes, Variables

if TYPE_CHECKING:
    from chainer.functions.rules.kernels import KernelFunction
    from chainer.functions.rules.linear import PiecewiseLinearFunction


class GradientNode(FunctionNode):
    """Gradient of a function, computed by its ``backward_arrays``.

    Args:
        function: The function. It keeps the arrays that its rule needs.
        targets: Indexes of the inputs of the function whose gradients are required.
        given: Indexes of the outputs of the function that have a gradient.
    """

    def __init__(self, function: Any, targets: Indexes, given: Indexes) -> None:
        self._function = function
        self._given = given
        #: Inputs of the function that have a gradient: one for each output of this node.
        self.targets = targets

    @property
    def label(self) -> str:
        return f"{type(self._function).__name__}Grad"

    def forward(self, inputs: Arrays) -> Arrays:
        gradients = self._function.backward_arrays(self.targets, self._all_outputs(inputs))
        found = [(i, gx) for i, gx in zip(self.targets, gradients, strict=True) if gx is not None]
        self.targets = tuple([i for i, _ in found])
        return tuple([gx for _, gx in found])

    def _all_outputs(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the gradients of all outputs, None for those without one.

        Args:
            values: Inputs of this node; those of the given outputs come last.
        """
        gys: list[Any] = [None] * len(self._function.outputs)
        for i, gy in zip(self._given, values[len(values) - len(self._given) :], strict=True):
            gys[i] = gy
        return tuple(gys)

    def of_targets(self, targets: Indexes, gradients: Variables) -> Grads:
        """Returns one gradient for each target of the function; None where there is none."""
        found = dict(zip(self.targets, gradients, strict=True))
        return tuple([found.get(i) for i in targets])


class FormulaGradient(GradientNode):
    """Gradient whose own gradient follows from the formula of the function.

    The inputs are the values that the formula depends on and the given gradients of outputs.
    """

    _function: KernelFunction

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Variables:
        from chainer.functions.rules.compositions import gradients_of_composition

        return gradients_of_composition(
            self._formula, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        return super().forward(inputs)

    def _formula(self, *inputs: Variable) -> Variables:
        values = inputs[: len(inputs) - len(self._given)]
        gys = self._all_outputs(inputs)
        return self._function.gradients(functions, self.targets, *values, *gys)


class LinearGradient(GradientNode):
    """Gradient that is linear in the gradients of the outputs, which are its inputs."""

    _function: PiecewiseLinearFunction

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        directions = [i for i, g in zip(self.targets, grad_outputs, strict=True) if g is not None]
        wanted = tuple([self._given[i] for i in target_input_indexes])
        node_class = OpaqueTangent if self._function.accepts_opaque_arrays else Tangent
        node = node_class(self._function, tuple(directions), wanted)
        return node.apply([g for g in grad_outputs if g is not None])


class Tangent(FunctionNode):
    """Directional derivative of a piecewise linear function, computed by its ``jvp``.

    Args:
        function: The function.
        targets: Indexes of its inputs along which there is a direction: the inputs of this node.
        wanted: Indexes of its outputs whose derivatives are the outputs of this node.
    """

    def __init__(
        self, function: PiecewiseLinearFunction, targets: Indexes, wanted: Indexes
    ) -> None:
        self._function = function
        self._targets_of_function = targets
        self._wanted = wanted

    @property
    def label(self) -> str:
        return f"{type(self._function).__name__}GradGrad"

    def forward(self, inputs: Arrays) -> Arrays:
        derivatives = self._function.jvp(self._targets_of_function, inputs)
        return tuple([derivatives[i] for i in self._wanted])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        gys: list[Variable | None] = [None] * len(self._function.outputs or ())
        for i, gy in zip(self._wanted, grad_outputs, strict=True):
            gys[i] = gy
        targets = tuple([self._targets_of_function[i] for i in target_input_indexes])
        return self._function.backward(targets, tuple(gys))


# An array whose memory layout NumPy cannot read reaches a rule only where the function takes it.
class OpaqueFormulaGradient(FormulaGradient):
    """Gradient by a formula of a function that accepts opaque arrays."""

    accepts_opaque_arrays = True


class OpaqueLinearGradient(LinearGradient):
    """Linear gradient of a function that accepts opaque arrays."""

    accepts_opaque_arrays = True


class OpaqueTangent(Tangent):
    """Directional derivative of a function that accepts opaque arrays."""

    accepts_opaque_arrays = True
