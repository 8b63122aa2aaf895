"""Gradients that no code can read: a backward pass does not compute them.

Programs wrap inputs in Variables, differentiate with respect to them inside a loss function, and
drop them when the function returns. The graph still leads to the nodes of these inputs. Their
gradients would be thrown away at the end of ``backward()``, after much work: half of the nodes of a
loss with a gradient penalty depend on the input alone.

A leaf is *dead* if its variable is gone. This module finds the inputs of functions that lead to
dead leaves only. It is asked only if a leaf has died since the last backward pass, so that other
programs pay nothing.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.variable_node import dead_leaves

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Indexes

_rank_of = attrgetter("_rank")


def needed_targets(root: VariableNode) -> dict[FunctionNode, Indexes] | None:
    """Returns the functions of which some gradients are left out, if a leaf has died.

    Args:
        root: Node from which the backward pass starts. It has a creator.

    Returns:
        dict: Function -> indexes of the inputs that get gradients; none for a function that leads
        to dead leaves only. Functions that are not in it differentiate w.r.t. all inputs that
        require gradients. None if that is true of all functions.
    """
    dead_leaves.clear()
    # Loops without calls: the search takes a tenth of the time of the functions that it saves in a
    # small network.
    found = [root]
    seen = {root}
    #: Nodes whose gradients lead to a gradient that can be read.
    live: set[VariableNode] = set()
    #: Nodes of functions that have a dead leaf as an input.
    touching: list[VariableNode] = []
    for node in found:  # it grows
        function: Any = node._creator_node
        inputs = function.inputs
        if inputs is None:  # a rule has unchained the function
            return None
        for i in function._targets:
            x = inputs[i]
            if x not in seen:
                if x._creator_node is not None:
                    seen.add(x)
                    found.append(x)
                elif x._variable() is not None:
                    seen.add(x)
                    live.add(x)
                elif not touching or touching[-1] is not node:
                    touching.append(node)
    if not touching:
        return None
    if not any([_has_only_dead_leaves(node, live) for node in touching]):
        # An input of a layer: its parameters are alive, so that all nodes have to be visited.
        live.update(found)
        found = touching
    else:
        found.sort(key=_rank_of)
    return _left_out(found, live)


def _has_only_dead_leaves(node: VariableNode, live: set[VariableNode]) -> bool:
    """Returns whether the creator of a node has no other inputs that require gradients."""
    function: Any = node._creator_node
    for i in function._targets:
        x = function.inputs[i]
        if x._creator_node is not None or x in live:
            return False
    return True


def _left_out(
    nodes: list[VariableNode], live: set[VariableNode]
) -> dict[FunctionNode, Indexes] | None:
    """Returns the functions of which gradients are left out, see :func:`needed_targets`.

    Args:
        nodes: Nodes with creators, in the order of their ranks.
        live: Leaves whose gradients can be read. Nodes that lead to them are added.
    """
    needed: dict[FunctionNode, Indexes] = {}
    for node in nodes:
        function: Any = node._creator_node
        inputs, targets = function.inputs, function._targets
        kept: Indexes = ()
        if len(targets) == 1:
            if inputs[targets[0]] in live:
                live.add(node)
                continue
        else:
            for i in targets:
                if inputs[i] in live:
                    kept += (i,)
            if len(kept) == len(targets):
                live.add(node)
                continue
        # Rules that may do more than compute gradients always run. Functions with several outputs
        # use up gradients that programs set for the others, so they run, too.
        if node._marks or not function._traits.is_rule_pure:
            live.add(node)
        else:
            needed[function] = kept
            if kept:
                live.add(node)
    return needed or None
