"""Attributes of function nodes that are computed when they are read.

Few programs read them. Not storing them saves time and memory in every operation.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from chainer.core.autograd.variable_node import VariableNode

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable


class ClassName:
    """Class attribute whose value is the name of the class it is read from."""

    def __get__(self, instance: FunctionNode | None, owner: type[FunctionNode]) -> str:
        return owner.__name__


class Rank:
    """Attribute ``rank``, computed when it is read: storing it would slow every operation down."""

    def __get__(self, instance: FunctionNode | None, owner: type[FunctionNode]) -> int:
        inputs = None if instance is None else instance.inputs
        return max([node._rank for node in inputs], default=0) if inputs else 0


class Outputs:
    """Attribute ``outputs``, a tuple made when it is read.

    A function does not need a reference to the node of its only output, because a walk over the
    graph reaches the function from that node. So the function keeps no weak reference to the node.
    It shares the weak reference that the node has to its variable. That saves one object per
    operation.
    """

    def __get__(
        self, instance: FunctionNode | None, owner: type[FunctionNode]
    ) -> tuple[weakref.ref[VariableNode], ...] | None:
        if instance is None or instance.inputs is None:
            return None
        if instance._several_outputs or instance._output_variable is None:
            return instance._several_outputs
        if instance._output is None:
            instance._output = _reference_to_output(instance, instance._output_variable)
        return (instance._output,)


def _reference_to_output(
    function: FunctionNode, to_variable: weakref.ref[Variable]
) -> weakref.ref[VariableNode]:
    """Returns a reference to the node of the only output of a function.

    Args:
        function: The function.
        to_variable: Reference to the variable of the output, which the node uses as well.
    """
    variable = to_variable()
    node = None if variable is None else variable._graph_node
    if node is not None and node._variable is to_variable:
        return weakref.ref(node)
    # The variable is gone, and no walk came from the node. The garbage collector still knows the
    # node. The search takes milliseconds, but it runs only once, and only for a function that a
    # program kept without its output.
    for found in gc.get_referrers(to_variable, function):
        if isinstance(found, VariableNode):
            return weakref.ref(found)
    return _GONE


#: A reference to a node that is gone.
_GONE: weakref.ref[VariableNode] = weakref.ref(object.__new__(VariableNode))
