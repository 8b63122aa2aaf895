"""Edges of the graph that carry no values."""

from __future__ import annotations

from typing import Any

import chainer
from chainer import FunctionNode


class PseudoConnect(FunctionNode):
    """Passes its inputs on, except the first, a delegate variable."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(inputs[1:])

    def backward(self, target_input_indexes: Any, grad_outputs: Any) -> tuple[Any, ...]:
        # Delegate variables, which are empty, get a gradient, so that backward goes on to what they
        # came from, also if it started from one without gradient.
        return tuple(
            chainer.Variable(self.xp.zeros(node.shape, node.dtype))
            if gy is None and (index == 0 or 0 in node.shape)
            else gy
            for index, (node, gy) in enumerate(
                zip(self.input_nodes, (None, *grad_outputs), strict=True)
            )
        )


def pseudo_connect(delegate_variable: Any, *actual_variables: Any) -> Any:
    """Ties variables to a delegate variable, so that backward reaches both.

    A process whose forward pass sends something and goes on with other variables would never come
    to the gradient of what it sent, and the receiver would wait forever.

    Args:
        delegate_variable (~chainer.Variable): What :func:`~chainermn.functions.send` returned; None
            leaves the other variables as they are.
        actual_variables (~chainer.Variable): Variables to return.

    Returns:
        ~chainer.Variable or tuple: The variables with the values of ``actual_variables``; a tuple
        if there are several.

    Example:
        Two values are sent, and the loss is computed in other processes::

            phi1 = chainermn.functions.send(h1, comm, rank=1)
            phi2 = chainermn.functions.send(h2, comm, rank=2)
            return chainermn.functions.pseudo_connect(phi1, phi2)
    """
    if delegate_variable is None:
        return actual_variables if len(actual_variables) != 1 else actual_variables[0]
    outputs = PseudoConnect().apply((delegate_variable, *actual_variables))
    return outputs if len(outputs) != 1 else outputs[0]
