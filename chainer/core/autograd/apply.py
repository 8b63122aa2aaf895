"""Application of a function node: inputs are gathered and checked, outputs enter the graph.

:func:`apply` is what an eager framework costs per operation, besides the array work. Where it does
by hand what a method could do, the comment says what that saves; ``python -m benchmarks
tanh_loop`` measures it.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these functions.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import traceback
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import (
    Backend,
    find_backend,
    get_device_from_array,
    not_an_array_message,
)
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.array_checks import has_nan, is_current
from chainer.core.autograd.gradient_arrays import ONE_DEVICE
from chainer.core.autograd.laid_out import LAYOUTS, apply_with_layouts, layouts_of
from chainer.core.autograd.node_traits import NodeTraits
from chainer.core.autograd.retained_checksums import remember_checksums
from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.config.configuration import ThreadState, threads
from chainer.core.utils import type_check

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Arrays, Indexes, VariableLike, Variables

_ndarray = numpy.ndarray
# As Any: to the checker what is an instance of numpy.generic is "partially unknown".
_Scalar: Any = numpy.generic
_ref = weakref.ref
_new = object.__new__


class _AllIndexes(dict[int, "Indexes"]):
    """The indexes of all inputs, by the number of inputs; tuples are made once."""

    def __missing__(self, count: int) -> Indexes:
        self[count] = indexes = tuple(range(count))
        return indexes


#: Most functions are differentiated w.r.t. all inputs.
_ALL_INDEXES = _AllIndexes()


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
        RuntimeError: If the node was applied before, or (in debug mode) an output contains NaN.
    """
    state = threads.state
    if not state.enable_backprop:
        return _apply_without_graph(self, inputs, state)

    arrays: list[Array] = []
    node_list: list[VariableNode] = []
    types: list[Any] = []
    all_numpy = True
    constants = 0
    rank = 0
    for x in inputs:
        if not isinstance(x, Variable):
            x = Variable._from_array(_input_array(self, x), False)
        array = x._array
        if type(array) is not _ndarray:
            all_numpy = False
        node = x._graph_node or x.node
        if node._rank > rank:
            rank = node._rank
        constants += not x._requires_grad
        arrays.append(array)
        node_list.append(node)
        types.append(node._type)
    in_data = tuple(arrays)
    nodes = tuple(node_list)

    if not all_numpy:
        in_data, variables = _prepare_inputs(self, inputs, in_data, state)
        if variables is not None:
            return variables
    outputs = _run(self, in_data, types, state)

    if self.inputs is not None:
        _check_reusable(self)
    self.inputs = nodes
    count = len(nodes)
    self._targets = _targets_of(nodes) if constants else _ALL_INDEXES[count]
    for i in self._retained_inputs:
        nodes[i].data = in_data[i]
    if state.lazy_grad_sum:
        self.lazy_grad_sum = True
    if len(outputs) != 1 or outputs[0] is None:
        return _make_outputs(self, outputs, all_numpy, rank + 1)

    y = outputs[0]
    # An array of the class of the inputs is one that variables hold; others are checked.
    if type(y) is not _ndarray if all_numpy else type(y) is not type(in_data[0]):
        (y,) = outputs = _check_outputs(self, outputs)
    # What Variable() and VariableNode() do, slot by slot, for the one output that nearly all
    # functions have: that saves the calls of two initializers.
    variable = _new(Variable)
    variable._array = y
    variable._gradient = None
    variable._grad_var = None
    variable._requires_grad = requires_grad = constants < count
    node = variable._graph_node = _new(VariableNode)
    node._variable = _ref(variable)
    node._creator_node = self
    node._rank = rank + 1
    node._requires_grad = requires_grad
    node._check_scheduled = False
    node._grad_was_set = False
    node.data = None
    node.name = None
    signature = (y.dtype, y.shape)
    # Most functions keep the shape: then the node shares the signature of the first input, and the
    # garbage collector has two objects less to visit.
    node._type = types[0] if count and signature == types[0] else signature
    self._output = _ref(node)
    if self._retained_outputs:
        node.data = y
        self._retained_output_arrays = outputs
    return (variable,)


def apply_checking_layouts(self: FunctionNode, inputs: Sequence[VariableLike]) -> Variables:
    """Is :func:`apply` for functions that define ``check_layout_forward``.

    Args:
        inputs: Tuple of input variables.
    """
    return apply_with_layouts(self, inputs, layouts_of(inputs))


def _targets_of(nodes: tuple[VariableNode, ...]) -> Indexes:
    """Returns the indexes of the inputs that require gradients."""
    return tuple([i for i, node in enumerate(nodes) if node._requires_grad])


