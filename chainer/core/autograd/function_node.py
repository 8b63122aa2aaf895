"""Function nodes: applications of differentiable functions in the computational graph."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import traceback
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy

from chainer.core.arrays.backend import Backend, find_backend, not_an_array_message
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.function_hook import FunctionHook, install_hook, remove_hook
from chainer.core.autograd.gradient_arrays import ONE_DEVICE
from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.config.configuration import ThreadState, threads
from chainer.core.typing import Shape
from chainer.core.utils import type_check

if TYPE_CHECKING:
    from chainer.core.arrays.backend import Device

_ndarray = numpy.ndarray
# As Any: to the checker what is an instance of numpy.generic is "partially unknown".
_Scalar: Any = numpy.generic
_ref = weakref.ref
_new = object.__new__
_SIGNATURE_LIMIT = 1024
#: Target indexes of a function whose inputs all require gradients, by the number of inputs.
_ALL = tuple(tuple(range(n)) for n in range(8))
_RULES = ("backward", "backward_accumulate", "backward_arrays")


class _ClassName:
    """Class attribute whose value is the name of the class it is read from."""

    def __get__(self, instance: Any, owner: type) -> str:
        return owner.__name__


class FunctionNode:
    """Function node of the computational graph.

    A function node is one application of a differentiable function to variables. :meth:`apply`
    computes the outputs, adds edges from the node to the nodes of its inputs, and from the nodes of
    the outputs to itself.

    Implementations define :meth:`forward` (or :meth:`forward_cpu` and :meth:`forward_gpu`) and
    :meth:`backward`. What backward needs of the inputs and outputs is declared in forward with
    :meth:`retain_inputs` and :meth:`retain_outputs`; nothing else is kept alive. An instance is
    applied once.

    Attributes:
        inputs: Tuple of the :class:`~chainer.variable.VariableNode` of each input.
        outputs: Tuple of weak references to the node of each output.
        rank: Topological ordinal in the graph.
        stack: Stack trace of the application; kept in debug mode only.
        label: Short text that represents the function; the name of its class unless overridden.
        lazy_grad_sum: Whether the gradients that reach the inputs of this function are summed at
            once instead of one by one.
        xp: Array namespace of the inputs, from the moment :meth:`apply` was entered.
        type_check_key: Names of the attributes which, together with dtypes and shapes of the
            inputs, decide about :meth:`check_type_forward`. With None (the default) the check runs
            at every call; otherwise once per signature.

    Example:
        >>> class Square(chainer.FunctionNode):
        ...     def forward(self, inputs):
        ...         self.retain_inputs((0,))
        ...         return inputs[0] ** 2,
        ...     def backward(self, target_input_indexes, grad_outputs):
        ...         x, = self.get_retained_inputs()
        ...         return 2 * x * grad_outputs[0],
        >>> x = chainer.Variable(np.array([3.], np.float32))
        >>> y, = Square().apply((x,))
        >>> y.backward()
        >>> x.grad
        array([6.], dtype=float32)
    """

    inputs: tuple[VariableNode, ...] | None = None
    outputs: tuple[weakref.ref[VariableNode], ...] | None = None
    rank: int = 0
    stack: traceback.StackSummary | None = None
    lazy_grad_sum: bool = False
    xp: Any = numpy
    # Declared as a string and not as a property, so that a subclass may write ``label = "exp"`` as
    # well as a property.
    label: str = cast("str", _ClassName())

    type_check_key: ClassVar[tuple[str, ...] | None] = None

    _retained_inputs: tuple[int, ...] = ()
    _retained_outputs: tuple[int, ...] = ()
    _retained_output_arrays: tuple[Any, ...] | None = None
    _hooks: dict[str, FunctionHook] | None = None
    _targets: tuple[int, ...] = ()
    #: Device of the inputs where it has to be made current; None for host memory.
    _device: Device | None = None
    #: Backend of inputs that forward got as plain arrays because it asked for these; else None.
    _converted: Backend | None = None
    #: Whether somebody gave an output a gradient, which backprop then has to clear.
    _output_has_grad: bool = False

    # Set once per class by __init_subclass__.
    _checks: ClassVar[bool] = False
    _checked: ClassVar[set[Any]] = set()
    _gradients_on_arrays: bool = False
    _accumulates: ClassVar[bool] = False
    #: Whether :meth:`forward` takes arrays whose memory layout NumPy code cannot read. True is for
    #: functions that pass their arrays to kernels and do nothing else with them; all other
    #: functions get arrays that ``xp`` makes.
    accepts_opaque_arrays: ClassVar[bool] = False
    #: What apply reads of these, in one look-up: _checks, type_check_key, _checked,
    #: accepts_opaque_arrays.
    _traits: ClassVar[tuple[bool, tuple[str, ...] | None, set[Any], bool]] = (
        False,
        None,
        set(),
        False,
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._checked = set()
        cls._checks = cls.check_type_forward is not FunctionNode.check_type_forward
        owner = next(base for base in cls.__mro__ if any(rule in vars(base) for rule in _RULES))
        cls._gradients_on_arrays = owner is not FunctionNode and "backward_arrays" in vars(owner)
        cls._accumulates = cls.backward_accumulate is not FunctionNode.backward_accumulate
        cls._traits = (cls._checks, cls.type_check_key, cls._checked, cls.accepts_opaque_arrays)

    # -- identity ---------------------------------------------------------------------------------

    @property
    def _impl_name(self) -> str:
        return type(self).__name__

    @property
    def input_nodes(self) -> tuple[VariableNode, ...]:
        """The nodes of the inputs, as :attr:`inputs`, but never None.

        Raises:
            RuntimeError: If the function has not been applied yet, or was unchained.
        """
        nodes = self.inputs
        if nodes is None:
            raise RuntimeError(
                f"{self.label} ({type(self).__name__}) has no inputs: it has not been applied, or "
                "was unchained"
            )
        return nodes

    def input_shape(self, index: int) -> Shape:
        """Returns the shape of an input.

        Args:
            index (int): Index of the input.

        Returns:
            tuple of int: Its shape, which is known even if the array was not retained.

        Raises:
            RuntimeError: If the function has not been applied yet, or was unchained.
        """
        return self.input_nodes[index].shape

    @property
    def local_function_hooks(self) -> dict[str, FunctionHook]:
        """Ordered dictionary of the hooks registered to this function only."""
        if self._hooks is None:
            self._hooks = {}
        return self._hooks

    @property
    def output_data(self) -> tuple[Any, ...]:
        """Tuple of the retained output arrays; None for outputs that are not retained.

        Raises:
            RuntimeError: If no output was retained.
        """
        if self._retained_output_arrays is None or self.outputs is None:
            raise RuntimeError("retained output data is gone")
        data: list[Any] = [None] * len(self.outputs)
        for index, array in zip(self._retained_outputs, self._retained_output_arrays, strict=True):
            data[index] = array
        return tuple(data)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuses: a function node is applied with :meth:`apply`."""
        if hasattr(self.__class__, "forward") and self.outputs is None:
            raise RuntimeError(
                f"a function node is applied with its apply() method: "
                f"{type(self).__name__}().apply((x, ...))"
            )
        raise RuntimeError("a function node cannot be called")

    # -- forward ----------------------------------------------------------------------------------

    def apply(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Computes output variables and grows the computational graph.

        Args:
            inputs: Tuple of input variables. An element may be an array, which is then wrapped in a
                variable that requires no gradient.

        Returns:
            tuple: The output variables.

        Raises:
            InvalidType: If the inputs do not pass :meth:`check_type_forward`.
            TypeError: If an input is no array, or arrays of different backends are mixed.
            RuntimeError: If the node was applied before, or (in debug mode) an output contains NaN.
        """
        # This method is what an eager framework costs per operation. The cases of one and two
        # inputs and of one output are written out; `benchmarks tanh` measures it.
        state = threads.state
        if not state.enable_backprop:
            return self._apply_without_graph(inputs, state)
        count = len(inputs)
        if count == 1:
            x = inputs[0]
            if not isinstance(x, Variable):
                x = self._wrap(x)
            array = x._array
            in_data: tuple[Any, ...] = (array,)
            plain = array.__class__ is _ndarray
            node = x._node or x.node
            nodes: tuple[VariableNode, ...] = (node,)
            rank = node._rank
            targets = _ALL[1] if x._requires_grad else ()
            signature: Any = node._type
        elif count == 2:
            x, x1 = inputs
            if not isinstance(x, Variable):
                x = self._wrap(x)
            if not isinstance(x1, Variable):
                x1 = self._wrap(x1)
            array = x._array
            array1 = x1._array
            in_data = (array, array1)
            plain = array.__class__ is _ndarray and array1.__class__ is _ndarray
            node = x._node or x.node
            node1 = x1._node or x1.node
            nodes = (node, node1)
            rank = node._rank
            if node1._rank > rank:
                rank = node1._rank
            if x._requires_grad:
                targets = _ALL[2] if x1._requires_grad else (0,)
            else:
                targets = (1,) if x1._requires_grad else ()
            signature = (node._type, node1._type)
        else:
            variables = [x if isinstance(x, Variable) else self._wrap(x) for x in inputs]
            nodes = tuple([x._node or x.node for x in variables])
            in_data = tuple([x._array for x in variables])
            plain = all([array.__class__ is _ndarray for array in in_data])
            rank = max([node._rank for node in nodes], default=0)
            targets = tuple([i for i, x in enumerate(variables) if x._requires_grad])
            signature = tuple([node._type for node in nodes])

        checks, names, checked, accepts_opaque = self._traits
        if not plain:
            in_data = self._enter(in_data, accepts_opaque, state)
            if self._device is not None and not is_current(self._device):
                with self._device:
                    return self.apply(inputs)
        if checks and state.type_check:
            if names:
                signature = (signature, *[getattr(self, name) for name in names])
            if names is None or signature not in checked:
                self._check_types(in_data, signature)

        if state.hooks or self._hooks or state.debug:
            outputs = self._forward_observed(in_data, state)
        else:
            outputs = self.forward(in_data)

        if outputs.__class__ is not tuple:
            raise TypeError(
                f"forward output must be a tuple ({self.label})\nActual: {type(outputs)}"
            )
        if self.inputs is not None:
            raise RuntimeError(
                f"cannot apply a function node twice: {self.label} ({type(self).__name__}) "
                "already is a node of a graph; make a new one for each application"
            )
        self.inputs = nodes
        self.rank = rank
        self._targets = targets
        if self._retained_inputs:
            for i in self._retained_inputs:
                nodes[i].data = in_data[i]
        if state.debug:
            self.stack = traceback.extract_stack()

        if len(outputs) == 1:
            y = outputs[0]
            # An array of the class that came in is one that Variables hold.
            if y.__class__ is not _ndarray if plain else y.__class__ is not in_data[0].__class__:
                (y,) = outputs = self._leave(in_data, outputs)
            # By hand what Variable() and VariableNode() do: two calls less.
            variable = _new(Variable)
            variable._array = y
            variable._grad = None
            variable._grad_var = None
            variable._requires_grad = requires_grad = bool(targets)
            node = variable._node = _new(VariableNode)
            node._variable = _ref(variable)
            node._creator_node = self
            node._rank = rank + 1
            node._requires_grad = requires_grad
            node.data = None
            node.name = None
            node._type = (y.dtype, y.shape)
            self.outputs = (_ref(node),)
            if self._retained_outputs:
                node.data = y
                self._retained_output_arrays = (y,)
            return (variable,)
        return self._make_outputs(in_data, outputs, plain)

    def _make_outputs(
        self, in_data: tuple[Any, ...], outputs: tuple[Any, ...], plain: bool
    ) -> tuple[Variable, ...]:
        """Makes the variables of several outputs."""
        if not plain or any([y.__class__ is not _ndarray for y in outputs]):
            outputs = self._leave(in_data, outputs)
        variables: list[Variable] = []
        references: list[weakref.ref[VariableNode]] = []
        for y in outputs:
            variable = Variable._of_array(y, bool(self._targets))
            node = variable.node
            node._creator_node = self
            node._rank = self.rank + 1
            variables.append(variable)
            references.append(_ref(node))
        self.outputs = tuple(references)
        if self._retained_outputs:
            for i in self._retained_outputs:
                variables[i]._node.data = outputs[i]  # type: ignore[union-attr]
            self._retained_output_arrays = tuple([outputs[i] for i in self._retained_outputs])
        return tuple(variables)

    def _apply_without_graph(
        self, inputs: Sequence[Any], state: ThreadState
    ) -> tuple[Variable, ...]:
        """Computes the outputs; nothing is recorded."""
        checks, names, checked, accepts_opaque = self._traits
        signature: Any
        if len(inputs) == 1:
            x = inputs[0]
            if isinstance(x, Variable):
                requires_grad, array = x._requires_grad, x._array
            else:
                requires_grad, array = False, self._adopt(x)
            in_data: tuple[Any, ...] = (array,)
            plain = array.__class__ is _ndarray
        else:
            requires_grad = any([isinstance(x, Variable) and x._requires_grad for x in inputs])
            in_data = tuple(
                [x._array if isinstance(x, Variable) else self._adopt(x) for x in inputs]
            )
            plain = all([array.__class__ is _ndarray for array in in_data])
        if not plain:
            in_data = self._enter(in_data, accepts_opaque, state)
            if self._device is not None and not is_current(self._device):
                with self._device:
                    return self._apply_without_graph(inputs, state)
        if checks and state.type_check:
            if len(in_data) == 1:
                array = in_data[0]
                signature = (array.dtype, array.shape)
            else:
                signature = tuple([(array.dtype, array.shape) for array in in_data])
            if names:
                signature = (signature, *[getattr(self, name) for name in names])
            if names is None or signature not in checked:
                self._check_types(in_data, signature)
        if state.hooks or self._hooks or state.debug:
            outputs = self._forward_observed(in_data, state)
        else:
            outputs = self.forward(in_data)
        if outputs.__class__ is not tuple:
            raise TypeError(
                f"forward output must be a tuple ({self.label})\nActual: {type(outputs)}"
            )
        if len(outputs) == 1 and in_data and outputs[0].__class__ is in_data[0].__class__:
            return (Variable._of_array(outputs[0], requires_grad),)
        if not plain or any([y.__class__ is not _ndarray for y in outputs]):
            outputs = self._leave(in_data, outputs)
        return tuple([Variable._of_array(y, requires_grad) for y in outputs])

    def _wrap(self, obj: Any) -> Variable:
        return Variable._of_array(self._adopt(obj), False)

    def _adopt(self, obj: Any) -> Any:
        backend = find_backend(obj.__class__)
        if backend is None:
            raise TypeError(
                f"incompatible array types are mixed in the forward input ({self.label}).\n"
                f"{not_an_array_message(obj)}"
            )
        return backend.wrap(obj)

    def _enter(
        self, in_data: tuple[Any, ...], accepts_opaque: bool, state: ThreadState
    ) -> tuple[Any, ...]:
        """Finds the backend of inputs that are not all plain NumPy arrays.

        Arrays of a backend that are not what its ``xp`` makes (those of iDeep) reach functions
        whose kernels understand them, unless the configuration forbids these kernels.
        """
        first = in_data[0]
        kind: Any = first.__class__
        backend = find_backend(kind)
        if backend is None or (
            len(in_data) > 1 and not all([array.__class__ is kind for array in in_data])
        ):
            backend = self._common_backend(in_data)
        xp = backend.xp
        if xp is not numpy:
            self.xp = xp
        if backend.multi_device:
            device = self._device = backend.device_of(first)
            self._gradients_on_arrays = False  # backprop has to look at _device first
            for array in in_data[1:]:
                other = backend.device_of(array)
                if other is not device and other != device:
                    names = ", ".join([backend.device_of(array).name for array in in_data])
                    raise TypeError(
                        f"inputs of {self.label} are on several devices: {names}\n{ONE_DEVICE}"
                    )
        if backend.makes_xp_arrays:
            return in_data
        if not accepts_opaque or state.policy.forbids(backend.name):
            self._converted = backend
            return tuple([backend.to_xp(array) for array in in_data])
        return in_data

    def _common_backend(self, in_data: Sequence[Any]) -> Backend:
        """Finds the backend of inputs of several classes."""
        backend: Backend | None = None
        for i, array in enumerate(in_data):
            found = find_backend(array.__class__)
            if found is None:
                if array is None:
                    raise RuntimeError(
                        f"input {i} of {self.label} is an uninitialized variable; "
                        "give it a shape with initialize() first"
                    )
                raise TypeError(not_an_array_message(array))
            if backend is None:
                backend = found
            elif backend.family != found.family:
                raise TypeError(self._mixed_message("input", in_data))
            elif backend.name == "numpy":
                backend = found
        assert backend is not None
        return backend

    def _leave(self, in_data: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Checks outputs that are not all plain NumPy arrays."""
        checked: list[Any] = []
        families: set[str] = set()
        for y in outputs:
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
            raise TypeError(self._mixed_message("output", outputs))
        return tuple(checked)

    def _mixed_message(self, where: str, arrays: Iterable[Any]) -> str:
        types = ", ".join(str(array.__class__) for array in arrays)
        return (
            f"incompatible array types are mixed in the forward {where} ({self.label}).\n"
            f"Actual: {types}\n{ONE_DEVICE}"
        )

    def _check_types(self, in_data: tuple[Any, ...], signature: Any) -> None:
        in_types = type_check.get_types(in_data, "in_types")
        try:
            self.check_type_forward(in_types)
        except type_check.InvalidType as error:
            message = f"\nInvalid operation is performed in: {self.label} (Forward)\n"
            raise type_check.InvalidType(error.expect, error.actual, msg=message) from None
        if self.type_check_key is not None:
            if len(self._checked) >= _SIGNATURE_LIMIT:
                self._checked.clear()
            self._checked.add(signature)

    def _forward_observed(self, in_data: tuple[Any, ...], state: ThreadState) -> Any:
        """Forward with hooks and debug checks around it."""
        hooks = self._all_hooks(state)
        for hook in hooks:
            hook.forward_preprocess(self, in_data)
        outputs = self.forward(in_data)
        for hook in hooks:
            hook.forward_postprocess(self, in_data)
        if state.debug and isinstance(outputs, tuple):
            for y in outputs:
                if has_nan(y):
                    raise RuntimeError(f"NaN is detected on forward computation of {self.label}")
        return outputs

    def _all_hooks(self, state: ThreadState) -> list[FunctionHook]:
        hooks = list(state.hooks.values())
        if self._hooks:
            hooks.extend(self._hooks.values())
        return hooks

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks types of input data before forward propagation.

        Args:
            in_types (TypeInfoTuple): Type information of the inputs.
        """

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Computes the output arrays from the input arrays.

        Delegates to :meth:`forward_gpu` for arrays of an accelerator and to :meth:`forward_cpu` for
        others.

        Args:
            inputs: Tuple of input arrays.

        Returns:
            tuple: Output arrays; a tuple even if there is one only.
        """
        for array in inputs:
            backend = find_backend(array.__class__)
            if backend is not None and backend.is_accelerator:
                return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Computes the output arrays from the input NumPy arrays.

        Args:
            inputs: Tuple of NumPy arrays.

        Returns:
            tuple: Output arrays.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_cpu()"
        )

    def forward_gpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Computes the output arrays from the input CuPy arrays.

        Args:
            inputs: Tuple of CuPy arrays.

        Returns:
            tuple: Output arrays.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_gpu()"
        )

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Lets specified input variable nodes keep data arrays; to be called in forward.

        Args:
            indexes (iterable of int): Indexes of the inputs that backward will read with
                :meth:`get_retained_inputs`.
        """
        self._retained_inputs = tuple(indexes)

    def retain_outputs(self, indexes: Iterable[int]) -> None:
        """Lets specified output variable nodes keep data arrays; to be called in forward.

        Args:
            indexes (iterable of int): Indexes of the outputs that backward will read with
                :meth:`get_retained_outputs`.
        """
        self._retained_outputs = tuple(indexes)

    # -- backward ---------------------------------------------------------------------------------

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """Computes gradients w.r.t. specified inputs given output gradients.

        Made of differentiable functions, it supports gradients of gradients. The default returns
        None for each input: the function is not differentiable.

        Args:
            target_input_indexes (tuple of int): Indices of the inputs whose gradients are required;
                at least one.
            grad_outputs (tuple of Variables): Gradients w.r.t. the outputs; None where there is
                none.

        Returns:
            tuple: Gradients w.r.t. the specified inputs, or w.r.t. all inputs (those not specified
                are discarded). None where the function is not differentiable.
        """
        return (None,) * len(target_input_indexes)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """The gradients of :meth:`backward` computed on raw arrays.

        Optional, for speed: where a class defines it next to ``backward``, it is used whenever no
        graph of the gradients is wanted. It may return a gradient array it was given but must not
        modify it.

        Args:
            target_input_indexes (tuple of int): Indices of the inputs whose gradients are required.
            grad_outputs (tuple of arrays): Gradients w.r.t. the outputs; None where there is none.

        Returns:
            tuple: One array or None for each target index.
        """
        raise NotImplementedError

    def backward_accumulate(
        self,
        target_input_indexes: tuple[int, ...],
        grad_outputs: tuple[Variable | None, ...],
        grad_inputs: tuple[Variable | None, ...],
    ) -> tuple[Variable | None, ...]:
        """Computes gradients w.r.t. specified inputs and accumulates them.

        Override it instead of :meth:`backward` where computing and adding can be fused.

        Args:
            target_input_indexes (tuple of int): Indices of the inputs whose gradients are required.
            grad_outputs (tuple of Variable): Gradients w.r.t. the outputs; None where there is
                none.
            grad_inputs (tuple of Variable): Gradients w.r.t. the specified inputs that other paths
                have computed; None where there is none yet.

        Returns:
            tuple: Gradients w.r.t. the specified inputs, as many as ``target_input_indexes``.
        """
        gradients = self._complete(
            target_input_indexes, self.backward(target_input_indexes, grad_outputs)
        )
        return tuple(
            [
                g if gx is None else gx if g is None else gx + g
                for gx, g in zip(gradients, grad_inputs, strict=True)
            ]
        )

    def _complete(self, targets: tuple[int, ...], gradients: Any) -> tuple[Any, ...]:
        """Reduces what backward returned to one gradient per target."""
        if not isinstance(gradients, tuple):
            raise TypeError(
                f"backward of {self.label} ({self._impl_name}) must return a tuple, "
                f"got {type(gradients)}"
            )
        count = len(self.inputs or ())
        given = cast("tuple[Any, ...]", gradients)
        if len(given) == len(targets):
            return given
        if len(given) == count:
            return tuple([given[i] for i in targets])
        expected = f"{len(targets)}" if len(targets) == count else f"{len(targets)} or {count}"
        raise ValueError(
            f"number of gradients returned by {self._impl_name} ({self.label}) is incorrect: "
            f"{len(given)} != expected {expected}"
        )

    @property
    def retained_input_arrays(self) -> tuple[Any, ...]:
        """The arrays of the retained inputs, in the order given to :meth:`retain_inputs`."""
        if not self._retained_inputs:
            return ()
        inputs = self.input_nodes
        arrays: tuple[Any, ...] = tuple([inputs[i].data for i in self._retained_inputs])
        if self._converted is not None:  # other functions may retain the same input as it is
            return tuple([self._converted.to_xp(array) for array in arrays])
        return arrays

    @property
    def retained_output_arrays(self) -> tuple[Any, ...]:
        """The arrays of the retained outputs, in the order given to :meth:`retain_outputs`."""
        return self._retained_output_arrays or ()

    def get_retained_inputs(self) -> tuple[Variable, ...]:
        """Returns a tuple of the retained input variables."""
        if not self._retained_inputs:
            return ()
        inputs = self.input_nodes
        return tuple([inputs[i].get_variable() for i in self._retained_inputs])

    def get_retained_outputs(self) -> tuple[Variable, ...]:
        """Returns a tuple of the retained output variables.

        Where an output node is gone already, a fresh node takes its place in the graph.
        """
        if not self._retained_outputs or self.outputs is None:
            return ()
        variables: list[Variable] = []
        outputs = list(self.outputs)
        for index, array in zip(self._retained_outputs, self.retained_output_arrays, strict=True):
            node = outputs[index]()
            if node is None:
                variable = Variable._of_array(array, bool(self._targets))
                node = variable.node
                node.creator_node = self
                node.data = array
                outputs[index] = _ref(node)
            else:
                variable = node.get_variable()
            variables.append(variable)
        self.outputs = tuple(outputs)
        return tuple(variables)

    # -- graph and hooks --------------------------------------------------------------------------

    def unchain(self) -> None:
        """Purges in/out nodes and this function node itself from the graph."""
        for reference in self.outputs or ():
            node = reference()
            if node is not None:
                node.unchain()
        self.inputs = None
        self.outputs = None

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Registers a function hook to this function only.

        Args:
            hook (FunctionHook): Hook to be registered.
            name (str): Name of the hook, unique among the hooks of this function; by default the
                name of the hook.

        Raises:
            KeyError: If a hook of this name is registered already.
            TypeError: If ``hook`` is not a :class:`~chainer.FunctionHook`.
        """
        install_hook(self.local_function_hooks, hook, name, self)

    def delete_hook(self, name: str) -> None:
        """Unregisters the function hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: If there is no hook of this name.
        """
        remove_hook(self.local_function_hooks, name, self)


def has_nan(array: Any) -> bool:
    """Tells whether a floating-point array contains NaN."""
    if array is None or getattr(array, "dtype", None) is None or kind_of(array.dtype) not in "fc":
        return False
    backend = find_backend(array.__class__)
    if backend is None:
        return bool(numpy.isnan(array).any())
    return bool(backend.xp.isnan(backend.to_xp(array)).any())


def is_current(device: Device) -> bool:
    """Tells whether a device is the one of its backend in use."""
    current = device.backend.device()
    return current is device or current == device
