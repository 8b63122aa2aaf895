"""Nodes for the gradients of functions whose gradient is array code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer import functions
from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd.forward_mode import push_forward
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, Grads, Indexes, Variables
from chainer.functions.rules.batching import batched_composition, repeated, with_samples
from chainer.functions.rules.compositions import gradients_of_composition, tangents_of_composition

if TYPE_CHECKING:
    from chainer.functions.rules.kernels import KernelFunction
    from chainer.functions.rules.linear import PiecewiseLinearFunction


class GradientNode(FunctionNode):
    """Gradient of a function, computed by its ``backward_arrays``.

    Args:
        function: The function. It keeps the arrays that its rule needs.
        targets: Indexes of the inputs of the function whose gradients are required.
        grad_outputs: Gradients of the outputs of the function; None where there is none.
    """

    # Whether arrays have to be converted depends on the function, not on this class.
    accepts_opaque_arrays = True
    is_rule_pure = True
    type_check_key = ()

    def __init__(self, function: Any, targets: Indexes, grad_outputs: Grads) -> None:
        self._function = function
        #: Outputs of the function that have a gradient: the last inputs of this node.
        self._given = [i for i, gy in enumerate(grad_outputs) if gy is not None]
        #: Inputs of the function that have a gradient: one for each output of this node.
        self._found = targets

    @property
    def label(self) -> str:
        return f"{type(self._function).__name__}Grad"

    # Tables of hooks add up times by this name. The name of the class says too little.
    _impl_name = label

    @classmethod
    def gradients_of(
        cls, function: Any, values: Variables, targets: Indexes, grad_outputs: Grads
    ) -> Grads:
        """Applies a node to the values it depends on and to the gradients that are given."""
        node = cls(function, targets, grad_outputs)
        outputs = node.apply((*values, *[gy for gy in grad_outputs if gy is not None]))
        found = dict(zip(node._found, outputs, strict=True))
        return tuple([found.get(i) for i in targets])

    def forward(self, inputs: Arrays) -> Arrays:
        if not self._function.accepts_opaque_arrays:
            inputs = tuple([backend_of(x).to_xp(x) for x in inputs])
        gradients = self._function.backward_arrays(self._found, self._grad_outputs(inputs))
        found = [(i, gx) for i, gx in zip(self._found, gradients, strict=True) if gx is not None]
        self._found = tuple([i for i, _ in found])
        return tuple([gx for _, gx in found])

    def _grad_outputs(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the gradients of all outputs of the function; None where there is none."""
        gys: list[Any] = [None] * len(self._function.outputs)
        for i, gy in zip(self._given, inputs[len(inputs) - len(self._given) :], strict=True):
            gys[i] = gy
        return tuple(gys)


class FormulaGradient(GradientNode):
    """Gradient whose own gradient follows from the formula of the function."""

    _function: KernelFunction

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        return super().forward(inputs)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Variables:
        return gradients_of_composition(
            self._formula, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        return tangents_of_composition(self._formula, self.get_retained_inputs(), moving, tangents)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # The function keeps the arrays of one sample, so the formula computes the gradient.
        outputs = batched_composition(self._formula, inputs, are_batched, size)
        found = [(i, gx) for i, gx in zip(self._found, outputs, strict=True) if gx is not None]
        self._found = tuple([i for i, _ in found])
        return tuple([gx for _, gx in found])

    def _formula(self, *inputs: Variable) -> Variables:
        values, gys = inputs[: len(inputs) - len(self._given)], self._grad_outputs(inputs)
        return self._function.gradients(functions, self._found, *values, *gys)


class LinearGradient(GradientNode):
    """Gradient that is a linear function of the gradients of the outputs, and of nothing else."""

    is_linear = True
    _function: PiecewiseLinearFunction

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        def pull(xs: Variables, ys: Variables) -> Grads:
            return tuple(
                grad(
                    [ys[i] for i in self._given],
                    [xs[i] for i in self._found],
                    inputs,
                    [None] * len(self._found),
                    enable_double_backprop=config.enable_backprop,
                )
            )

        return _batched_derivative(self._function, inputs, size, pull)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        # Here the gradients of the inputs of the function play the role of directions.
        directions = [
            (i, g) for i, g in zip(self._found, grad_outputs, strict=True) if g is not None
        ]
        wanted = tuple([self._given[i] for i in target_input_indexes])
        node = Tangent(self._function, tuple([i for i, _ in directions]), wanted)
        return node.apply([g for _, g in directions])


class Tangent(FunctionNode):
    """Directional derivative of a piecewise linear function, computed by its ``jvp``.

    Args:
        function: The function.
        directions: Indexes of its inputs along which there is a direction, an input of this node.
        wanted: Indexes of its outputs whose derivatives are the outputs of this node.
    """

    accepts_opaque_arrays = True
    type_check_key = ()

    def __init__(
        self, function: PiecewiseLinearFunction, directions: Indexes, wanted: Indexes
    ) -> None:
        self._function = function
        self._directions = directions
        self._wanted = wanted

    @property
    def label(self) -> str:
        return f"{type(self._function).__name__}GradGrad"

    _impl_name = label

    def forward(self, inputs: Arrays) -> Arrays:
        if not self._function.accepts_opaque_arrays:
            inputs = tuple([backend_of(x).to_xp(x) for x in inputs])
        derivatives = self._function.jvp(self._directions, inputs)
        return tuple([derivatives[i] for i in self._wanted])

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        def push(xs: Variables, ys: Variables) -> Grads:
            moving = [xs[i] for i in self._directions]
            tangents = with_samples(inputs, are_batched, size)
            found = push_forward(ys, {x.node: t for x, t in zip(moving, tangents, strict=True)})
            return tuple([found[i] for i in self._wanted])

        return _batched_derivative(self._function, inputs, size, push)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        directions = tuple([self._directions[i] for i in moving])
        return Tangent(self._function, directions, self._wanted).apply(tangents)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        gys: list[Variable | None] = [None] * len(self._function.outputs or ())
        for i, gy in zip(self._wanted, grad_outputs, strict=True):
            gys[i] = gy
        targets = tuple([self._directions[i] for i in target_input_indexes])
        return self._function.backward(targets, tuple(gys))


def _batched_derivative(
    function: PiecewiseLinearFunction,
    inputs: Variables,
    size: int,
    derivative: Callable[[Variables, Variables], Grads],
) -> Variables | None:
    """Computes derivatives of all samples at the point to which a function was applied.

    Args:
        function: The function, which was applied to one sample.
        inputs: Gradients or directions of all samples.
        size: Number of samples.
        derivative: Computes them from inputs and outputs of the function for all samples.
    """
    if is_diagonal(function):
        return (inputs[0] * diagonal_of(function),)
    made = repeated(function, size)
    return None if made is None else derivative(*made)  # type: ignore[return-value]


def is_diagonal(function: FunctionNode) -> bool:
    """Returns whether a function of one input works element by element.

    Args:
        function: The function.
    """
    return (function.is_elementwise or function.is_pointwise) and len(function.input_nodes) == 1


def diagonal_of(function: PiecewiseLinearFunction) -> Array:
    """Returns the derivative of each element of the output by its element of the input.

    Args:
        function: The function, which works element by element.
    """
    node = function.input_nodes[0]
    (diagonal,) = function.backward_arrays((0,), (function.xp.ones(node.shape, node.dtype),))
    return diagonal