def _types_of(in_data: Arrays) -> list[Any]:
    """Returns dtype and shape of each array."""
    return [(None, None) if x is None else (x.dtype, x.shape) for x in in_data]


def _check_reusable(self: FunctionNode) -> None:
    """Raises if a function that is applied again has outputs of the last time that are in use."""
    if any([reference() is not None for reference in self.outputs or ()]):
        raise RuntimeError(
            f"cannot apply a function node twice: {self.label} ({type(self).__name__}) "
            "already is a node of a graph; make a new one for each application"
        )
    self._output = None
    self._several_outputs = ()


def _make_outputs(self: FunctionNode, outputs: Arrays, all_numpy: bool, rank: int) -> Variables:
    """Makes the variables of several outputs, and puts their nodes into the graph."""
    if not all_numpy or any([type(y) is not _ndarray for y in outputs]):
        outputs = _check_outputs(self, outputs)
    if self._traits.is_elementwise and len({y.shape for y in outputs}) > 1:
        raise RuntimeError(
            "An elementwise function returned outputs with different shapes.\n"
            f"Function: {self.label}\n"
            f"Input shapes: {', '.join([str(x.shape) for x in self.input_nodes])}\n"
            f"Output shapes: {', '.join([str(y.shape) for y in outputs])}"
        )
    variables: list[Variable] = []
    references: list[weakref.ref[VariableNode]] = []
    for y in outputs:
        variable = Variable._from_array(y, bool(self._targets))
        node = variable.node
        node._creator_node = self
        node._rank = rank
        node._check_scheduled = True
        variables.append(variable)
        references.append(_ref(node))
    self._output = None
    self._several_outputs = tuple(references)
    if self._retained_outputs:
        for i in self._retained_outputs:
            variables[i].node.data = outputs[i]
        self._retained_output_arrays = tuple([outputs[i] for i in self._retained_outputs])
    return tuple(variables)


def _apply_without_graph(
    self: FunctionNode, inputs: Sequence[VariableLike], state: ThreadState
) -> Variables:
    """Computes the outputs; nothing is recorded."""
    arrays: list[Array] = []
    all_numpy = True
    requires_grad = False
    for x in inputs:
        if isinstance(x, Variable):
            array = x._array
            if x._requires_grad:
                requires_grad = True
        else:
            array = _input_array(self, x)
        if type(array) is not _ndarray:
            all_numpy = False
        arrays.append(array)
    in_data = tuple(arrays)
    if not all_numpy:
        in_data, variables = _prepare_inputs(self, inputs, in_data, state)
        if variables is not None:
            return variables
    outputs = _run(self, in_data, _types_of(in_data), state)
    if len(outputs) == 1 and in_data and type(outputs[0]) is type(in_data[0]):
        return (Variable._from_array(outputs[0], requires_grad),)
    if not all_numpy or any([type(y) is not _ndarray for y in outputs]):
        outputs = _check_outputs(self, outputs)
    return tuple([Variable._from_array(y, requires_grad) for y in outputs])


def _run(self: FunctionNode, in_data: Arrays, types: list[Any], state: ThreadState) -> Arrays:
    """Checks the types of the inputs and runs ``forward``, with hooks and debug checks if any.

    Args:
        self: The function.
        in_data: The input arrays.
        types: Dtype and shape of each input.
        state: State of the thread.

    Returns:
        tuple: What ``forward`` returned.
    """
    traits = self._traits
    if state.debug:
        self.stack = traceback.extract_stack()
    if traits.checks_types and state.type_check:
        names = traits.signature_attributes
        if names is None:
            _check_types(self, in_data)
        else:
            # A check that depends on nothing but dtypes, shapes and these attributes has to pass
            # once per signature: it takes longer than a small operation.
            if names:
                types += [getattr(self, name) for name in names]
            signature = tuple(types)
            if signature not in traits.checked_signatures:
                _check_types(self, in_data)
                traits.remember_checked(signature)
    elif state.type_check and not traits.checks_types and _has_own_check(self):
        _check_types(self, in_data)
    if state.hooks or traits.has_hooks or state.debug:
        return _forward_observed(self, in_data, state)
    try:
        outputs = self.forward(in_data)
    except Exception as error:
        if any([array is None for array in in_data]):
            _refuse_uninitialized(self, in_data, error)
        raise
    if not isinstance(outputs, tuple):
        raise _not_a_tuple(self, outputs)
    return outputs


def _not_a_tuple(self: FunctionNode, outputs: object) -> TypeError:
    return TypeError(f"forward output must be a tuple ({self.label})\nActual: {type(outputs)}")


