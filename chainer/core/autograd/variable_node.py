"""Nodes of the computational graph that represent variables."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chainer.core.arguments import wrong_type

if TYPE_CHECKING:
    from chainer.core.autograd.function import Function
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, DType, Shape


#: Marks of a node are bits of one number. The number is zero for nearly all nodes of functions, so
#: backpropagation needs a single test.
#: This mark: a backward pass that reaches the node must check whether the creator is already
#: scheduled because of another output.
CHECK_SCHEDULED = 1
#: The gradient of a function's output was set, so that backpropagation clears it.
GRAD_WAS_SET = 2
#: The variable requires no gradient.
NO_GRADIENT = 4

_new = object.__new__


class _Gone:
    """What the reference below pointed to."""


#: Takes the place of a reference to a variable in the node of an array. A reference to nothing is
#: called in half of the time of a function.
_no_variable: Any = weakref.ref(_Gone())


#: Not empty if the variable of a leaf is gone, since a backward pass looked last: see
#: :mod:`.unread_gradients`. One element is enough.
dead_leaves: deque[object] = deque(maxlen=1)
# A method in C: it runs no Python code while a variable is destroyed.
_note_death = dead_leaves.append


#: Signature of a variable without array.
_UNKNOWN = (None, None)


def shape_and_dtype_label(shape: Shape | None, dtype: DType | None) -> str:
    """Returns the text that represents an array in drawings of graphs: ``'(2, 3), float32'``."""
    if shape is None:
        return "(uninitialized)"
    if shape == ():
        return str(dtype)
    lengths = ", ".join(map(str, shape))
    return f"({lengths}), {dtype}"


class VariableNode:
    """Node in the backward computational graph representing a variable.

    Functions refer to the nodes of their inputs, not to the variables, so that the graph keeps no
    array alive. The array is reachable from here while the variable lives, or after
    :meth:`retain_data`, which function nodes call (through ``retain_inputs`` and
    ``retain_outputs``) for what their backward needs.

    Args:
        variable (Variable): The variable the node belongs to.
        name (str): Name of the node.
        **kwargs: ``grad`` raises an error, because nodes hold no gradients.

    Attributes:
        name: Name of the node.
        data: The retained array, or None.

    Example:
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> y = x * 2
        >>> y.creator_node.inputs[0] is x.node, x.node.shape
        (True, (2,))
    """

    # A slot for each attribute. A graph has one node per operation, and a dictionary for each node
    # would be work for the memory allocator and for Python's garbage collector. Programs such as
    # tools that draw graphs may set further attributes: Python makes the dictionary at first use.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_creator_node",
        "_marks",
        "_rank",
        "_type",
        "_variable",
        "data",
        "name",
    )

    #: The class Variable. It registers itself here, because this module must not import it: a
    #: variable refers to its node, and imports this one.
    variable_class: ClassVar[type[Variable]]

    def __init__(self, variable: Variable, name: str | None, **kwargs: Any) -> None:
        if kwargs:
            raise ValueError(f"VariableNode takes a variable and a name, got {sorted(kwargs)}")
        try:
            array = variable._array
        except AttributeError:
            raise wrong_type("variable", "a Variable", variable) from None
        self._variable: Callable[[], Variable | None] = weakref.ref(
            variable, _note_death if variable._requires_grad else None
        )
        self._creator_node: FunctionNode | None = None
        self._rank = 0
        # Stored in the node, because reading a slot is faster than reading an attribute of function
        # nodes, whose classes differ.
        self._marks = 0 if variable._requires_grad else NO_GRADIENT
        self.data: Array = None
        self.name = name
        # Stored although the array has both values: nodes outlive arrays, and the pair is part of
        # the signature by which passed type checks are remembered.
        self._type: tuple[Any, Any] = _UNKNOWN if array is None else (array.dtype, array.shape)

    @classmethod
    def _of_constant(cls, array: Array | None) -> VariableNode:
        """Makes the node of an input that is an array. Such a node needs no variable."""
        # Slot by slot: calls of two initializers would take as long as a small operation.
        self = _new(cls)
        self._variable = _no_variable
        self._creator_node = None
        self._rank = 0
        self._marks = NO_GRADIENT
        self.data = None
        self.name = None
        self._type = _UNKNOWN if array is None else (array.dtype, array.shape)
        return self

    @property
    def dtype(self) -> DType:
        """Data type of the array (None while the variable is not initialized)."""
        return self._type[0]

    @property
    def shape(self) -> Shape:
        """Shape of the array (None while the variable is not initialized)."""
        return self._type[1]

    @property
    def creator(self) -> Function | FunctionNode | None:
        """Function object that created this node.

        For old-style functions the :class:`~chainer.Function`, else the function node itself.
        """
        node = self.creator_node
        if node is None:
            return None
        function = getattr(node, "function", None)
        return node if function is None else function

    @creator.setter
    def creator(self, creator: Function | FunctionNode | None) -> None:
        self.creator_node = creator

    @property
    def creator_node(self) -> FunctionNode | None:
        """Function node that has this variable as an output. Setting None unchains the node."""
        creator = self._creator_node
        if creator is not None:
            creator._know_output(self)
        return creator

    @creator_node.setter
    def creator_node(self, creator_node: Function | FunctionNode | None) -> None:
        node: FunctionNode | None = cast("Any", getattr(creator_node, "node", creator_node))
        self._creator_node = node
        if node is not None:
            # Reading the attribute finds the output that the function has now, which may be another
            # node. Later it could not be distinguished from this node.
            _ = node.outputs
            self._rank = node.rank + 1
            # The function may have other outputs. This node may have a gradient from the time when
            # it was a leaf.
            self._marks |= CHECK_SCHEDULED | GRAD_WAS_SET

    def set_creator(self, creator: Function | FunctionNode) -> None:
        """Sets the function that created this node; same as ``self.creator = creator``."""
        self.creator = creator

    def set_creator_node(self, creator_node: FunctionNode | Function) -> None:
        """Sets the function node that created this node, as :attr:`creator_node` does."""
        self.creator_node = creator_node

    def unchain(self) -> None:
        """Deletes the reference to the creator of this node."""
        self._creator_node = None

    def get_variable_or_none(self) -> Variable | None:
        """Returns the variable of this node, or None when it is gone."""
        return self._variable()

    def get_variable(self) -> Variable:
        """Returns the variable of this node; a new one when it is gone.

        A new variable holds the retained array (or None) and refers to this node.
        """
        variable = self._variable()
        if variable is None:
            variable = VariableNode.variable_class._from_node(self)
            self._variable = weakref.ref(variable)
        return variable

    def retain_data(self) -> None:
        """Lets the node hold a reference to the array of its variable.

        Raises:
            RuntimeError: If the variable is gone.
        """
        variable = self.get_variable_or_none()
        if variable is None:
            raise RuntimeError(
                "cannot retain variable data: the variable has been already released"
            )
        self.data = variable.array

    def _update(self, array: Array | None) -> None:
        """Updates the node after the array of the variable was replaced."""
        self._type = _UNKNOWN if array is None else (array.dtype, array.shape)
        if self.data is not None:
            self.data = array

    @property
    def grad(self) -> Array | None:
        """Gradient array of the corresponding variable, or None when that is gone."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad

    @property
    def grad_var(self) -> Variable | None:
        """Gradient variable of the corresponding variable, or None when that is gone."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad_var

    @property
    def label(self) -> str:
        """Short text that represents the node: shape and dtype."""
        return shape_and_dtype_label(self.shape, self.dtype)

    @property
    def rank(self) -> int:
        """Topological ordinal of the node."""
        return self._rank

    @property
    def requires_grad(self) -> bool:
        """Whether the gradient will be set in backward calculation."""
        return not self._marks & NO_GRADIENT
