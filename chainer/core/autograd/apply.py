"""Application of a function node: inputs are collected and checked, outputs enter the graph.

The time of :func:`apply` is the cost per operation of an eager framework, besides the array work.
Some code here is written out although a method exists. A comment there says what that saves.
``python -m benchmarks tanh_loop`` measures it.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# The types in annotations are checked again at run time, because users write these functions.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.autograd.accumulate import Scalar
from chainer.core.autograd.array_checks import has_nan, is_current
from chainer.core.autograd.batching import CLASSES, apply_batched
from chainer.core.autograd.collector_pacing import collections, pacing
from chainer.core.autograd.input_arrays import check_outputs, convert_inputs, input_array
from chainer.core.autograd.input_types import (
    check_types,
    refuse_uninitialized,
)
from chainer.core.autograd.laid_out import LAYOUTS, apply_with_layouts, layouts_of
from chainer.core.autograd.node_traits import RECENT_SIGNATURES
from chainer.core.autograd.retained_checksums import remember_checksums
from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import CHECK_SCHEDULED, NO_GRADIENT, VariableNode
from chainer.core.config.configuration import ThreadState, threads

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Arrays, Indexes, VariableLike, Variables

_ndarray = numpy.ndarray
_ref = weakref.ref
_new = object.__new__


#: Most functions have few inputs and are differentiated w.r.t. all of them. These functions share
#: tuples of indexes. The tuples are elements of one tuple, at the number of inputs: reading it is
#: faster than reading a dictionary.
#: Cells of recurrent layers have 14.
_FEW = 16
_ALL_INDEXES = tuple([tuple(range(count)) for count in range(_FEW + 1)])
_FIRST, _SECOND, _BOTH = _ALL_INDEXES[1], (1,), _ALL_INDEXES[2]


def apply(self: FunctionNode, inputs: Sequence[VariableLike]) -> Variables:
    """Computes output variables and grows the computational graph.

    Args:
        inputs: Tuple of input variables. An element may be an array, which is then wrapped in a
            variable that requires no gradient.

    Returns:
        tuple: The output variables.

    Raises:
        InvalidType: If the inputs do not pass :meth:`check_type_forward`.
        TypeError: If an input is not an array, or arrays of different backends are mixed.
        RuntimeError: If an output contains NaN, in debug mode.
    """
    if collections:
        pacing.adapt(inputs)
    state = threads.state
    if not state.enable_backprop:
        return _apply_without_graph(self, inputs, state)

    if len(inputs) == 1:
        # The loop below for one input. Half of all functions are unary, and lists that become
        # tuples at once take a tenth of the time of such a function.
        (x,) = inputs
        if isinstance(x, Variable):
            array = x._array
            node = x._graph_node or x.node
        else:
            array = input_array(self, x)
            node = VariableNode._of_constant(array)
        is_usual = type(array) is _ndarray
        rank = node._rank
        marks = node._marks
        in_data: Arrays = (array,)
        nodes: tuple[VariableNode, ...] = (node,)
        targets: Indexes | None = _FIRST
        types: list[Any] = [node._type]
    elif len(inputs) == 2 and isinstance(inputs[0], Variable) and isinstance(inputs[1], Variable):
        # The same for two, which are products and all gradients of unary functions.
        x, x2 = inputs
        array, array2 = in_data = (x._array, x2._array)
        node = x._graph_node or x.node
        node2 = x2._graph_node or x2.node
        is_usual = type(array) is type(array2) is _ndarray
        rank = node._rank if node._rank > node2._rank else node2._rank
        marks = node._marks | node2._marks
        nodes = (node, node2)
        targets = _BOTH
        types = [node._type, node2._type]
    else:
        arrays: list[Array] = []
        node_list: list[VariableNode] = []
        types = []
        is_usual = len(inputs) > 0
        marks = 0
        rank = 0
        for x in inputs:
            if isinstance(x, Variable):
                array = x._array
                node = x._graph_node or x.node
            else:
                # Weights that are constant, and labels, are arrays of NumPy.
                array = x if type(x) is _ndarray and x.dtype.isnative else input_array(self, x)
                node = VariableNode._of_constant(array)
            if type(array) is not _ndarray:
                is_usual = False
            if node._rank > rank:
                rank = node._rank
            marks |= node._marks
            arrays.append(array)
            node_list.append(node)
            types.append(node._type)
        in_data = tuple(arrays)
        nodes = tuple(node_list)
        targets = _ALL_INDEXES[len(nodes)] if len(nodes) <= _FEW else None
    if not is_usual:
        return _apply_to_other_arrays(self, inputs, in_data, nodes, types, state)

    # The usual case, with as few tests as possible and without a call: one of the last applications
    # of this class had the same signature and returned a tuple. No signature is known if hooks were
    # added to this function.
    if self.inputs is not None:
        _give_outputs_away(self)
    traits = self._traits
    if traits.attributes_of is not None and state.type_check:
        types.append(traits.attributes_of(self))
    if types in traits.passed_types and state.is_common and not state.hooks:
        outputs = self.forward(in_data)
    else:
        outputs = _run(self, in_data, types, state)

    self.inputs = nodes
    if marks & NO_GRADIENT or targets is None:
        targets = _targets_of(nodes)
        marks = NO_GRADIENT * (not targets)
    else:
        marks = 0
    self._targets = targets
    for i in self._retained_inputs:
        nodes[i].data = in_data[i]
    if len(outputs) != 1:
        return _make_outputs(self, outputs, True, rank + 1)
    y = outputs[0]
    if type(y) is not _ndarray:
        if not isinstance(y, Scalar):
            return _make_outputs(self, outputs, True, rank + 1)
        # NumPy has a number in place of an array without axes. So the result of a mean is one.
        y = numpy.asarray(y)
        outputs = (y,)

    # Nearly all functions have one output. Its variable and node are filled in slot by slot, as
    # Variable() and VariableNode() would do: that saves the calls of two initializers.
    variable = _new(Variable)
    variable._array = y
    variable._gradient = None
    variable._grad_var = None
    variable._requires_grad = marks == 0
    node = variable._graph_node = _new(VariableNode)
    # The node refers to its variable, and the function shares that reference: see Outputs.
    node._variable = self._output_variable = _ref(variable)
    node._creator_node = self
    node._rank = rank + 1
    node._marks = marks
    node.data = None
    node.name = None
    signature = (y.dtype, y.shape)
    # Most functions keep the shape. Then the node shares the signature of the first input. That
    # takes less memory, and a comparison finds the same object without comparing the elements.
    node._type = types[0] if signature == types[0] else signature
    if self._retained_outputs:
        node.data = y
        self._retained_output_arrays = outputs
    return (variable,)


def apply_checking_layouts(self: FunctionNode, inputs: Sequence[VariableLike]) -> Variables:
    """Does the work of :func:`apply` for functions that define ``check_layout_forward``.

    Args:
        inputs: Tuple of input variables.
    """
    return apply_with_layouts(self, inputs, layouts_of(inputs))


def _apply_to_other_arrays(
    self: FunctionNode,
    inputs: Sequence[VariableLike],
    in_data: Arrays,
    nodes: tuple[VariableNode, ...],
    types: list[Any],
    state: ThreadState,
) -> Variables:
    """Does the second half of :func:`apply` unless there are inputs and all are NumPy arrays."""
    if in_data:
        in_data, variables = _prepare_inputs(self, inputs, in_data, state)
        if variables is not None:
            return variables
    if self.inputs is not None:
        _give_outputs_away(self)
    outputs = _run(self, in_data, _signature_of(self, types, state), state)
    self.inputs = nodes
    self._targets = _targets_of(nodes)
    for i in self._retained_inputs:
        nodes[i].data = in_data[i]
    return _make_outputs(self, outputs, not in_data, self.rank + 1)


def _targets_of(nodes: tuple[VariableNode, ...]) -> Indexes:
    """Returns the indexes of the inputs that require gradients."""
    if len(nodes) == 2:
        # Products with constants, and with gradients that are constant: without a loop, because the
        # calls of one took as long as a small sum.
        if nodes[0]._marks & NO_GRADIENT:
            return () if nodes[1]._marks & NO_GRADIENT else _SECOND
        return _FIRST if nodes[1]._marks & NO_GRADIENT else _BOTH
    if len(nodes) == 3 and nodes[1]._marks & nodes[2]._marks & NO_GRADIENT:
        # Linear functions and convolutions whose parameters are constant.
        return () if nodes[0]._marks & NO_GRADIENT else _FIRST
    return tuple([i for i, node in enumerate(nodes) if not node._marks & NO_GRADIENT])


def _types_of(in_data: Arrays) -> list[Any]:
    """Returns dtype and shape of each array."""
    return [(None, None) if x is None else (x.dtype, x.shape) for x in in_data]


def _signature_of(self: FunctionNode, types: list[Any], state: ThreadState) -> list[Any]:
    """Returns the signature by which passed type checks are remembered: it changes ``types``."""
    attributes_of = self._traits.attributes_of
    if attributes_of is not None and state.type_check:
        types.append(attributes_of(self))
    return types


def _give_outputs_away(self: FunctionNode) -> None:
    """Copies a function that is applied again, and makes the copy the creator of earlier outputs.

    In earlier releases programs could apply a node several times, but only the last outputs kept
    their graph. Here the copy keeps the attributes that ``forward`` is about to replace. So all
    outputs can be differentiated.
    """
    nodes = [node for reference in self.outputs or () if (node := reference()) is not None]
    if nodes:
        earlier = copy.copy(self)
        for node in nodes:
            node._creator_node = earlier
    self._forget_outputs()


def _make_outputs(self: FunctionNode, outputs: Arrays, all_numpy: bool, rank: int) -> Variables:
    """Makes the variables of any outputs, and puts their nodes into the graph."""
    for y in outputs:
        if type(y) is not _ndarray:
            all_numpy = False
    if not all_numpy:
        outputs = check_outputs(self, outputs)
    if self._traits.is_elementwise and len({y.shape for y in outputs}) > 1:
        raise RuntimeError(
            "An elementwise function returned outputs with different shapes.\n"
            f"Function: {self.label}\n"
            f"Input shapes: {', '.join([str(x.shape) for x in self.input_nodes])}\n"
            f"Output shapes: {', '.join([str(y.shape) for y in outputs])}"
        )
    variables: list[Variable] = []
    nodes: list[VariableNode] = []
    references: list[weakref.ref[VariableNode]] = []
    requires_grad = bool(self._targets)
    marks = CHECK_SCHEDULED if requires_grad else CHECK_SCHEDULED | NO_GRADIENT
    for y in outputs:
        # Slot by slot, as in apply(): gradients of elementwise functions have two outputs.
        variable = _new(Variable)
        variable._array = y
        variable._gradient = None
        variable._grad_var = None
        variable._requires_grad = requires_grad
        node = variable._graph_node = _new(VariableNode)
        node._variable = _ref(variable)
        node._creator_node = self
        node._rank = rank
        node._marks = marks
        node.data = None
        node.name = None
        node._type = (None, None) if y is None else (y.dtype, y.shape)
        variables.append(variable)
        nodes.append(node)
        references.append(_ref(node))
    self._several_outputs = tuple(references)
    if self._retained_outputs:
        for i in self._retained_outputs:
            nodes[i].data = outputs[i]
        self._retained_output_arrays = tuple([outputs[i] for i in self._retained_outputs])
    return tuple(variables)


def _apply_without_graph(
    self: FunctionNode, inputs: Sequence[VariableLike], state: ThreadState
) -> Variables:
    """Computes the outputs; nothing is recorded."""
    arrays: list[Array] = []
    types: list[Any] = []
    all_numpy = len(inputs) > 0
    requires_grad = False
    for x in inputs:
        if isinstance(x, Variable):
            array = x._array
            if x._requires_grad:
                requires_grad = True
        else:
            array = input_array(self, x)
        if type(array) is _ndarray:
            types.append((array.dtype, array.shape))
        else:
            all_numpy = False
        arrays.append(array)
    in_data = tuple(arrays)
    if not all_numpy:
        return _apply_to_other_arrays_without_graph(self, inputs, in_data, requires_grad, state)
    # As in apply(): the usual case without further calls. Here even a look at the attributes of the
    # signature would be felt, so that functions with such attributes take the other branch.
    if types in self._traits.passed_types and state.is_common and not state.hooks:
        outputs = self.forward(in_data)
    else:
        outputs = _run_with_attributes(self, in_data, types, state)
    if len(outputs) == 1 and type(outputs[0]) is _ndarray:
        variable = _new(Variable)
        variable._array = outputs[0]
        variable._gradient = None
        variable._grad_var = None
        variable._graph_node = None
        variable._requires_grad = requires_grad
        return (variable,)
    return _without_graph(self, outputs, True, requires_grad)


def _apply_to_other_arrays_without_graph(
    self: FunctionNode,
    inputs: Sequence[VariableLike],
    in_data: Arrays,
    requires_grad: bool,
    state: ThreadState,
) -> Variables:
    """Does the second half of :func:`_apply_without_graph` unless all inputs are NumPy arrays."""
    if in_data:
        in_data, variables = _prepare_inputs(self, inputs, in_data, state)
        if variables is not None:
            return variables
    outputs = _run(self, in_data, _signature_of(self, _types_of(in_data), state), state)
    if len(outputs) == 1 and in_data and type(outputs[0]) is type(in_data[0]):
        return (Variable._from_array(outputs[0], requires_grad),)
    return _without_graph(self, outputs, not in_data, requires_grad)


def _without_graph(
    self: FunctionNode, outputs: Arrays, all_numpy: bool, requires_grad: bool
) -> Variables:
    """Makes the variables of any outputs, which have no graph."""
    if not all_numpy or any([type(y) is not _ndarray for y in outputs]):
        outputs = check_outputs(self, outputs)
    return tuple([Variable._from_array(y, requires_grad) for y in outputs])


def _run(self: FunctionNode, in_data: Arrays, types: list[Any], state: ThreadState) -> Arrays:
    """Checks the types of the inputs and runs ``forward``, with hooks and debug checks if any.

    Args:
        self: The function.
        in_data: The input arrays.
        types: Signature: dtype and shape of each input, and the attributes that the type check
            reads, if there are any.
        state: State of the thread.

    Returns:
        tuple: The outputs of ``forward``.
    """
    traits = self._traits
    if state.debug:
        import traceback  # at the first use: only debug mode needs it

        self.stack = traceback.extract_stack()
    if state.lazy_grad_sum:
        self.lazy_grad_sum = True
    # Some checks depend only on dtypes, shapes and some attributes. Such a check runs once for each
    # signature, because it takes longer than a small operation. Most calls have the signature of a
    # recent call, often as the same tuple objects. Comparing takes less time than hashing.
    if state.type_check and types not in traits.passed_types:
        if traits.is_check_remembered:
            signature = tuple(types)
            if signature not in traits.checked_signatures:
                check_types(self, in_data)
                traits.remember_checked(signature)
        # ``check_type_forward`` may be set on an instance of a class without one.
        elif traits.checks_types or "check_type_forward" in self.__dict__:
            check_types(self, in_data)
    if state.hooks or traits.has_hooks or state.debug:
        return _forward_observed(self, in_data, state)
    try:
        outputs = self.forward(in_data)
    except Exception as error:
        refuse_uninitialized(self, in_data, error)
        raise
    if not isinstance(outputs, tuple):
        raise _not_a_tuple(self, outputs)
    # Remembered only after the tests above: for remembered types :func:`apply` does not test again
    # whether the outputs are a tuple.
    if state.type_check and traits.is_check_remembered and types not in traits.passed_types:
        traits.passed_types = (types, *traits.passed_types[: RECENT_SIGNATURES - 1])
    return outputs


def _run_with_attributes(
    self: FunctionNode, in_data: Arrays, types: list[Any], state: ThreadState
) -> Arrays:
    """Does the work of :func:`_run`; the signature has dtypes and shapes only so far."""
    types = _signature_of(self, types, state)
    if types in self._traits.passed_types and state.is_common and not state.hooks:
        return self.forward(in_data)
    return _run(self, in_data, types, state)


def _not_a_tuple(self: FunctionNode, outputs: object) -> TypeError:
    return TypeError(f"forward output must be a tuple ({self.label})\nActual: {type(outputs)}")


def _forward_observed(self: FunctionNode, in_data: Arrays, state: ThreadState) -> Arrays:
    """Runs ``forward`` with hooks and debug checks around it."""
    hooks = self._all_hooks(state)
    for hook in hooks:
        hook.forward_preprocess(self, in_data)
    outputs = self.forward(in_data)
    if state.debug:
        remember_checksums(self, in_data, outputs)
    if not isinstance(outputs, tuple):
        raise _not_a_tuple(self, outputs)
    for hook in hooks:
        hook.forward_postprocess(self, in_data)
    if state.debug:
        for y in outputs:
            if has_nan(y):
                raise RuntimeError(f"NaN is detected on forward computation of {self.label}")
    return outputs


def _prepare_inputs(
    self: FunctionNode, inputs: Sequence[VariableLike], in_data: Arrays, state: ThreadState
) -> tuple[Arrays, Variables | None]:
    """Prepares inputs that are not all NumPy arrays.

    Returns:
        tuple: The arrays for ``forward``, and None. The second element is the tuple of outputs if
        the function was applied in another way, because inputs have a memory layout or are on a
        device that was not current.
    """
    if CLASSES:
        variables = apply_batched(self, inputs, in_data)
        if variables is not None:
            return in_data, variables
    if LAYOUTS.are_in_use:
        layouts = layouts_of(inputs)
        if any(layouts):
            return in_data, apply_with_layouts(self, inputs, layouts)
    in_data = convert_inputs(self, in_data, state)
    device = self._device
    if device is None or is_current(device):
        return in_data, None
    with device:
        return in_data, apply(self, inputs)
