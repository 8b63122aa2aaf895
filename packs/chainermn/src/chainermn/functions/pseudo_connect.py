"""Edges of the graph that carry no values."""

from __future__ import annotations

from typing import Any

import chainer
from chainer import FunctionNode


class PseudoConnect(FunctionNode):
    """Passes its inputs on, except the first, a delegate variable."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self._delegate = inputs[0].shape, inputs[0].dtype
        return tuple(inputs[1:])

    def backward(self, target_input_indexes: Any, grad_outputs: Any) -> tuple[Any, ...]:
        shape, dtype = self._delegate
        # The delegate gets a gradient, so that backward goes on to what it came from.
        zeros = chainer.Variable(self.xp.zeros(shape, dtype))
        return (zeros, *grad_outputs)


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
