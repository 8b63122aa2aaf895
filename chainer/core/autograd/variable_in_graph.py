"""The place of a variable in the computational graph."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from chainer.core.autograd.backprop import backward
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.autograd.variable_operators import VariableOperators

if TYPE_CHECKING:
    from chainer.core.autograd.function import Function
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array


class VariableInGraph(VariableOperators):
    """The part of :class:`~chainer.Variable` about its node, its creator and backpropagation."""

    __slots__ = ()

    # Slots of Variable.
    _array: Array
    _graph_node: VariableNode | None

    _name: str | None = None

    @property
    def node(self) -> VariableNode:
        """Node of the computational graph that represents this variable."""
        node = self._graph_node
        if node is None:
            node = self._graph_node = VariableNode(cast("Variable", self), self._name)
        return node

    @property
    def _node(self) -> VariableNode:
        """The node, under a name of earlier releases that programs use."""
        return self.node

    @_node.setter
    def _node(self, node: VariableNode) -> None:
        self._graph_node = node

    @property
    def name(self) -> str | None:
        """Name of the variable."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name
        if self._graph_node is not None:
            self._graph_node.name = name

    @property
    def creator(self) -> Function | FunctionNode | None:
        """Function that created this variable: a :class:`~chainer.Function` or a function node."""
        return None if self._graph_node is None else self._graph_node.creator

    @creator.setter
    def creator(self, creator: Function | FunctionNode | None) -> None:
        self.node.creator = creator

    @property
    def creator_node(self) -> FunctionNode | None:
        """:class:`~chainer.FunctionNode` that created this variable.

        Setting None is equivalent to :meth:`unchain`; setting the original node again restores the
        graph.
        """
        return None if self._graph_node is None else self._graph_node.creator_node

    @creator_node.setter
    def creator_node(self, creator_node: Function | FunctionNode | None) -> None:
        self.node.creator_node = creator_node

    def set_creator(self, gen_func: Function | FunctionNode) -> None:
        """Notifies the variable that the given function is its creator.

        Args:
            gen_func (Function): Function that has this variable as an output.
        """
        self.node.set_creator(gen_func)

    def set_creator_node(self, fnode: FunctionNode | Function) -> None:
        """Notifies the variable that the given node is its creator.

        Args:
            fnode (FunctionNode): Function node that has this variable as an output.
        """
        self.node.set_creator_node(fnode)

    @property
    def rank(self) -> int:
        """Topological ordinal of the variable in the graph."""
        return 0 if self._graph_node is None else self._graph_node.rank

    def retain_data(self) -> None:
        """Lets the corresponding variable node keep the underlying array."""
        self.node.data = self._array

    def unchain(self) -> None:
        """Deletes the reference to the creator of this variable."""
        if self._graph_node is not None:
            self._graph_node.unchain()

    def unchain_backward(self) -> None:
        """Deletes references between variable nodes and functions backward.

        Intermediate nodes and functions that are referenced from nowhere else are released, and
        this variable becomes a root. Useful for truncated backpropagation through time.
        """
        pending = [self.creator_node]
        self.unchain()
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

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
    ) -> None:
        """Runs error backpropagation (a.k.a. backprop) from this variable.

        The gradients of the roots of the graph are accumulated to their :attr:`grad`. This
        variable's :attr:`grad` is the initial error; without one, a variable of one element starts
        with 1. Afterwards this variable has no gradient, unless ``retain_grad`` is True. A variable
        that no function created (or that was unchained) has nothing to propagate to, and keeps its
        gradient.

        Args:
            retain_grad (bool): If True, the gradients of this and of all intermediate variables are
                kept; otherwise they are None afterwards.
            enable_double_backprop (bool): If True, the computation of the gradients is recorded, so
                that the gradients can be differentiated in turn.
            loss_scale (float): Initial error where no gradient is set, against underflow of float16
                gradients. Optimizers divide the gradients by it before they update parameters.

        Raises:
            ValueError: If the variable has more than one element and no gradient is set. (A
                function defined outside of Chainer gets None as the gradient of its output.)
            RuntimeError: In debug mode, if a gradient contains NaN.
        """
        backward(cast("Variable", self), retain_grad, enable_double_backprop, loss_scale)

    @property
    def label(self) -> str:
        """Short text that represents the variable: shape and dtype."""
        return self.node.label
