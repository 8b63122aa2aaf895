"""Identity."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable


class Identity(FunctionNode):
    """Returns its inputs."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return inputs

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return tuple([grad_outputs[i] for i in target_input_indexes])

    backward_arrays = backward


def identity(*inputs: Any) -> Variable | tuple[Variable, ...]:
    """Just returns input variables, through a node of the graph.

    Args:
        inputs (:class:`~chainer.Variable` or array): Inputs.

    Returns:
        ~chainer.Variable or tuple of them: Variables that share the arrays of the inputs; one
        variable
        for one input.

    Example:
        >>> F.identity(np.array([1., 2.]))
        variable([1., 2.])
    """
    ys = Identity().apply(inputs)
    return ys[0] if len(ys) == 1 else ys
