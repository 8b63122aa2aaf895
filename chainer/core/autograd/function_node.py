"""Function nodes: applications of differentiable functions in the computational graph."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# One file, though a long one: it has the methods of one public class, which share its attributes.

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd import apply as application
from chainer.core.autograd import batching, forward_mode
from chainer.core.autograd.computed_attributes import ClassName, Outputs, Rank
from chainer.core.autograd.fallback import Fallback
from chainer.core.autograd.function_hook import FunctionHook, install_hook, remove_hook
from chainer.core.autograd.gradient_errors import gradients_of_targets
from chainer.core.autograd.node_traits import NodeTraits
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.misuse import warn_once

if TYPE_CHECKING:
    import traceback

    from chainer.core.arrays.backend import Backend
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.accumulate import GradientSum
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.config.configuration import ThreadState
    from chainer.core.typing import (
        Array,
        ArrayGrads,
        ArrayModule,
        Arrays,
        Grads,
        Indexes,
        Shape,
        Variables,
    )
    from chainer.core.utils.type_check import TypeInfoTuple


_ref = weakref.ref
_from_node = Variable._from_node

#: Index of the output of a function that has one output.
_ONLY = (0,)
#: Indexes of the inputs of a function of two.
_PAIR = (0, 1)


class FunctionNode:
    """Function node of the computational graph.

    A function node is one application of a differentiable function to variables. :meth:`apply`
    computes the outputs, adds edges from the node to the nodes of its inputs, and from the nodes of
    the outputs to itself.

    Implementations define :meth:`forward` (or :meth:`forward_cpu` and :meth:`forward_gpu`) and
    :meth:`backward`. If backward needs inputs or outputs, forward declares them with
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
        type_check_key: Names of attributes. They and the dtypes and shapes of the inputs must
            determine the result of :meth:`check_type_forward`. The check then runs once per
            signature, so that calls take less time. With None (the default) it runs at every call.
            A class whose check reads no attributes may declare ``()``.
        accepts_opaque_arrays: Whether :meth:`forward` takes arrays whose memory layout NumPy code
            cannot read. True is for functions that pass their arrays to kernels and do nothing
            else with them; other functions get arrays that ``xp`` makes.
        is_elementwise: Whether each element of the outputs depends on the elements of the inputs at
            the same place only. The outputs then must have equal shapes, and the inputs the same
            memory layout, which the outputs get.
        is_pointwise: Whether each element of the outputs depends on the elements of the inputs at
            the same place only, wherever inputs and outputs have one shape. Unlike
            ``is_elementwise`` it says nothing about memory layouts.
        is_rule_pure: Whether the rule of the class computes gradients and does nothing else. Then a
            backward pass leaves it out where no code can read the gradients, because the variables
            that they lead to are gone. A subclass in another package that replaces ``backward`` or
            ``backward_arrays`` has to declare it again.
        is_linear: Whether the outputs are a linear function of all inputs together, such as a sum.
            Then :meth:`tangents` is :meth:`forward` again. Declare it if ``forward`` may be called
            again, on a copy of the node.
        is_multilinear: Whether the outputs are linear in each input while the other inputs are
            fixed, such as a product. If all inputs are retained, :meth:`tangents` is the product
            rule.
        batch_inputs: Indexes of the inputs whose first axis is a batch of samples that the function
            treats independently of each other, if the first axis of each output is that batch.
            :func:`chainer.vmap` then makes one longer batch.
        keeps_layout: Whether the outputs have the memory layout of the first input.
        argument_names: Names of the inputs in the messages of :meth:`check_type_forward`. If there
            are fewer names than inputs, or None, the messages say ``in_types[0]`` and so on.
        chainerx_device: None: arrays of ChainerX are not supported.

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
    outputs: tuple[weakref.ref[VariableNode], ...] | None = cast("Any", Outputs())
    rank: int = cast("int", Rank())
    stack: traceback.StackSummary | None = None
    lazy_grad_sum: bool = False
    xp: ArrayModule = numpy
    # Declared as a string and not as a property, so that a subclass may write ``label = "exp"`` as
    # well as a property.
    label: str = cast("str", ClassName())

    chainerx_device: None = None

    type_check_key: ClassVar[tuple[str, ...] | None] = None
    accepts_opaque_arrays: ClassVar[bool] = False
    is_elementwise: ClassVar[bool] = False
    is_pointwise: ClassVar[bool] = False
    is_rule_pure: ClassVar[bool] = False
    is_linear: ClassVar[bool] = False
    is_multilinear: ClassVar[bool] = False
    batch_inputs: ClassVar[Indexes] = ()
    keeps_layout: ClassVar[bool] = False
    argument_names: ClassVar[tuple[str, ...] | None] = None

    #: Memory layouts of the inputs and outputs where one of them is not the standard one.
    _input_layouts: tuple[str | None, ...] | None = None
    _output_layouts: tuple[str | None, ...] | None = None

    _retained_inputs: Indexes = ()
    _retained_outputs: Indexes = ()
    _retained_output_arrays: Arrays | None = None
    #: Indexes of the inputs that require gradients.
    _targets: Indexes = ()
    #: Reference to the variable of the only output; None where there are several.
    _output_variable: weakref.ref[Variable] | None = None
    #: Reference to the node of the only output, if it was asked for.
    _output: weakref.ref[VariableNode] | None = None
    #: References to the nodes of several outputs.
    _several_outputs: tuple[weakref.ref[VariableNode], ...] = ()
    _hooks: dict[str, FunctionHook] | None = None
    #: Device of the inputs where it has to be made current; None for host memory.
    _device: Device | None = None
    #: Backend of the inputs if they were converted to arrays that ``xp`` makes; else None.
    _converted: Backend | None = None

    # Set once per class by __init_subclass__, and again on instances that differ from their class.
    _traits: NodeTraits = NodeTraits()
    #: Whether backpropagation may call :meth:`backward_arrays` without further preparation: the
    #: class defines it, no hook was added to this function, and no device has to be made current.
    _has_direct_rule: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._traits = NodeTraits.of_class(cls, FunctionNode)
        cls._has_direct_rule = cls._traits.has_array_rule
        # Chosen once per class. So apply() need not test it for all other functions, nearly all of
        # which do not check layouts.
        if cls._traits.checks_layouts and cls.apply is FunctionNode.apply:
            cls.apply = application.apply_checking_layouts

    # -- identity ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<function node {type(self).__name__}>"

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
        # Rules of reductions and changes of shape need it for each gradient: without further calls.
        nodes = self.inputs or self.input_nodes
        return nodes[index]._type[1]

    @property
    def input_layouts(self) -> tuple[str | None, ...]:
        """Memory layouts of the inputs (see :mod:`chainer.memory_layouts`).

        Functions that define :meth:`check_layout_forward` may read them there and later. For other
        functions they are available after :meth:`apply`.
        """
        layouts = self._input_layouts
        assert layouts is not None or self.inputs is not None, "the function was not applied yet"
        return (None,) * len(self.input_nodes) if layouts is None else layouts

    @property
    def output_layouts(self) -> tuple[str | None, ...]:
        """Memory layouts of the outputs.

        A function that defines :meth:`check_layout_forward` may set them there or in
        :meth:`forward`.
        """
        layouts = self._output_layouts
        assert layouts is not None or self.inputs is not None, "the function was not applied yet"
        return (None,) * self._output_count if layouts is None else layouts

    @output_layouts.setter
    def output_layouts(self, layouts: tuple[str | None, ...]) -> None:
        assert isinstance(layouts, tuple), f"output_layouts must be a tuple, got {layouts!r}"
        self._output_layouts = layouts

    @property
    def _output_count(self) -> int:
        return len(self._several_outputs) or int(self._output_variable is not None)

    # Tests and tools of programs written for earlier releases read these three names.

    @property
    def _input_indexes_to_retain(self) -> Indexes:
        return self._retained_inputs

    @property
    def _output_indexes_to_retain(self) -> Indexes:
        return self._retained_outputs

    @property
    def _local_function_hooks(self) -> dict[str, FunctionHook] | None:
        return self._hooks

    @property
    def local_function_hooks(self) -> dict[str, FunctionHook]:
        """Ordered dictionary of the hooks registered to this function only."""
        if self._hooks is None:
            self._hooks = {}
            self._traits = self._traits.with_hooks()
            self._has_direct_rule = False
        return self._hooks

    def _all_hooks(self, state: ThreadState) -> list[FunctionHook]:
        """Returns the hooks of the thread and the hooks of this function."""
        if not self._hooks:
            return list(state.hooks.values())
        # A hook of this function replaces one of the thread that has the same name.
        return list({**state.hooks, **self._hooks}.values())

    @property
    def output_data(self) -> tuple[Array | None, ...]:
        """Tuple of the retained output arrays; None for outputs that are not retained.

        Raises:
            RuntimeError: If no output was retained.
        """
        if self._retained_output_arrays is None or self.inputs is None:
            raise RuntimeError("retained output data is gone")
        data: list[Array | None] = [None] * self._output_count
        for index, array in zip(self._retained_outputs, self._retained_output_arrays, strict=True):
            data[index] = array
        return tuple(data)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises an error: a function node is applied with :meth:`apply`."""
        if hasattr(self.__class__, "forward") and self.inputs is None:
            name = type(self).__name__
            # The first line is the text of release 7, which programs may match.
            raise RuntimeError(
                f"A function class object ({name}) which is derived from chainer.FunctionNode has "
                "been called as if it were a callable. Use apply() method instead.\n"
                f"A function node is applied to a tuple of inputs: {name}().apply((x, ...))"
            )
        raise RuntimeError("a function node cannot be called")

    # -- forward ----------------------------------------------------------------------------------

    apply = application.apply
    _apply = application.apply

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Checks types of input data before forward propagation.

        Args:
            in_types (TypeInfoTuple): Type information of the inputs.
        """

    def forward(self, inputs: Arrays) -> Arrays:
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

    def forward_cpu(self, inputs: Arrays) -> Arrays:
        """Computes the output arrays from the input NumPy arrays.

        Args:
            inputs: Tuple of NumPy arrays.

        Returns:
            tuple: Output arrays.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_cpu()"
        )

    def forward_gpu(self, inputs: Arrays) -> Arrays:
        """Computes the output arrays from the input CuPy arrays.

        Args:
            inputs: Tuple of CuPy arrays.

        Returns:
            tuple: Output arrays.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_gpu()"
        )

    def forward_chainerx(self, inputs: Arrays) -> Any:
        """Computes the output arrays from arrays of ChainerX; never called.

        Args:
            inputs: Tuple of arrays.

        Returns:
            ``chainer.Fallback``: there is no implementation.
        """
        return Fallback

    def check_layout_forward(self, inputs: Variables) -> None:
        """Checks the memory layouts of the inputs before forward propagation.

        Args:
            inputs: Tuple of input variables.
        """

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

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        """Computes gradients w.r.t. specified inputs given output gradients.

        If it consists of differentiable functions, gradients have gradients, too. The default
        returns None for each input: the function is not differentiable.

        Args:
            target_input_indexes (tuple of int): Indices of the inputs whose gradients are required;
                at least one.
            grad_outputs (tuple of Variables): Gradients w.r.t. the outputs; None where there is
                none.

        Returns:
            tuple: Gradients w.r.t. the specified inputs, or w.r.t. all inputs (those not specified
                are discarded). None where the function is not differentiable.
        """
        kind = type(self)
        # Functions of this package without a gradient, such as argmax, are documented as such.
        if kind.__module__.partition(".")[0] != "chainer":
            warn_once(
                "no backward",
                f"{kind.__module__}.{kind.__qualname__}",
                f"{kind.__name__} defines neither backward() nor backward_arrays(): no gradient "
                "goes through it",
            )
        return (None,) * len(target_input_indexes)

    def backward_arrays(
        self, target_input_indexes: Indexes, grad_outputs: ArrayGrads
    ) -> ArrayGrads:
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
        target_input_indexes: Indexes,
        grad_outputs: Grads,
        grad_inputs: Grads,
    ) -> Grads:
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
        gradients = gradients_of_targets(
            self, target_input_indexes, self.backward(target_input_indexes, grad_outputs)
        )
        return tuple(
            [
                g if gx is None else gx if g is None else gx + g
                for gx, g in zip(gradients, grad_inputs, strict=True)
            ]
        )

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        """Computes how the outputs move if inputs move: the rule of :func:`chainer.jvp`.

        A tangent is the derivative along a direction, so it has the shape and dtype of its
        Variable. The rule is a method of the applied node, as :meth:`backward` is: it reads
        :meth:`get_retained_inputs` and :meth:`get_retained_outputs`, and consists of differentiable
        functions.

        The default is right for all functions whose gradient can be differentiated. It is fast for
        classes that declare :attr:`is_elementwise`, :attr:`is_pointwise`, :attr:`is_linear` or
        :attr:`is_multilinear`.
        For others it differentiates :meth:`backward`, which takes longer than a rule of its own.

        Args:
            moving (tuple of int): Indexes of the inputs that have a tangent; at least one.
            tangents (tuple of Variable): One tangent for each index.

        Returns:
            tuple of Variable: One tangent for each output; None where an output does not move.

        Raises:
            RuntimeError: If the default differentiates a gradient that cannot be differentiated.

        Example:
            >>> class Square(chainer.FunctionNode):
            ...     def forward(self, inputs):
            ...         self.retain_inputs((0,))
            ...         return inputs[0] ** 2,
            ...     def backward(self, target_input_indexes, grad_outputs):
            ...         x, = self.get_retained_inputs()
            ...         return 2 * x * grad_outputs[0],
            ...     def tangents(self, moving, tangents):
            ...         x, = self.get_retained_inputs()
            ...         return 2 * x * tangents[0],
            >>> x, t = np.array([3.]), np.array([10.])
            >>> chainer.jvp(lambda x: Square().apply((x,))[0], (x,), (t,))
            (variable([9.]), variable([60.]))
        """
        return forward_mode.tangents_of(self, moving, tangents)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies the function to many samples at once: the rule of :func:`chainer.vmap`.

        The node was made for one sample, and has not been applied. The rule applies it, or other
        differentiable functions, to inputs that have an axis of samples in front. The default does
        so for classes that declare :attr:`is_elementwise`, :attr:`is_pointwise` or
        :attr:`batch_inputs`. For others it returns None, and samples are computed in a loop.

        Args:
            inputs (tuple of Variable): The inputs.
            are_batched (tuple of bool): For each input, whether its first axis is the samples. The
                other inputs are the same for each sample.
            size (int): Number of samples.

        Returns:
            tuple of Variable: The outputs, with the axis of samples in front of each. None to
            compute one sample after the other.

        Example:
            >>> class Double(chainer.FunctionNode):
            ...     def forward(self, inputs):
            ...         return 2 * inputs[0],
            ...     def batched(self, inputs, are_batched, size):
            ...         return self.apply(inputs)
            >>> chainer.vmap(lambda x: Double().apply((x,))[0])(np.array([[1.], [2.]]))
            variable([[2.],
                      [4.]])
        """
        return batching.batched_by_default(self, inputs, are_batched, size)

    def gradient_sum(
        self, index: int, make: Callable[[Array], GradientSum | None]
    ) -> tuple[GradientSum, Array] | None:
        """Returns an object to which a rule on arrays may give a gradient instead of returning it.

        A weight that is used many times gets many gradients. Their kernel may add them up without
        temporary arrays, and several of them in one pass. The rule gives the object what it needs,
        and returns the array of the sum as its gradient.

        Args:
            index: Index of the input.
            make: Makes the object for the array in which the gradients are added up, once for an
                input and a backward pass. It may return None.

        Returns:
            tuple or None: The object and the array. None where the gradient has to be an array of
            its own: for the first gradient of an input, for the second one too unless the first one
            was told to :meth:`made_gradient`, for inputs that are not leaves, and where gradients
            are observed or recorded.
        """
        state = threads.state
        sums = state.gradient_sums
        if sums is None:
            return None
        inputs = self.inputs
        node = (self.input_nodes if inputs is None else inputs)[index]
        if state.recorder is not None:
            # Recorded gradients are added one by one. The step as written rounds at other places.
            if sums.may_open_sum(node):
                state.recorder.is_exact = False
            return None
        # As opened(), without the call: most steps add to sums that are open.
        opened = sums._open.get(node)
        if opened is not None:
            found = opened.get(getattr(make, "__func__", make))
            if found is not None:
                return found, sums.sums[node]
        return sums.open_sum(node, make)

    def made_gradient(self, index: int, gradient: Array) -> Array:
        """Returns a gradient that a rule on arrays has made, to which a kernel may add others.

        Args:
            index: Index of the input.
            gradient: A new array, which the rule returns as the gradient of this input and of no
                other one. Nothing else refers to it.
        """
        sums = threads.state.gradient_sums
        if sums is not None:
            sums.made_for(self.input_nodes[index], gradient)
        return gradient

    @property
    def retained_input_arrays(self) -> Arrays:
        """The arrays of the retained inputs, in the order given to :meth:`retain_inputs`."""
        if not self._retained_inputs:
            return ()
        inputs = self.inputs or self.input_nodes
        if self._converted is None and self._retained_inputs == _PAIR:
            # Without a loop: products retain both operands.
            return (inputs[0].data, inputs[1].data)
        arrays: Arrays = tuple([inputs[i].data for i in self._retained_inputs])
        if self._converted is not None:  # other functions may retain the same input as it is
            return tuple([self._converted.to_xp(array) for array in arrays])
        return arrays

    @property
    def retained_output_arrays(self) -> Arrays:
        """The arrays of the retained outputs, in the order given to :meth:`retain_outputs`."""
        return self._retained_output_arrays or ()

    def get_retained_inputs(self) -> Variables:
        """Returns a tuple of the retained input variables; None for an array that is gone."""
        if not self._retained_inputs:
            return ()
        nodes = self.inputs or self.input_nodes
        gone: Any = None
        variables: list[Variable] = []
        for i in self._retained_inputs:
            # As get_variable(), with fewer calls: rules on Variables begin here.
            node = nodes[i]
            variable = node._variable()
            if variable is None:
                variable = _from_node(node)
                node._variable = _ref(variable)
            variables.append(gone if variable._array is None else variable)
        return tuple(variables)

    def _retained_input(self, index: int) -> Variable:
        """Returns the Variable of one retained input; None if its array is gone.

        For rules on Variables that read few of the retained inputs: to make a Variable for each
        takes as long as a small operation.

        Args:
            index: Index of the input, which must be retained.
        """
        node = (self.inputs or self.input_nodes)[index]
        variable = node._variable()
        if variable is None:
            variable = _from_node(node)
            node._variable = _ref(variable)
        gone: Any = None
        return gone if variable._array is None else variable

    def get_retained_outputs(self) -> Variables:
        """Returns a tuple of the retained output variables.

        Where an output node is gone already, a fresh node takes its place in the graph.
        """
        if self._output is not None and self._retained_outputs == _ONLY:
            # A walk over the graph has come from the only output. Most often it is still alive.
            node = self._output()
            if node is not None:
                variable = node._variable()
                if variable is None:
                    variable = _from_node(node)
                    node._variable = _ref(variable)
                return (variable,)
        if not self._retained_outputs or self.outputs is None:
            return ()
        variables: list[Variable] = []
        outputs = list(self.outputs)
        for index, array in zip(self._retained_outputs, self.retained_output_arrays, strict=True):
            node = outputs[index]()
            if node is None:
                variable = Variable._from_array(array, bool(self._targets))
                node = variable.node
                node.creator_node = self
                node.data = array
                outputs[index] = weakref.ref(node)
            else:
                variable = node.get_variable()
            variables.append(variable)
        if self._several_outputs:
            self._several_outputs = tuple(outputs)
        else:
            self._output = outputs[0]
        return tuple(variables)

    # -- graph and hooks --------------------------------------------------------------------------

    def unchain(self) -> None:
        """Purges in/out nodes and this function node itself from the graph."""
        for reference in self.outputs or ():
            node = reference()
            if node is not None:
                node.unchain()
        self.inputs = None
        self._forget_outputs()

    def _know_output(self, node: VariableNode) -> None:
        """Remembers the node of the only output. A walk over the graph came from it."""
        if self._output is None and self._output_variable is not None:
            self._output = weakref.ref(node)

    def _forget_outputs(self) -> None:
        self._output_variable = self._output = None
        self._several_outputs = ()

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
