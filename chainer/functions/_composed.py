"""Functions given by a composition of others, differentiable as often as those are.

A function with a fast gradient of its own on arrays needs a rule for gradients of gradients as
well. Where that rule would be long and its speed hardly matters, the same function written with
others says it: its gradients follow by backpropagation through the composition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, Arrays, Grads, Indexes

Composition = Callable[..., tuple[Variable, ...]]


class Composed(FunctionNode):
    """Function computed by a composition of differentiable functions.

    Args:
        composition: Function of Variables that returns a tuple of Variables. It must give the
            same whenever
            it is called with the same values.
    """

    def __init__(self, composition: Composition) -> None:
        self._composition = composition

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        with using_config("enable_backprop", False):
            outputs = self._composition(*[Variable(x) for x in inputs])
        return tuple([y.array for y in outputs])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        return composed_gradients(
            self._composition, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )


def composed_gradients(
    composition: Composition,
    inputs: Sequence[Variable],
    targets: Sequence[int],
    grad_outputs: Sequence[Variable | None],
) -> tuple[Variable, ...]:
    """Returns differentiable gradients of a composition.

    Args:
        composition: Function of Variables that returns a tuple of Variables.
        inputs: Its inputs.
        targets: Indexes of the inputs to differentiate with respect to.
        grad_outputs: Gradients w.r.t. the outputs; None where there is none.

    Returns:
        tuple: One gradient for each target.
    """
    given = [i for i, gy in enumerate(grad_outputs) if gy is not None]
    gradient = _Gradient(composition, len(inputs), tuple(targets), given)
    return Composed(gradient).apply((*inputs, *[grad_outputs[i] for i in given]))


class _Gradient:
    """Gradient of a composition: a function of its inputs and the gradients of its outputs."""

    def __init__(
        self, composition: Composition, count: int, targets: tuple[int, ...], given: list[int]
    ) -> None:
        self._composition = composition
        self._count = count
        self._targets = targets
        self._given = given

    def __call__(self, *variables: Variable) -> tuple[Variable, ...]:
        # The variables are leaves that depend on nothing: partial derivatives are what comes out.
        inputs, grad_outputs = variables[: self._count], variables[self._count :]
        with using_config("enable_backprop", True):
            outputs = self._composition(*inputs)
            gradients = grad(
                [outputs[i] for i in self._given],
                [inputs[i] for i in self._targets],
                list(grad_outputs),
                enable_double_backprop=True,
            )
        return tuple(
            [
                Variable(_zeros_like(inputs[i].array)) if gradient is None else gradient
                for i, gradient in zip(self._targets, gradients, strict=True)
            ]
        )


def _zeros_like(array: Array) -> Any:
    return array * 0
