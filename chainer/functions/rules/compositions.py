"""Compositions of differentiable functions as nodes of the graph, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainer.core.autograd.batching import is_batched, lowered, raised
from chainer.core.autograd.forward_mode import push_forward
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Arrays, Grads, Indexes, Variables
from chainer.functions.rules.base import as_outputs
from chainer.functions.rules.batching import batched_composition

Composition = Callable[..., Variables]
"""A function of Variables that returns a tuple of Variables."""


class DifferentiableComposition(FunctionNode):
    """One node of the graph for a composition of differentiable functions.

    The node only retains the inputs. Its gradient computes the composition again, so that no
    intermediate results are kept.

    Args:
        composition: Function of Variables that returns a tuple of Variables. It must return the
            same whenever it is called with the same values.

    Example:
        >>> from chainer.functions.rules import DifferentiableComposition
        >>> node = DifferentiableComposition(lambda x: (F.exp(x) * x,))
        >>> node.apply((np.array([0., 1.]),))[0]
        variable([0.        , 2.71828183])
    """

    type_check_key = ()

    def __init__(self, composition: Composition) -> None:
        self._composition = composition

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        return evaluate(self._composition, inputs)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return batched_composition(self._composition, inputs, are_batched, size)  # type: ignore[return-value]

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Variables:
        return gradients_of_composition(
            self._composition, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        return tangents_of_composition(
            self._composition, self.get_retained_inputs(), moving, tangents
        )


def tangents_of_composition(
    composition: Composition,
    inputs: Sequence[Variable],
    moving: Sequence[int],
    tangents: Sequence[Variable],
) -> Grads:
    """Returns the tangents of a composition, which can be differentiated in turn.

    Args:
        composition: Function of Variables that returns a tuple of Variables.
        inputs: Its inputs.
        moving: Indexes of the inputs that have tangents.
        tangents: These tangents.

    Returns:
        tuple: One tangent for each output; None where it does not move.

    Example:
        >>> from chainer.functions.rules import tangents_of_composition
        >>> x, t = chainer.Variable(np.array([3.])), chainer.Variable(np.array([1.]))
        >>> tangents_of_composition(lambda x: (x ** 2,), [x], [0], [t])
        (variable([6.]),)
    """
    with using_config("enable_backprop", True):
        # New nodes replace the inputs: one input may depend on another, but the results must be
        # partial derivatives.
        taken = [_moving_input(x) if i in moving else x for i, x in enumerate(inputs)]
        outputs = composition(*taken)
    return tuple(
        push_forward(outputs, {taken[i].node: t for i, t in zip(moving, tangents, strict=True)})
    )


class _MovingInput(FunctionNode):
    """The input of a composition, as another node of the graph."""

    is_elementwise = True
    is_linear = True
    accepts_opaque_arrays = True
    type_check_key = ()

    def forward(self, inputs: Arrays) -> Arrays:
        return inputs

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        return grad_outputs


def _moving_input(x: Variable) -> Variable:
    # A Variable that requires no gradient would cut the graph of the composition.
    source = x if x.requires_grad else Variable(x.array)
    return _MovingInput().apply((source,))[0]


def gradients_of_composition(
    composition: Composition,
    inputs: Sequence[Variable],
    targets: Sequence[int],
    grad_outputs: Sequence[Variable | None],
) -> Variables:
    """Returns the gradients of a composition, which can be differentiated in turn.

    Use it in ``backward`` of a function that computes its gradient by array code. The function
    passes a composition that computes the same result with differentiable functions.
    Backpropagation through that composition gives gradients of any order.

    Args:
        composition: Function of Variables that returns a tuple of Variables.
        inputs: Its inputs.
        targets: Indexes of the inputs to differentiate with respect to.
        grad_outputs: Gradients w.r.t. the outputs; None where there is none.

    Returns:
        tuple: One gradient for each target, of the shape of the input; zeros where no output
            depends on it.

    Raises:
        TypeError: If the composition returns something else than Variables.

    Example:
        >>> from chainer.functions.rules import gradients_of_composition
        >>> x, gy = chainer.Variable(np.array([3.])), chainer.Variable(np.array([1.]))
        >>> gradients_of_composition(lambda x: (x ** 2,), [x], [0], [gy])
        (variable([6.]),)
    """
    given = [i for i, gy in enumerate(grad_outputs) if gy is not None]
    gradient = _Gradient(composition, len(inputs), tuple(targets), given)
    return DifferentiableComposition(gradient).apply((*inputs, *[grad_outputs[i] for i in given]))


def evaluate(composition: Composition, inputs: Arrays) -> Arrays:
    """Returns the output arrays of a composition; no graph is built."""
    with using_config("enable_backprop", False):
        return as_outputs(composition(*[Variable(x) for x in inputs]))


class _Gradient:
    """Gradient of a composition: a composition of its inputs and the gradients of its outputs."""

    def __init__(
        self, composition: Composition, count: int, targets: Indexes, given: list[int]
    ) -> None:
        self._composition = composition
        self._count = count
        self._targets = targets
        self._given = given

    def __call__(self, *variables: Variable) -> Variables:
        # Make the inputs leaves of a separate graph. One input may depend on another in the outer
        # graph, but the results must be partial derivatives.
        inputs, grad_outputs = variables[: self._count], variables[self._count :]
        with using_config("enable_backprop", True):
            outputs = self._composition(*inputs)
            ys, xs = [outputs[i] for i in self._given], [inputs[i] for i in self._targets]
            gys = list(grad_outputs)
            are_batched = any(map(is_batched, variables))
            if are_batched:
                # One walk over the graph of all samples, which are independent of each other.
                ys, xs, gys = [[lowered(v) for v in each] for each in (ys, xs, gys)]
            gradients = grad(ys, xs, gys, enable_double_backprop=True)
        found = [
            Variable(x.xp.zeros_like(x.array)) if gradient is None else gradient
            for x, gradient in zip(xs, gradients, strict=True)
        ]
        return tuple([raised(gx) for gx in found] if are_batched else found)
