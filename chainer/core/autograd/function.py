"""Old-style functions, and the modes of backpropagation (public module ``chainer.function``)."""

# The types in annotations are checked again at run time, because users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.gradient_errors import (
    GradientTypeError,
    check_input_gradient,
    describe,
)
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import threads, using_config

if TYPE_CHECKING:
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.utils.type_check import TypeInfoTuple

__all__ = [
    "Function",
    "FunctionAdapter",
    "FunctionHook",
    "force_backprop_mode",
    "no_backprop_mode",
]


def no_backprop_mode() -> AbstractContextManager[None]:
    """Makes a context manager which disables back-propagation.

    Variables computed inside hold no reference to the function that created them, which saves
    memory; ``backward()`` from them has no effect.

    Example:
        >>> x = chainer.Variable(np.array([1,], np.float32))
        >>> with chainer.no_backprop_mode():
        ...     y = x + 1
        >>> y.backward()
        >>> x.grad is None
        True
    """
    return using_config("enable_backprop", False)


def force_backprop_mode() -> AbstractContextManager[None]:
    """Makes a context manager which enables back-propagation inside :func:`no_backprop_mode`.

    Example:
        >>> x = chainer.Variable(np.array([1,], np.float32))
        >>> with chainer.no_backprop_mode():
        ...     with chainer.force_backprop_mode():
        ...         y = x + 1
        >>> y.backward()
        >>> x.grad
        array([1.], dtype=float32)
    """
    return using_config("enable_backprop", True)


