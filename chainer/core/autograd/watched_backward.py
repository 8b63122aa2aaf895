"""A backward pass that calls a function when the gradient of a leaf is complete."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chainer.core.autograd.engine import BackwardPass

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Array

OnComplete = Callable[["Variable", "Array"], bool | None]
"""Function of a leaf and of the array that this backward pass adds to its gradient. It must not
change the array: functions that are not yet differentiated may share its memory. If it returns
True it has taken the gradient: the pass forgets it, and the gradient of the leaf stays as it is."""


class WatchedPass(BackwardPass):
    """A backward pass with a callback for each leaf.

    A leaf is complete when all functions that use it were differentiated. A leaf whose functions
    the pass does not reach is never complete.

    Args:
        root: Node where the pass starts.
        on_complete: The callback.
        create_graph: See :class:`BackwardPass`.
        retain_grad: See :class:`BackwardPass`.
    """

    __slots__ = ("_on_complete", "_uses")

    def __init__(
        self,
        root: VariableNode,
        on_complete: OnComplete,
        create_graph: bool = False,
        retain_grad: bool = False,
    ) -> None:
        super().__init__(create_graph, retain_grad)
        self._on_complete = on_complete
        self._uses = count_uses(root)

    def _visitor(self) -> Callable[[VariableNode, FunctionNode], VariableNode | None]:
        return self._visit

    def _visit(self, node: VariableNode, function: FunctionNode) -> VariableNode | None:
        # Read before the rule runs, because a rule may unchain its function.
        inputs, targets = function.inputs or (), function._targets
        following = super()._visit(node, function)
        uses = self._uses
        for i in targets:
            leaf = inputs[i]
            left = uses.get(leaf)
            if left is None:
                continue
            if left > 1:
                uses[leaf] = left - 1
                continue
            del uses[leaf]
            self._tell(leaf)
        return following

    def _tell(self, node: VariableNode) -> None:
        variable = node.get_variable_or_none()
        if variable is None:
            return
        # Terms that are not added up yet are added here, and the sum stays for the end of the pass.
        gradient = self.sums.get(node)
        if self.on_variables and gradient is not None:
            gradient = gradient._array
        if gradient is not None and self._on_complete(variable, gradient):
            self.sums.pop(node)


def count_uses(root: VariableNode) -> dict[VariableNode, int]:
    """Counts how often the functions before a node use each leaf.

    Args:
        root: The node.

    Returns:
        dict: Leaf -> number of times that it is an input of a function.
    """
    uses: dict[VariableNode, int] = {}
    seen: set[FunctionNode] = set()
    creator = root._creator_node
    left = [] if creator is None else [creator]
    while left:
        function = left.pop()
        if function in seen:
            continue
        seen.add(function)
        inputs = function.inputs or ()
        for i in function._targets:
            node = inputs[i]
            before = node._creator_node
            if before is None:
                uses[node] = uses.get(node, 0) + 1
            elif before not in seen:
                left.append(before)
    return uses
