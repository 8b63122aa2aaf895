"""Removal of the references from variables to the functions that computed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable


def unchain_backward(variable: Variable) -> None:
    """Implements :meth:`chainer.Variable.unchain_backward`."""
    pending = [variable.creator_node]
    variable.unchain()
    seen: set[FunctionNode] = set()
    while pending:
        function = pending.pop()
        if function is None or function in seen:
            continue
        seen.add(function)
        for node in function.inputs or ():
            pending.append(node.creator_node)
            node.unchain()
        function.unchain()
