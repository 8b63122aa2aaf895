"""Edges of the graph that carry no values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainer
from chainer import FunctionNode

if TYPE_CHECKING:
    from chainer.typing import Grads, Indexes


class PseudoConnect(FunctionNode):
    """Passes its inputs on, except the last, a delegate variable.

    Backward goes to the inputs in their order. The delegate variable was sent before the others
    were made, so the receiver returns its gradient after theirs.
    """

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(inputs[:-1])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        # Delegate variables, which are empty, get a gradient, so that backward goes on to what they
        # came from, also if it started from one without gradient.
        return tuple(
            chainer.Variable(self.xp.zeros(node.shape, node.dtype))
            if gy is None and (index == len(grad_outputs) or 0 in node.shape)
            else gy
            for index, (node, gy) in enumerate(
                zip(self.input_nodes, (*grad_outputs, None), strict=True)
            )
        )


class ConnectedVariables(tuple[chainer.Variable, ...]):
    """Result of :func:`pseudo_connect`: a tuple of variables with a method ``backward``."""

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
    ) -> None:
        """Computes the gradients of all that these variables depend on.

        The pass starts at the first variable. One function returned all of them, so it reaches what
        the others depend on, too.

        Args:
            retain_grad (bool): See :meth:`chainer.Variable.backward`.
            enable_double_backprop (bool): See :meth:`chainer.Variable.backward`.
            loss_scale (float): See :meth:`chainer.Variable.backward`.
        """
        self[0].backward(retain_grad, enable_double_backprop, loss_scale)


def pseudo_connect(delegate_variable: Any, *actual_variables: Any) -> ConnectedVariables:
    """Ties variables to a delegate variable, so that backward reaches both.

    A process whose forward pass sends something and goes on with other variables would never come
    to the gradient of what it sent, and the receiver would wait forever.

    Args:
        delegate_variable (~chainer.Variable): Result of :func:`~chainermn.functions.send`; None
            leaves the other variables as they are.
        actual_variables (~chainer.Variable): Variables to return.

    Returns:
        ConnectedVariables: A tuple of variables with the values of ``actual_variables``, also of
        one. The tuple has a method ``backward``, so that a model can return it in place of a loss.

    Example:
        Two values are sent, and the loss is computed in other processes::

            phi1 = chainermn.functions.send(h1, comm, rank=1)
            phi2 = chainermn.functions.send(h2, comm, rank=2)
            return chainermn.functions.pseudo_connect(phi1, phi2)
    """
    if delegate_variable is None:
        return ConnectedVariables(actual_variables)
    return ConnectedVariables(PseudoConnect().apply((*actual_variables, delegate_variable)))
