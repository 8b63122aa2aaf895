"""Attributes of function nodes that are computed when they are read.

Few programs read them, and what is not stored costs an operation neither time nor memory.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode


class ClassName:
    """Class attribute whose value is the name of the class it is read from."""

    def __get__(self, instance: FunctionNode | None, owner: type[FunctionNode]) -> str:
        return owner.__name__


class Rank:
    """Attribute ``rank``, computed when it is read: few programs ask, and every operation pays."""

    def __get__(self, instance: FunctionNode | None, owner: type[FunctionNode]) -> int:
        inputs = None if instance is None else instance.inputs
        return max([node._rank for node in inputs], default=0) if inputs else 0


class Outputs:
    """Attribute ``outputs``, a tuple made when it is read.

    A function keeps the reference to its only output without a tuple around it: that is one object
    less per operation for the garbage collector to visit.
    """

    def __get__(
        self, instance: FunctionNode | None, owner: type[FunctionNode]
    ) -> tuple[weakref.ref[VariableNode], ...] | None:
        if instance is None or instance.inputs is None:
            return None
        return instance._several_outputs if instance._output is None else (instance._output,)