def _has_own_check(self: FunctionNode) -> bool:
    """Returns whether ``check_type_forward`` was set on the instance of a class without one."""
    return getattr(self.check_type_forward, "__func__", None) is not NodeTraits.no_type_check


def _refuse_uninitialized(
    self: FunctionNode, in_data: Arrays, cause: Exception | None = None
) -> None:
    """Raises if an input has no array, which some functions of users allow."""
    for i, array in enumerate(in_data):
        if array is None:
            raise RuntimeError(
                f"input {i} of {self.label} is an uninitialized variable; "
                "give it a shape with initialize() first"
            ) from cause


def _check_types(self: FunctionNode, in_data: Arrays) -> None:
    """Raises InvalidType unless the arrays pass ``check_type_forward``.

    The check runs on plain values first: that is quicker, and checks may branch on them
    (``if in_types[0].ndim == 3``). If it fails it runs again on expressions, which know the text
    of the message.
    """
    _refuse_uninitialized(self, in_data)
    try:
        with type_check.light_mode():
            light_types: Any = type_check.get_light_types(in_data)
            self.check_type_forward(light_types)
    except (type_check.InvalidType, IndexError):
        # IndexError: a shape has fewer axes than the check reads. An expression reads them later.
        _explain_types(self, in_data)


def _explain_types(self: FunctionNode, in_data: Arrays) -> None:
    """Raises InvalidType with the expression that does not hold for the arrays.

    It passes if the expressions hold: they know that bfloat16, whose ``kind`` is not ``'f'``, is a
    floating-point type.
    """
    message = f"\nInvalid operation is performed in: {self.label} (Forward)\n"
    try:
        in_types = type_check.get_types(in_data, "in_types")
        names = self.argument_names
        if names is not None and len(names) >= len(in_types):
            type_check.argname(in_types, names[: len(in_types)])
        self.check_type_forward(in_types)
    except type_check.InvalidType as error:
        # Some functions raise a subclass that belongs to a second class of errors.
        refusal = type(error)(error.expect, error.actual, msg=message)
        refusal.add_note(_dtype_remedy(self, in_data) or _description(self, in_data, error))
        raise refusal from None
    except Exception as error:
        # A check that works on plain values only cannot say what it expected.
        actual = ", ".join([f"{array.dtype}{array.shape}" for array in in_data])
        expected = f"inputs that pass {self._impl_name}.check_type_forward"
        raise type_check.InvalidType(expected, actual, msg=message) from error


def _dtype_remedy(self: FunctionNode, in_data: Arrays) -> str:
    """Returns how floating-point inputs get one dtype; an empty text if they have one.

    It is a note of the error, below the documented text, which stays as it is.
    """
    names = self.argument_names or ()
    floats = [
        (names[i] if i < len(names) else f"input {i}", array.dtype)
        for i, array in enumerate(in_data)
        if kind_of(array.dtype) == "f"
    ]
    dtypes = {dtype for _, dtype in floats}
    if len(dtypes) < 2:
        return ""
    # Data are converted rather than parameters, which come later.
    first, wanted = floats[0][0], floats[1][1] if floats[1][1] != floats[0][1] else floats[-1][1]
    listed = ", ".join([f"{name} is {dtype}" for name, dtype in floats])
    return f"{listed}: convert by {first}.astype(np.{wanted}), or the model to {floats[0][1]}"


def _description(self: FunctionNode, in_data: Arrays, error: type_check.InvalidType) -> str:
    """Returns shapes and dtypes of all inputs by name, and a remedy where there is a common one."""
    names = self.argument_names or ()
    named = {(names[i] if i < len(names) else f"input {i}"): a for i, a in enumerate(in_data)}
    text = ", ".join([f"{name} is {a.dtype} of shape {a.shape}" for name, a in named.items()])
    if str(error.expect).endswith("dtype.kind == f") and in_data[0].dtype.kind in "biu":
        # Most often images of bytes.
        text += f": convert {next(iter(named))} by astype(np.float32)"
    labels = named.get("t")
    if labels is not None and len(in_data) == 2:
        scores = in_data[0]
        if labels.dtype.kind == "f" and labels.ndim == scores.ndim - 1:
            text += ": if t has class numbers, convert by t.astype(np.int32)"
        elif labels.dtype.kind in "iu" and labels.shape == scores.shape and labels.ndim > 1:
            text += ": if t is one-hot, convert by t.argmax(axis=1)"
    return text


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


def _input_array(self: FunctionNode, obj: Any) -> Array:
    """Returns an input that is not a variable as variables hold arrays."""
    if obj is None:
        return None
    backend = find_backend(obj.__class__)
    if backend is None:
        raise TypeError(
            f"incompatible array types are mixed in the forward input ({self.label}).\n"
            f"{not_an_array_message(obj)}"
        )
    return backend.wrap(obj)


