"""Functions that are applied to other inputs than those that made them part of a graph."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Variables


def applied_again(function: FunctionNode, inputs: Sequence[Any]) -> Variables:
    """Applies a copy of a function to other inputs."""
    return not_applied(function).apply(tuple(inputs))


def not_applied(function: FunctionNode) -> FunctionNode:
    """Returns a copy of a function, as it was before it was applied."""
    again = copy.copy(function)
    # The copy must not own the outputs of the original, which has its place in the graph.
    again.inputs = None
    again._forget_outputs()
    again._retained_output_arrays = None
    return again
