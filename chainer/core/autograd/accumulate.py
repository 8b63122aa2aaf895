"""Sums of the gradients that reach the nodes of the graph during one backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.array_checks import is_current
from chainer.core.registry import registries

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Array

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

_ndarray = numpy.ndarray
# As Any: pyright calls an instance of numpy.generic "partially unknown".
Scalar: Any = numpy.generic


class GradientSum(Protocol):
    """Adds gradients to an array, at once or later: see :meth:`FunctionNode.gradient_sum`."""

    def add(self, *arguments: Any) -> bool:
        """Adds a gradient, given by what its rule knows; False if it does not take it."""
        ...

    def finish(self) -> None:
        """Adds what has not been added yet."""
        ...


class ArraySums:
    """Sums of gradients that are arrays.

    A node's first gradient is stored as it is. A differentiation rule may return the same array, or
    views of it, for several nodes. So the sum with the second gradient is written to a new array.
    Only this object refers to that array, and further gradients are added to it in place.

    Attributes:
        sums: Node that was reached -> its gradient.
        kept: What rules keep until the end of the pass, by keys of theirs.
    """

    __slots__ = ("_in_place", "_open", "_own", "kept", "sums")

    def __init__(self) -> None:
        self.sums: dict[VariableNode, Array] = {}
        self.kept: dict[Any, Any] = {}
        #: Leaves whose kernels add to the sum by themselves -> what makes the objects that do so ->
        #: the object. One parameter may be a weight of linear functions and a table of embeddings.
        self._open: dict[VariableNode, dict[Any, GradientSum]] = {}
        #: Nodes whose sum is an array that was made here.
        self._in_place: set[VariableNode] = set()
        #: Leaves -> arrays that a rule made for them alone: see :meth:`made_for`.
        self._own: dict[VariableNode, Array] = {}

    def add(self, node: VariableNode, grad: Array) -> bool:
        """Adds a gradient to the sum of a node.

        Returns:
            bool: Whether this is the first gradient of the node.
        """
        sums = self.sums
        previous = sums.get(node)
        if previous is None:
            sums[node] = grad
            return True
        if node in self._in_place:
            if grad is previous:  # a kernel adds to it: see open_sum()
                pass
            elif type(grad) is _ndarray:  # without the call of a function
                previous += grad
            else:
                add_arrays(previous, grad, in_place=True)
        else:
            total = previous + grad if type(grad) is _ndarray else add_arrays(previous, grad)
            sums[node] = total
            # The sum of arrays without axes is a scalar in NumPy, which cannot be changed.
            if type(total) is _ndarray or not isinstance(total, Scalar):
                self._in_place.add(node)
        return False

    def open_sum(
        self, node: VariableNode, make: Callable[[Array], GradientSum | None]
    ) -> tuple[GradientSum, Array] | None:
        """Returns an object that adds to the sum of a node, and the array of the sum.

        Args:
            node: A node that has been reached before.
            make: Makes the object for an array if the node does not have one yet; it returns None
                if it cannot.

        Returns:
            The object is complete when :meth:`finish` has run. None if other code may refer to the
            array of the sum, or if a function will read it before the end of the pass.
        """
        found = self.opened(node, make)
        if found is not None:
            return found, self.sums[node]
        if not self.may_open_sum(node):
            return None
        total = self.sums[node]
        found = make(total)
        if found is None:
            return None
        self._open.setdefault(node, {})[getattr(make, "__func__", make)] = found
        # From here on, gradients of other functions are added to the same array.
        self._in_place.add(node)
        return found, total

    def opened(
        self, node: VariableNode, make: Callable[[Array], GradientSum | None]
    ) -> GradientSum | None:
        """Returns the object that adds to the sum of a node; None if there is none yet.

        Args:
            node: The node.
            make: As for :meth:`open_sum`. Methods of several objects are one if their function is:
                objects that it makes take the same arguments.
        """
        found = self._open.get(node)
        return None if found is None else found.get(getattr(make, "__func__", make))

    def made_for(self, node: VariableNode, grad: Array) -> None:
        """Remembers that only the caller refers to an array, which becomes a gradient of a leaf.

        So a kernel may add the next gradients to it. Without this, an array of the sum of two
        gradients is made first.

        Args:
            node: The leaf.
            grad: The array. The rule returns it as the gradient of this leaf and of no other node.
        """
        if node._creator_node is None:
            self._own[node] = grad

    def may_open_sum(self, node: VariableNode) -> bool:
        """Returns whether a kernel may add the next gradient of a node to the sum by itself.

        Args:
            node: The node.
        """
        if node in self._in_place:
            return node._creator_node is None
        # Compared: the sum may have begun with the gradient of another function.
        own = self._own.get(node)
        return own is not None and own is self.sums.get(node)

    def total_of(self, node: VariableNode) -> Array | None:
        """Returns the array of the sum of a leaf, to which a rule may add; None if there is none.

        Args:
            node: The leaf.
        """
        is_open = node in self._in_place and node._creator_node is None
        return self.sums[node] if is_open else None

    def _complete(self, node: VariableNode) -> None:
        for each in self._open.pop(node, {}).values():
            each.finish()

    def finish(self) -> None:
        """Completes the sums to which kernels add. Called at the end of the pass."""
        for found in self._open.values():
            for each in found.values():
                each.finish()
        self._open.clear()
        self._own.clear()
        self.kept.clear()

    def pop(self, node: VariableNode) -> Array | None:
        """Removes the gradient of a node and returns it; None if it was not reached."""
        if self._open:
            self._complete(node)
        self._in_place.discard(node)
        self._own.pop(node, None)
        return self.sums.pop(node, None)

    def get(self, node: VariableNode) -> Array | None:
        """Returns the gradient of a node, which stays in the sums and is not changed any more."""
        if self._open:
            self._complete(node)
        self._in_place.discard(node)
        self._own.pop(node, None)
        return self.sums.get(node)


class VariableSums:
    """Sums of gradients that are Variables, so that they can be differentiated and hooks see them.

    Attributes:
        sums: Node that was reached -> list of its gradients, not yet added up. (In
            :class:`ArraySums` the values are arrays.)
    """

    __slots__ = ("sums",)

    def __init__(self) -> None:
        self.sums: dict[VariableNode, list[Variable]] = {}

    def add(self, node: VariableNode, grad: Variable) -> bool:
        """Adds a gradient to the list of a node.

        Returns:
            bool: Whether this is the first gradient of the node.
        """
        terms = self.sums.get(node)
        if terms is None:
            self.sums[node] = [grad]
            return True
        terms.append(grad)
        return False

    def function_done(self, nodes: tuple[VariableNode, ...], lazy: bool) -> None:
        """Adds up what a function has contributed, unless sums are lazy.

        Args:
            nodes: Nodes of the inputs of the function.
            lazy: Whether all gradients of a node are added at once when the node is visited (entry
                ``lazy_grad_sum`` of the configuration), and not after each function.
        """
        if not lazy:
            for node in nodes:
                terms = self.sums.get(node)
                if terms is not None and len(terms) > 1:
                    self.sums[node] = [add_variables(terms)]

    def pop(self, node: VariableNode) -> Variable | None:
        """Removes the gradient of a node and returns it; None if it was not reached."""
        terms = self.sums.pop(node, None)
        if terms is None:
            return None
        return terms[0] if len(terms) == 1 else add_variables(terms)

    def get(self, node: VariableNode) -> Variable | None:
        """Returns the gradient of a node, which stays in the sums."""
        terms = self.sums.get(node)
        if terms is None:
            return None
        if len(terms) == 1:
            return terms[0]
        total = add_variables(terms)
        self.sums[node] = [total]
        return total


def add_arrays(a: Array, b: Array, in_place: bool = False) -> Array:
    """Adds two arrays on the device they are on.

    Args:
        a: Array of any backend.
        b: Array of the same shape.
        in_place: Whether ``a`` is changed and returned.
    """
    if type(b) is not _ndarray:
        backend = find_backend(b.__class__)
        if backend is not None and backend.multi_device:
            device = backend.device_of(b)
            if not is_current(device):
                with device:
                    return add_arrays(a, b, in_place)
    if in_place:
        a += b
        return a
    return a + b


def add_variables(terms: list[Variable]) -> Variable:
    """Adds Variables with one function: a chain of additions would keep every partial sum."""
    if len(terms) == 1:
        return terms[0]
    if len(terms) == 2:  # the usual case by the operator, which is the same function
        return terms[0] + terms[1]
    add: Callable[..., Variable] = registries.functions.get("add")
    return add(*terms)