def _prepare_inputs(
    self: FunctionNode, inputs: Sequence[VariableLike], in_data: Arrays, state: ThreadState
) -> tuple[Arrays, Variables | None]:
    """Prepares inputs that are not all NumPy arrays.

    Returns:
        tuple: The arrays for ``forward``, and None. If the function had to be applied in another
        way, because inputs have a memory layout or are on a device that was not the current one,
        the second element are its outputs.
    """
    if LAYOUTS.are_in_use:
        layouts = layouts_of(inputs)
        if any(layouts):
            return in_data, apply_with_layouts(self, inputs, layouts)
    in_data = _convert_inputs(self, in_data, state)
    device = self._device
    if device is None or is_current(device):
        return in_data, None
    with device:
        return in_data, apply(self, inputs)


def _convert_inputs(self: FunctionNode, in_data: Arrays, state: ThreadState) -> Arrays:
    """Finds backend and device of inputs that are not all NumPy arrays.

    Arrays of a backend that are not what its ``xp`` makes (those of iDeep) reach functions whose
    kernels understand them, unless the configuration forbids these kernels; other functions get
    arrays that ``xp`` makes.
    """
    first = in_data[0]
    kind: Any = first.__class__
    backend = find_backend(kind)
    if backend is None or not all([array.__class__ is kind for array in in_data]):
        backend = _common_backend(self, in_data)
        if backend is None:  # no input has an array
            return in_data
        if backend.converts_inputs:
            in_data = tuple([_own_array(backend, x) for x in in_data])
    xp = backend.xp
    if xp is not numpy:
        self.xp = xp
    if backend.multi_device:
        self._device = backend.device_of(first)
        # The gradients, too, have to be computed with the device made current.
        self._has_direct_rule = False
        _check_one_device(self, backend, in_data)
    if backend.makes_xp_arrays:
        return in_data
    if not self.accepts_opaque_arrays or state.policy.forbids(backend.name):
        self._converted = backend
        return tuple([None if array is None else backend.to_xp(array) for array in in_data])
    return in_data


def _check_one_device(self: FunctionNode, backend: Backend, in_data: Arrays) -> None:
    """Raises if the inputs are arrays of several devices of a backend."""
    device = self._device
    for array in in_data[1:]:
        other = device if array is None else backend.device_of(array)
        if other is not device and other != device:
            names = ", ".join([str(get_device_from_array(array)) for array in in_data])
            raise TypeError(f"inputs of {self.label} are on several devices: {names}\n{ONE_DEVICE}")


def _own_array(backend: Backend, array: Array) -> Array:
    """Returns an input of a backend that converts NumPy arrays to its own."""
    return backend.from_host(array, backend.device()) if type(array) is _ndarray else array


def _common_backend(self: FunctionNode, in_data: Arrays) -> Backend | None:
    """Returns the backend that serves inputs of several classes; None if none has an array."""
    backend: Backend | None = None
    for array in in_data:
        if array is None:  # an uninitialized variable: functions may know what to do with it
            continue
        found = find_backend(array.__class__)
        if found is None:
            raise TypeError(not_an_array_message(array))
        if backend is None:
            backend = found
        elif backend.family != found.family:
            raise TypeError(_mixed_message(self, "input", in_data))
        elif backend.name == "numpy":
            backend = found
    return backend


def _check_outputs(self: FunctionNode, outputs: Arrays) -> Arrays:
    """Checks outputs that are not all NumPy arrays; returns them as variables hold them."""
    checked: list[Array] = []
    families: set[str] = set()
    for y in outputs:
        if y is None:  # the variable of this output is uninitialized
            checked.append(None)
            continue
        if isinstance(y, _Scalar):  # NumPy reduces to scalars
            y = numpy.asarray(y)
        backend = find_backend(y.__class__)
        if backend is None:
            raise TypeError(
                f"forward output must be a tuple of arrays.\nFunction: {self.label}\n"
                f"Actual output types: {tuple(map(type, outputs))}"
            )
        families.add(backend.family)
        checked.append(backend.wrap(y))
    if len(families) > 1:
        raise TypeError(_mixed_message(self, "output", outputs))
    return tuple(checked)


def _mixed_message(self: FunctionNode, where: str, arrays: Iterable[Array]) -> str:
    types = ", ".join(str(array.__class__) for array in arrays)
    return (
        f"incompatible array types are mixed in the forward {where} ({self.label}).\n"
        f"Actual: {types}\n{ONE_DEVICE}"
    )
