"""Variables: arrays that remember how they were computed."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import (
    backend_of,
    copied,
    copyto,
    find_backend,
    get_array_module,
    get_device,
    not_an_array_message,
    wrap,
)
from chainer.core.autograd.backprop import backward
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.lazy_gradient import LazyGradient
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.autograd.variable_operators import VariableOperators

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.function import Function
    from chainer.core.autograd.function_node import FunctionNode

_new = object.__new__


class Variable(VariableOperators):
    """Array with a structure to keep track of computation.

    A variable holds an array of any backend and a :class:`~chainer.variable.VariableNode` of the
    computational graph. A variable made by the user is a root of the graph; one made by a function
    refers to its creator, and :meth:`backward` follows these references.
    :func:`chainer.no_backprop_mode` turns the recording off.

    The operators ``a[...]``, ``+``, ``-``, ``*``, ``/``, ``//``, ``**``, ``@``, unary ``-`` and
    ``abs()`` are differentiable functions; their other operand may be a variable, an array or a
    scalar, and shapes are broadcast. Comparison operators are refused, and so is the truth value.

    Args:
        data (array): Initial data array.
        name (str): Name of the variable.
        grad (array): Initial gradient array.
        requires_grad (bool): Whether ``grad`` will be set in backward calculation.

    Raises:
        TypeError: If ``data`` or ``grad`` is not an array of a known backend.

    Example:
        >>> x = chainer.Variable(np.array([5], dtype=np.float32))
        >>> y = x ** 2 - 2 * x + 1
        >>> y.backward()
        >>> x.grad
        array([8.], dtype=float32)
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_grad",
        "_grad_var",
        "_node",
        "_requires_grad",
    )

    #: Makes NumPy arrays and scalars leave binary operators to us.
    __array_priority__ = 200

    _name: str | None = None

    #: Factor the gradient is scaled by (see ``loss_scale`` of :meth:`backward`); None for one.
    loss_scale: float | None = None

    def __init__(
        self,
        data: Any = None,
        *args: Any,
        name: str | None = None,
        grad: Any = None,
        requires_grad: bool = True,
        **kwargs: Any,
    ) -> None:
        if args or kwargs:
            _refuse_arguments(args, kwargs)
        self._array = None if data is None else wrap(data)
        self._grad: Any = None
        self._grad_var: Variable | None = None
        self._node: VariableNode | None = None
        self._requires_grad = requires_grad
        if name is not None:
            self._name = name
        if grad is not None:
            self.grad = grad

    @classmethod
    def _from_array(cls, array: Any, requires_grad: bool) -> Variable:
        """Makes a variable of an array that is known to be one."""
        self = _new(Variable)
        self._array = array
        self._grad = None
        self._grad_var = None
        self._node = None
        self._requires_grad = requires_grad
        return self

    @classmethod
    def _from_node(cls, node: VariableNode) -> Variable:
        """Makes a variable for a node whose variable is gone."""
        self = cls._from_array(node.data, node.requires_grad)
        self._node = node
        if node.name is not None:
            self._name = node.name
        return self

    # -- array ------------------------------------------------------------------------------------

    @property
    def array(self) -> Any:
        """The underlying data array, or None while the variable is not initialized."""
        return self._array

    @array.setter
    def array(self, array: Any) -> None:
        if array is not None:
            array = wrap(array)
        self._array = array
        if self._node is not None:
            self._node._update(array)

    @property
    def data(self) -> Any:
        """The underlying data array (equivalent to :attr:`array`, which is preferred)."""
        return self._array

    @data.setter
    def data(self, data: Any) -> None:
        self.array = data

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self._initialized().shape

    @property
    def ndim(self) -> int:
        """Number of dimensions of the array."""
        return self._initialized().ndim

    @property
    def size(self) -> int:
        """Number of elements of the array."""
        return self._initialized().size

    @property
    def dtype(self) -> Any:
        """Data type of the array."""
        return self._initialized().dtype

    def _initialized(self) -> Any:
        if self._array is None:
            raise AttributeError(
                f"{self.summary()} is uninitialized: it has no array, hence no shape or dtype"
            )
        return self._array

    @property
    def xp(self) -> ModuleType:
        """Array module for this variable: ``numpy``, ``cupy`` or that of another backend."""
        return get_array_module(self._array)

    @property
    def device(self) -> Device:
        """Device the array lives on (the CPU while the variable is not initialized)."""
        return (
            get_device(None)
            if self._array is None
            else backend_of(self._array).device_of(self._array)
        )

    def __len__(self) -> int:
        """Returns the length of the first dimension of the data array.

        Returns:
            int: That length.
        """
        return len(self._initialized())

    # -- gradient ---------------------------------------------------------------------------------

    @property
    def grad(self) -> Any:
        """Gradient array of this variable (see :attr:`grad_var`), or None."""
        if self._grad_var is not None:
            return self._grad_var._array
        grad = self._grad
        if isinstance(grad, LazyGradient):
            grad = self._grad = grad.read(self._array)
        return grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        if grad is not None:
            grad = wrap(grad)
            self._check_gradient(grad)
        self._grad = grad
        self._grad_var = None
        self._mark_grad_set()

    @property
    def grad_var(self) -> Variable | None:
        """Gradient variable of this variable, or None."""
        if self._grad_var is None:
            grad = self.grad
            if grad is not None:
                self._grad_var = Variable._from_array(grad, True)
        return self._grad_var

    @grad_var.setter
    def grad_var(self, grad_var: Variable | None) -> None:
        if grad_var is not None:
            if not isinstance(grad_var, Variable):
                raise TypeError(f"grad_var must be a Variable or None, got {type(grad_var)}")
            self._check_gradient(grad_var._array)
        self._grad = None
        self._grad_var = grad_var
        self._mark_grad_set()

    def _mark_grad_set(self) -> None:
        """Tells backpropagation that the gradient of a function's output is to be cleared."""
        if self._node is not None:
            self._node._grad_was_set = True

    def _check_gradient(self, grad: Any) -> None:
        if self._array is not None:
            check_gradient(self._array, grad)
        elif find_backend(grad.__class__) is None:
            raise TypeError(not_an_array_message(grad))

    @property
    def requires_grad(self) -> bool:
        """Whether ``grad`` will be set in backward calculation."""
        return self._requires_grad

    def cleargrad(self) -> None:
        """Clears the gradient array."""
        self._grad = None
        self._grad_var = None

    def zerograd(self) -> None:
        """Initializes the gradient array by zeros.

        The gradient variable is unchained from the graph. Deprecated since v1.15; use
        :meth:`cleargrad`.
        """
        if self._array is None:
            return
        grad = self.grad
        with self.device:
            if grad is None:
                grad = backend_of(self._array).xp.zeros_like(self._array)
            else:
                grad.fill(0)
        self.grad = grad

    def copydata(self, var: Variable) -> None:
        """Copies the data array from given source variable, across devices if need be.

        Args:
            var (Variable): Source variable. If one of the two is uninitialized, it is initialized
                by the data array of the other one; if both are, nothing happens.
        """
        source = var._array
        if source is None:
            if self._array is not None:
                var.initialize(self.shape)  # type: ignore[attr-defined]
                source = var._array
            else:
                return
        if self._array is None:
            self.initialize(source.shape)  # type: ignore[attr-defined]
        copyto(self._array, source)

    def addgrad(self, var: Variable) -> None:
        """Accumulates the gradient array from given source variable, across devices if need be.

        An uninitialized variable is initialized with the shape of the given one first.

        Args:
            var (Variable): Source variable.
        """
        source = var.grad
        if source is None:
            return
        if self._array is None:
            self.initialize(var.shape)  # type: ignore[attr-defined]
        device = self.device
        moved = device.send(source)
        grad = self.grad
        if grad is None:
            self.grad = device.backend.copy(moved, device) if moved is source else moved
        else:
            # The sum of arrays without axes is a scalar in NumPy.
            with device:
                self.grad = device.backend.asarray(grad + moved)

    # -- moves ------------------------------------------------------------------------------------

    def to_device(self, device: Any) -> None:
        """Copies the data and gradient arrays to a device.

        Args:
            device: Anything :func:`chainer.get_device` takes.
        """
        target = get_device(device)
        grad = self.grad
        self._grad = None
        self._grad_var = None
        if self._array is not None:
            self.array = target.send(self._array)
        if grad is not None:
            self._grad = target.send(grad)

    def to_cpu(self) -> None:
        """Copies the data and gradient arrays to CPU."""
        self.to_device("@numpy")

    def to_gpu(self, device: Any = None) -> None:
        """Copies the data and gradient arrays to specified GPU.

        Args:
            device: Target device specifier; the current device if omitted.

        Raises:
            RuntimeError: If there is no GPU; the message says what is missing.
        """
        self.to_device("@cupy" if device is None else device)

    def to_intel64(self) -> None:
        """Copies the data and gradient arrays to ``ideep4py.mdarray``.

        An array not suited for it becomes ``numpy.ndarray``.

        Raises:
            RuntimeError: If iDeep is not available; the message says what is missing.
        """
        self.to_device("@ideep")

    @property
    def _loss_scale(self) -> float | None:
        # The name of ``loss_scale`` in earlier releases: hooks of programs read it, and programs
        # that fill gradients by hand set it.
        return self.loss_scale

    @_loss_scale.setter
    def _loss_scale(self, loss_scale: float | None) -> None:
        self.loss_scale = loss_scale

    # -- graph ------------------------------------------------------------------------------------

    @property
    def node(self) -> VariableNode:
        """Node of the computational graph that stands for this variable."""
        node = self._node
        if node is None:
            node = self._node = VariableNode(self, self._name)
        return node

    @property
    def name(self) -> str | None:
        """Name of the variable."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name
        if self._node is not None:
            self._node.name = name

    @property
    def creator(self) -> Function | FunctionNode | None:
        """Function that created this variable: a :class:`~chainer.Function` or a function node."""
        return None if self._node is None else self._node.creator

    @creator.setter
    def creator(self, creator: Any) -> None:
        self.node.creator = creator

    @property
    def creator_node(self) -> FunctionNode | None:
        """:class:`~chainer.FunctionNode` that created this variable.

        Setting None is equivalent to :meth:`unchain`; setting the original node again restores the
        graph.
        """
        return None if self._node is None else self._node.creator_node

    @creator_node.setter
    def creator_node(self, creator_node: Any) -> None:
        self.node.creator_node = creator_node

    def set_creator(self, gen_func: Any) -> None:
        """Notifies the variable that the given function is its creator.

        Args:
            gen_func (Function): Function that has this variable as an output.
        """
        self.node.set_creator(gen_func)

    def set_creator_node(self, fnode: Any) -> None:
        """Notifies the variable that the given node is its creator.

        Args:
            fnode (FunctionNode): Function node that has this variable as an output.
        """
        self.node.set_creator_node(fnode)

    @property
    def rank(self) -> int:
        """Topological ordinal of the variable in the graph."""
        return 0 if self._node is None else self._node.rank

    def retain_data(self) -> None:
        """Lets the corresponding variable node keep the underlying array."""
        self.node.data = self._array

    def unchain(self) -> None:
        """Deletes the reference to the creator of this variable."""
        if self._node is not None:
            self._node.unchain()

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
        with 1. A variable that no function created (or that was unchained) has nothing to propagate
        to, and nothing happens.

        Args:
            retain_grad (bool): If True, the gradients of all intermediate variables are kept;
                otherwise they are None afterwards.
            enable_double_backprop (bool): If True, the computation of the gradients is recorded, so
                that the gradients can be differentiated in turn.
            loss_scale (float): Factor the initial error is multiplied by, against underflow of
                float16 gradients. Optimizers divide the gradients by it before they update
                parameters.

        Raises:
            ValueError: If the variable has more than one element and no gradient is set.
            RuntimeError: In debug mode, if a gradient contains NaN, or if no gradient can flow from
                this variable.
        """
        backward(self, retain_grad, enable_double_backprop, loss_scale)

    # -- text -------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Short text that represents the variable: shape and dtype."""
        return self.node.label

    def summary(self) -> str:
        """Returns a one-line text that names the variable."""
        return f"<variable {self._name}>" if self._name else f"<variable at {id(self):#x}>"

    def debug_print(self) -> str:
        """Returns a summary of the stored data and the location of the variable."""
        if self._array is None:
            return f"{self.summary()}\n- uninitialized"
        backend = backend_of(self._array)
        device = backend.device_of(self._array)
        lines = [
            self.summary(),
            f"- device: {'CPU' if backend.name == 'numpy' else device}",
            f"- backend: {type(self._array)}",
            f"- shape: {self.shape}",
            f"- dtype: {self.dtype}",
            f"- statistics: {_statistics(self._array)}",
            f"- grad: {_statistics(self.grad)}",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self._format(repr)

    def __str__(self) -> str:
        return self._format(str)

    def _format(self, convert: Callable[[Any], str]) -> str:
        prefix = f"variable {self._name}" if self._name else "variable"
        if self._array is None:
            return f"{prefix}(None)"
        array = backend_of(self._array).to_host(self._array)
        if convert is repr:
            text = numpy.array2string(array, prefix=prefix + "(", separator=", ")
        else:
            text = numpy.array2string(array, prefix=prefix + "(")
        if not array.size:
            text = f"[], shape={array.shape}"
        return f"{prefix}({text})"

    # -- copies -----------------------------------------------------------------------------------

    def __copy__(self) -> Variable:
        """Returns a variable that shares the arrays but not the place in the graph."""
        return self._replica(self._array, self.grad, dict(self.__dict__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        replica = _new(type(self))
        memo[id(self)] = replica
        array, grad = self._array, self.grad
        state = copy.deepcopy(self.__dict__, memo)
        return self._replica(
            None if array is None else copied(array),
            None if grad is None else copied(grad),
            state,
            replica,
        )

    def _replica(
        self, array: Any, grad: Any, state: dict[str, Any], into: Variable | None = None
    ) -> Variable:
        replica = _new(type(self)) if into is None else into
        _restore_state(replica, array, grad, self._requires_grad, state)
        return replica

    def __reduce__(self) -> Any:
        return (
            _rebuild,
            (type(self), self._array, self.grad, self._requires_grad, dict(self.__dict__)),
        )


VariableNode.variable_class = Variable


def _refuse_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if "volatile" in kwargs or args:
        raise ValueError(
            "volatile argument is not supported anymore. Use chainer.no_backprop_mode() instead; "
            "name, grad and requires_grad are keyword arguments."
        )
    unknown = ", ".join(sorted(kwargs))
    raise TypeError(f"Variable got unexpected keyword arguments: {unknown}")


def _statistics(array: Any) -> str:
    if array is None:
        return "None"
    if array.size == 0:
        return "empty"
    host = backend_of(array).to_host(array)
    return f"mean={float(host.mean()):.8f}, std={float(host.std()):.8f}"


def _restore_state(
    variable: Variable, array: Any, grad: Any, requires_grad: bool, state: dict[str, Any]
) -> None:
    variable._array = array
    variable._grad = grad
    variable._grad_var = None
    variable._node = None
    variable._requires_grad = requires_grad
    variable.__dict__.update(state)


def _rebuild(
    cls: type[Variable], array: Any, grad: Any, requires_grad: bool, state: dict[str, Any]
) -> Variable:
    variable = _new(cls)
    _restore_state(variable, array, grad, requires_grad, state)
    return variable


def shape_of(obj: Any) -> tuple[int, ...]:
    """Returns the shape of an array or a variable.

    Args:
        obj (array or Variable): What a function or link was given.

    Raises:
        TypeError: If ``obj`` is neither.
    """
    try:
        return obj.shape
    except AttributeError:
        if isinstance(obj, Variable):
            raise
        raise TypeError(not_an_array_message(obj)) from None


def as_variable(obj: Any) -> Variable:
    """Converts an array or a variable into :class:`~chainer.Variable`.

    Args:
        obj (array or Variable): Object to convert.

    Returns:
        Variable: ``obj`` itself if it is a variable; otherwise a new variable that does not require
            a gradient.

    Raises:
        TypeError: If ``obj`` is neither.
    """
    return obj if isinstance(obj, Variable) else Variable(obj, requires_grad=False)