class FunctionAdapter(FunctionNode):
    """Adapter class to wrap :class:`Function` with :class:`FunctionNode`.

    Before the adapter is applied, the function holds a reference to it. Afterwards the adapter
    holds a reference to the function, and the function has only a weak reference to the adapter.

    Args:
        function (Function): The function object to wrap.

    Example:
        >>> class Twice(chainer.Function):
        ...     def forward(self, inputs):
        ...         return (2 * inputs[0],)
        ...     def backward(self, inputs, grad_outputs):
        ...         return (2 * grad_outputs[0],)
        >>> y = Twice()(chainer.Variable(np.ones(2, np.float32)))
        >>> type(y.creator_node).__name__, type(y.creator).__name__
        ('FunctionAdapter', 'Twice')
    """

    def __init__(self, function: Function) -> None:
        self._function: Function | None = None
        self._weak_function: weakref.ref[Function] | None = weakref.ref(function)

    @property
    def function(self) -> Function | None:
        """The :class:`Function` object that this adapter is wrapping."""
        if self._function is not None:
            return self._function
        return None if self._weak_function is None else self._weak_function()

    @property
    def _wrapped(self) -> Function:
        function = self.function
        if function is None:
            raise RuntimeError("the function of this adapter has been released")
        return function

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Short text that represents the function."""
        return self._wrapped.label

    @property
    def _impl_name(self) -> str:
        return type(self._wrapped).__name__

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Checks types of input data; delegates to the function."""
        self._wrapped.check_type_forward(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Computes the outputs; delegates to the function, whose inputs are retained by default."""
        self.retain_inputs(range(len(inputs)))
        return self._wrapped.forward(inputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """Computes gradients by the function. They cannot be differentiated in turn."""
        gxs = self.backward_arrays(
            target_input_indexes, tuple([None if gy is None else gy.array for gy in grad_outputs])
        )
        if not threads.state.enable_backprop:
            return tuple([None if gx is None else as_variable(gx) for gx in gxs])
        return self._refuse_second_derivatives(gxs, grad_outputs)

    def _refuse_second_derivatives(
        self, gxs: tuple[Any, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """Returns gradients as outputs of a node that raises when it is differentiated.

        Without the node, the gradients would look like constants in the graph of gradients.
        """
        found = tuple([gx for gx in gxs if gx is not None])
        if not found:
            return gxs
        sources = [x.get_variable() for x in self.inputs or () if x.data is not None]
        sources += [gy for gy in grad_outputs if gy is not None]
        results = iter(FunctionAdapterGradient(self._wrapped, found).apply(sources))
        return tuple([None if gx is None else next(results) for gx in gxs])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Computes gradients on arrays; delegates to the function."""
        retained = set(self._retained_inputs)
        in_data = tuple(
            [x.data if i in retained else None for i, x in enumerate(self.inputs or ())]
        )
        gxs = self._wrapped.backward(in_data, grad_outputs)
        if not isinstance(gxs, (tuple, list)):
            raise GradientTypeError(
                f"backward of {self.label} ({self._impl_name}) must return a tuple, got {type(gxs)}"
            )
        # Gradients beyond the last input are ignored, as in earlier releases.
        if len(gxs) < len(in_data):
            raise ValueError(
                "number of gradients returned from backward is incorrect: "
                f"{len(gxs)} != expected {len(in_data)}\n{describe(self)}"
            )
        for i in target_input_indexes:
            gx, x = gxs[i], self.input_nodes[i]
            if gx is not None and (
                find_backend(gx.__class__) is None or (gx.dtype, gx.shape) != (x.dtype, x.shape)
            ):
                check_input_gradient(self, i, gx, any_dtype=False)
        return tuple([gxs[i] for i in target_input_indexes])

    def _own(self, function: Function) -> None:
        self._function = function
        self._weak_function = None


class FunctionAdapterGradient(FunctionNode):
    """The gradients of a :class:`Function` in a graph of gradients.

    Args:
        function: The function.
        gradients: The gradients it computed.
    """

    def __init__(self, function: Function, gradients: tuple[Any, ...]) -> None:
        self._function_type = type(function).__name__
        self._gradients: tuple[Any, ...] | None = gradients

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the gradients."""
        gradients, self._gradients = self._gradients, None
        return gradients or ()

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """Raises RuntimeError."""
        raise RuntimeError(
            f'cannot twice-differentiate an old style Function "{self._function_type}"; '
            "write it as a FunctionNode"
        )


class Function:
    """Old-style interface of a differentiable function.

    Subclasses define :meth:`forward` and :meth:`backward` on arrays (or their CPU and GPU
    variants). All input arrays are retained unless :meth:`retain_inputs` says otherwise. The
    gradients cannot be differentiated in turn; :class:`FunctionNode` is the standard way of
    defining functions.

    Example:
        >>> class MulAdd(chainer.Function):
        ...     def forward(self, inputs):
        ...         x, y, z = inputs
        ...         return x * y + z,
        ...     def backward(self, inputs, grad_outputs):
        ...         x, y, z = inputs
        ...         gw, = grad_outputs
        ...         return y * gw, x * gw, gw
        >>> x, y, z = (chainer.Variable(np.array([i], np.float32)) for i in (2, 3, 4))
        >>> w = MulAdd()(x, y, z)
        >>> w.backward()
        >>> x.grad, y.grad, z.grad
        (array([3.], dtype=float32), array([2.], dtype=float32), array([1.], dtype=float32))
    """

    _node: FunctionAdapter | None = None
    _weak_node: weakref.ref[FunctionAdapter] | None = None
    _owned = False

    def __call__(self, *inputs: Any) -> Any:
        """Applies forward propagation with chaining backward references.

        Args:
            inputs: Input variables or arrays; arrays are wrapped with :class:`~chainer.Variable`.

        Returns:
            One :class:`~chainer.Variable` or a tuple of them.
        """
        node = self.node
        if node.outputs is not None:
            node = self._renew()
        # The adapter owns the function from here on: the graph keeps the function alive.
        node._own(self)  # pyright: ignore[reportPrivateUsage]
        self._weak_node = weakref.ref(node)
        self._node = None
        self._owned = True
        outputs = node.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def _renew(self) -> FunctionAdapter:
        self._owned = False
        self._weak_node = None
        self._node = FunctionAdapter(self)
        return self._node

    @property
    def node(self) -> FunctionAdapter:
        """The :class:`FunctionAdapter` that wraps this function, made at first use."""
        node = self._weak_node() if self._weak_node is not None else self._node
        return self._renew() if node is None else node

    @property
    def inputs(self) -> tuple[VariableNode, ...] | None:
        """The input nodes of the function."""
        return self.node.inputs

    @property
    def outputs(self) -> tuple[Any, ...] | None:
        """Weak references to the output nodes of the function."""
        return self.node.outputs

    @property
    def rank(self) -> int:
        """Topological ordinal of the corresponding function node."""
        return self.node.rank

    @property
    def stack(self) -> Any:
        """Stack trace of the application, in debug mode."""
        return self.node.stack

    @property
    def output_data(self) -> tuple[Any, ...]:
        """A tuple of the retained output arrays; None for outputs that are not retained."""
        return self.node.output_data

    @property
    def label(self) -> str:
        """Short text that represents the function; its class name unless overridden."""
        return type(self).__name__

    @property
    def local_function_hooks(self) -> dict[str, FunctionHook]:
        """Ordered dictionary of the hooks registered to this function only."""
        return self.node.local_function_hooks

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Registers a function hook; see :meth:`FunctionNode.add_hook`.

        Args:
            hook (FunctionHook): Hook to be registered.
            name (str): Name of the hook; by default its own.
        """
        self.node.add_hook(hook, name)

    def delete_hook(self, name: str) -> None:
        """Unregisters the specified function hook.

        Args:
            name (str): Name of the hook.
        """
        self.node.delete_hook(name)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Checks types of input data before forward propagation.

        Args:
            in_types (TypeInfoTuple): Type information of the inputs.
        """

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Applies forward propagation to input arrays; see :meth:`chainer.FunctionNode.forward`."""
        return self.forward_gpu(inputs) if _on_accelerator(inputs) else self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Applies forward propagation to NumPy arrays."""
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_cpu()"
        )

    def forward_gpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Applies forward propagation to CuPy arrays."""
        raise NotImplementedError(
            f"{type(self).__name__} defines neither forward() nor forward_gpu()"
        )

    def backward(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Applies backprop to output gradient arrays.

        Delegates to :meth:`backward_gpu` for arrays of an accelerator and to :meth:`backward_cpu`
        for others.

        Args:
            inputs: Tuple of input arrays; None for inputs that were not retained.
            grad_outputs: Tuple of output gradient arrays; None where there is none.

        Returns:
            tuple: Input gradient arrays; None for inputs the function is not differentiable on.
        """
        if _on_accelerator((*inputs, *grad_outputs)):
            return self.backward_gpu(inputs, grad_outputs)
        return self.backward_cpu(inputs, grad_outputs)

    def backward_cpu(
        self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Applies backprop to output gradient arrays on CPU; not differentiable by default.

        Args:
            inputs: Tuple of NumPy arrays.
            grad_outputs: Tuple of output gradient arrays.

        Returns:
            tuple: Input gradient arrays.
        """
        return (None,) * len(inputs)

    def backward_gpu(
        self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Applies backprop to output gradient arrays on GPU; not differentiable by default.

        Args:
            inputs: Tuple of CuPy arrays.
            grad_outputs: Tuple of output gradient arrays.

        Returns:
            tuple: Input gradient arrays.
        """
        return (None,) * len(inputs)

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Lets specified input variable nodes keep data arrays; to be called in forward.

        Without a call all inputs are kept.

        Args:
            indexes (iterable of int): Indexes of the inputs that backward needs.
        """
        self.node.retain_inputs(indexes)

    def retain_outputs(self, indexes: Iterable[int], retain_after_backward: bool = False) -> None:
        """Lets specified output variable nodes keep data arrays; to be called in forward.

        Args:
            indexes (iterable of int): Indexes of the outputs that backward reads from
                :attr:`output_data`.
            retain_after_backward (bool): Has no effect; True gives a DeprecationWarning.
        """
        if retain_after_backward:
            warnings.warn(
                "retain_after_backward option has no effect", DeprecationWarning, stacklevel=2
            )
        self.node.retain_outputs(indexes)

    def unchain(self) -> None:
        """Purges in/out nodes and this function itself from the graph."""
        self.node.unchain()


def _on_accelerator(arrays: Iterable[Any]) -> bool:
    for array in arrays:
        backend = find_backend(array.__class__)
        if backend is not None and backend.is_accelerator:
            return True
    return False
