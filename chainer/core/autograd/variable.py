"""Variables: arrays that remember how they were computed."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

# One file, though a long one: it has the methods of one public class, which share its attributes.
# Methods of more than a few lines call functions of the modules beside it.

from __future__ import annotations

import warnings
import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from chainer.core.arrays.backend import (
    backend_of,
    find_backend,
    get_array_module,
    get_device,
    not_an_array_message,
    wrap,
)
from chainer.core.arrays.holders import ArrayHolder
from chainer.core.autograd.backprop import backward
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.lazy_gradient import LazyGradient
from chainer.core.autograd.numpy_conversions import (
    NUMPY_FUNCTIONS,
    NotAMethod,
    as_numpy_array,
    single_element,
)
from chainer.core.autograd.unchaining import unchain_backward
from chainer.core.autograd.variable_copies import deep_copy, reduced, shallow_copy
from chainer.core.autograd.variable_methods import (
    UnsupportedOperatorError,
    binary,
    method,
    refuse_numpy_arguments,
    refused,
    unary,
)
from chainer.core.autograd.variable_node import GRAD_WAS_SET, NO_GRADIENT, VariableNode
from chainer.core.autograd.variable_text import array_text, debug_text
from chainer.core.autograd.variable_transfers import add_gradient, copy_data, move
from chainer.core.foreign_names import ATTRIBUTES, add_foreign_attributes
from chainer.core.lazy import resolve
from chainer.core.misuse import expect_flags, expect_number
from chainer.core.registry import registries
from chainer.core.utils.argument import explained_keywords

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.function import Function
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import (
        Array,
        Axis,
        DeviceLike,
        DType,
        DTypeLike,
        Shape,
        VariableLike,
    )

_new = object.__new__


class Variable(ArrayHolder):
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
        layout (str): Memory layout of ``data``, one of :mod:`chainer.memory_layouts`; None for the
            standard one.

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
        "_grad_var",
        "_gradient",
        "_graph_node",
        "_requires_grad",
    )

    #: Makes NumPy arrays and scalars leave binary operators to us.
    __array_priority__ = 200

    _name: str | None = None

    #: Factor the gradient is scaled by (see ``loss_scale`` of :meth:`backward`); None for one.
    loss_scale: float | None = None

    #: Variables that share the array: the copies of this one, and itself; None if there are none.
    _sharing: list[weakref.ref[Variable]] | None = None
    #: Name of the device of a variable that has no array yet; None for the CPU.
    _initial_device: str | None = None

    def __init__(
        self,
        data: Array | None = None,
        *args: Any,
        name: str | None = None,
        grad: Array | None = None,
        requires_grad: bool = True,
        layout: str | None = None,
        **kwargs: Any,
    ) -> None:
        if args or kwargs:
            _refuse_arguments(args, kwargs)
        self._array: Array = None if data is None else wrap(data)
        self._gradient: Any = None
        self._grad_var: Variable | None = None
        self._graph_node: VariableNode | None = None
        # Two comparisons, because each constant and each result makes a variable.
        if requires_grad is not True and requires_grad is not False:
            expect_flags("Variable", requires_grad=requires_grad)
        self._requires_grad = requires_grad
        if name is not None:
            self._name = name
        if grad is not None:
            self.grad = grad
        if layout is not None:
            _set_layout(self, layout)

    @classmethod
    def _from_array(cls, array: Array | None, requires_grad: bool) -> Variable:
        """Makes a variable of an array that is known to be one."""
        self = _new(Variable)
        self._array = array
        self._gradient = None
        self._grad_var = None
        self._graph_node = None
        self._requires_grad = requires_grad
        return self

    @staticmethod
    def _init_unchecked(
        data: Array | None = None,
        *,
        name: str | None = None,
        grad: Array | None = None,
        requires_grad: bool = True,
        is_chainerx_array: bool | None = None,
        layout: str | None = None,
    ) -> Variable:
        """Makes a variable without checks; a name of release 7 that programs use."""
        self = Variable._from_array(data, requires_grad)
        self._gradient = grad
        if name is not None:
            self._name = name
        if layout is not None:
            _set_layout(self, layout)
        return self

    @classmethod
    def _from_node(cls, node: VariableNode) -> Variable:
        """Makes a variable for a node whose variable is gone."""
        # Slot by slot, as in _from_array(): rules on Variables make one for each value they read.
        self = _new(Variable)
        self._array = node.data
        self._gradient = None
        self._grad_var = None
        self._graph_node = node
        self._requires_grad = not node._marks & NO_GRADIENT
        if node.name is not None:
            self._name = node.name
        return self

    # -- array ------------------------------------------------------------------------------------

    @property
    def array(self) -> Array:
        """The underlying data array, or None while the variable is not initialized."""
        return self._array

    @array.setter
    def array(self, array: Array | None) -> None:
        if array is not None:
            array = wrap(array)
        self._set_array(array)
        for reference in self._sharing or ():
            variable = reference()
            if variable is not None and variable is not self:
                variable._set_array(array)

    def _set_array(self, array: Array | None) -> None:
        self._array = array
        if self._graph_node is not None:
            self._graph_node._update(array)

    @property
    def raw_array(self) -> Array | None:
        """The stored array, whatever the memory layout is; for most variables :attr:`array`."""
        return self._array

    @property
    def layout(self) -> str | None:
        """Memory layout of the stored array, None for the standard one."""
        return None

    def as_layout(self, layout: str | None) -> Variable:
        """Returns a variable with the same elements in another memory layout.

        This is a differentiable function. The result shares the memory of this variable.

        Args:
            layout (str): Memory layout, one of :mod:`chainer.memory_layouts`; None for the standard
                one. One that is not standard can be converted to the standard one only.

        Returns:
            Variable: The variable; this one if it has the layout already.

        Raises:
            AssertionError: If the array has fewer than three dimensions.
            ValueError: If the layout is unknown.
        """
        # A function, and functions import this module.
        return resolve("chainer.core.autograd.as_layout:as_layout")(self, layout)

    @property
    def data(self) -> Array:
        """The underlying data array (equivalent to :attr:`array`, which is preferred)."""
        return self._array

    @data.setter
    def data(self, data: Array | None) -> None:
        self.array = data

    @property
    def chx_array(self) -> Array:
        """The array as one of ChainerX, which is not supported.

        Raises:
            ValueError: Always: no variable holds an array of ChainerX.
        """
        raise ValueError("chx_array is not available for Variable with non-ChainerX array.")

    @property
    def _has_chainerx_array(self) -> bool:
        return False

    def item(self) -> Any:
        """Converts a variable of one element to a number of Python.

        Returns:
            int, float, bool or complex: The element.

        Raises:
            ValueError: If the variable has another number of elements.
        """
        return self._initialized().item()

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        array = self._array  # most often without the call below
        return (self._initialized() if array is None else array).shape

    @property
    def ndim(self) -> int:
        """Number of dimensions of the array."""
        array = self._array  # most often without the call below
        return (self._initialized() if array is None else array).ndim

    @property
    def size(self) -> int:
        """Number of elements of the array."""
        array = self._array  # most often without the call below
        return (self._initialized() if array is None else array).size

    @property
    def dtype(self) -> DType:
        """Data type of the array."""
        array = self._array
        return (self._initialized() if array is None else array).dtype

    def _initialized(self) -> Array:
        if self._array is None:
            raise AttributeError(
                f"{self.summary()} is uninitialized: it has no array, hence no shape or dtype"
            )
        return self._array

    @property
    def xp(self) -> ModuleType:
        """Array module for this variable: ``numpy``, ``cupy`` or another backend's module."""
        return self.device.xp if self._array is None else get_array_module(self._array)

    @property
    def device(self) -> Device:
        """Device the array lives on; that of the last transfer while there is no array."""
        if self._array is None:
            return get_device(self._initial_device)
        return backend_of(self._array).device_of(self._array)

    def __len__(self) -> int:
        """Returns the length of the first dimension of the data array.

        Returns:
            int: That length.
        """
        return len(self._initialized())

    # -- gradient ---------------------------------------------------------------------------------

    @property
    def grad(self) -> Array:
        """Gradient array of this variable (see :attr:`grad_var`), or None."""
        if self._grad_var is not None:
            return self._grad_var._array
        grad = self._gradient
        if grad is None and self._array is None:
            self._refuse_undefined_gradient()
        if isinstance(grad, LazyGradient):
            grad = self._gradient = grad.read(self._array)
        return grad

    def _refuse_undefined_gradient(self) -> None:
        """Raises an error if the gradient is not defined yet; for parameters."""

    def _stored_gradient(self) -> Array | None:
        """Returns the gradient, and None if it is not defined yet."""
        if self._grad_var is not None:
            return self._grad_var._array
        grad = self._gradient
        if isinstance(grad, LazyGradient):
            grad = self._gradient = grad.read(self._array)
        return grad

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        self._set_gradient(grad)

    def _set_gradient(self, grad: Array | None) -> None:
        if grad is not None:
            grad = wrap(grad)
            self._check_gradient(grad)
        self._gradient = grad
        self._grad_var = None
        self._mark_grad_set()

    @property
    def grad_var(self) -> Variable | None:
        """Gradient variable of this variable, or None."""
        if self._grad_var is None:
            grad = self._stored_gradient()
            if grad is not None:
                self._grad_var = Variable._from_array(grad, True)
        return self._grad_var

    @grad_var.setter
    def grad_var(self, grad_var: Variable | None) -> None:
        if grad_var is not None:
            if not isinstance(grad_var, Variable):
                raise TypeError(f"grad_var must be a Variable or None, got {type(grad_var)}")
            self._check_gradient(grad_var._array)
        self._gradient = None
        self._grad_var = grad_var
        self._mark_grad_set()

    def _set_gradient_unchecked(self, grad: Array | None) -> None:
        self._gradient = grad
        self._grad_var = None

    # The gradient array, to be set without checks. Programs use this name of release 7.
    _grad: Any = property(_stored_gradient, _set_gradient_unchecked)

    def _mark_grad_set(self) -> None:
        """Tells backpropagation that the gradient of a function's output is to be cleared."""
        if self._graph_node is not None:
            self._graph_node._marks |= GRAD_WAS_SET

    def _check_gradient(self, grad: Array) -> None:
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
        self._gradient = None
        self._grad_var = None

    def zerograd(self) -> None:
        """Initializes the gradient array by zeros.

        The gradient variable is unchained from the graph. Deprecated since v1.15; use
        :meth:`cleargrad`.
        """
        warnings.warn(
            "Variable.zerograd is deprecated. Use Variable.cleargrad instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        self._zero_gradient()

    def _zero_gradient(self) -> None:
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
        copy_data(self, var)

    def addgrad(self, var: Variable) -> None:
        """Accumulates the gradient array from given source variable, across devices if need be.

        An uninitialized variable is initialized with the shape of the given one first.

        Args:
            var (Variable): Source variable.
        """
        add_gradient(self, var)

    @property
    def _loss_scale(self) -> float | None:
        # The name of ``loss_scale`` in earlier releases: hooks of programs read it, and programs
        # that fill gradients by hand set it.
        return self.loss_scale

    @_loss_scale.setter
    def _loss_scale(self, loss_scale: float | None) -> None:
        self.loss_scale = loss_scale

    # -- place in the graph -----------------------------------------------------------------------

    @property
    def node(self) -> VariableNode:
        """Node of the computational graph that represents this variable."""
        node = self._graph_node
        if node is None:
            node = self._graph_node = VariableNode(self, self._name)
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
        unchain_backward(self)

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
        if retain_grad is not False and retain_grad is not True:
            expect_flags("backward", retain_grad=retain_grad)
        if loss_scale is not None:
            expect_number("loss_scale of backward", loss_scale, above=0)
        backward(self, retain_grad, enable_double_backprop, loss_scale)

    @property
    def label(self) -> str:
        """Short text that represents the variable: shape and dtype."""
        return self.node.label

    # -- devices ----------------------------------------------------------------------------------

    def to_device(self, device: DeviceLike) -> None:
        """Copies the data and gradient arrays to a device.

        Args:
            device: Anything :func:`chainer.get_device` takes.
        """
        move(self, get_device(device))

    def to_cpu(self) -> None:
        """Copies the data and gradient arrays to CPU."""
        self.to_device("@numpy")

    def to_gpu(self, device: DeviceLike = None) -> None:
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

    def to_chx(self) -> None:
        """Refuses: arrays of ChainerX are not supported.

        Raises:
            RuntimeError: Always, as in builds of release 7 without ChainerX.
        """
        raise RuntimeError("ChainerX is not available.")

    def from_chx(self) -> None:
        """Does nothing: no array is one of ChainerX."""

    # -- numbers and NumPy arrays -----------------------------------------------------------------

    def numpy(self) -> Array:
        """Returns the elements as a NumPy array.

        Returns:
            numpy.ndarray: The array itself if it is in host memory, so that a change of one is seen
            in the other; otherwise a copy.

        Raises:
            AttributeError: If the variable has no array yet.

        Example:
            >>> chainer.Variable(np.array([1, 2], np.float32)).numpy()
            array([1., 2.], dtype=float32)
        """
        array = self._initialized()
        return backend_of(array).to_host(array)

    def detach(self) -> Variable:
        """Returns a new variable that shares the array and is cut off from the graph.

        No gradient flows through it, and ``requires_grad`` of it is False.

        Returns:
            Variable: The new variable.

        Example:
            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> y = x * 3
            >>> y.detach().creator is None
            True
        """
        return Variable(self._initialized(), requires_grad=False)

    def __float__(self) -> float:
        """Returns the only element as a float."""
        return float(single_element(self, "float"))

    def __int__(self) -> int:
        """Returns the only element as an int; a fraction is cut off."""
        return int(single_element(self, "int"))

    def __complex__(self) -> complex:
        """Returns the only element as a complex number."""
        return complex(single_element(self, "complex"))

    def __format__(self, specification: str) -> str:
        """Formats the only element: ``f"{loss:.3f}"``. Without a specification it is ``str``."""
        if not specification:
            return str(self)
        return format(single_element(self, "a number of a format"), specification)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        return as_numpy_array(self, dtype, copy)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """Gives the memory of the array to another library; see :func:`chainer.from_dlpack`."""
        return self._initialized().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the type and the index of the device of the array, as DLPack numbers them."""
        return self._initialized().__dlpack_device__()

    # -- operators, which are differentiable functions --------------------------------------------

    def __getitem__(self, slices: Any) -> Variable:
        """Extracts elements; see :func:`chainer.functions.get_item`.

        Args:
            slices: int, slice, Ellipsis, None, integer or boolean array-like, or a tuple of them.

        Returns:
            Variable: The selected elements.
        """
        return method("__getitem__")(self, slices)

    def reshape(self, *shape: Any) -> Variable:
        """Returns a variable of a different shape and the same content.

        See :func:`chainer.functions.reshape`. The lengths may be given as a tuple or one by one.
        """
        return method("reshape")(self, *shape)

    def transpose(self, *axes: Any) -> Variable:
        """Permutes the dimensions without copy.

        See :func:`chainer.functions.transpose`. The axes may be given as a tuple or one by one.
        """
        return method("transpose")(self, *axes)

    @explained_keywords
    def mean(
        self,
        axis: Axis = None,
        *,
        weights: VariableLike | None = None,
        keepdims: bool = False,
        dtype: None = None,
        out: None = None,
    ) -> Variable:
        """Calculates the weighted average of the elements.

        See :func:`chainer.functions.average`.

        Args:
            axis (None or int or tuple of int): Axes along which the average is taken; None for all.
            weights (Variable or array or None): Weights of the elements; None for equal weights.
            keepdims (bool): Whether the axes are kept with length 1.
            dtype, out: Must be None; ``numpy.mean(x)`` passes them.

        Returns:
            Variable: The average.
        """
        refuse_numpy_arguments("mean", dtype, out)
        return registries.functions.get("average")(self, axis, weights, keepdims)

    @explained_keywords
    def sum(
        self, axis: Axis = None, *, keepdims: bool = False, dtype: None = None, out: None = None
    ) -> Variable:
        """Calculates the sum of the elements.

        See :func:`chainer.functions.sum`.

        Args:
            axis (None or int or tuple of int): Axes along which the sum is taken; None for all.
            keepdims (bool): Whether the axes are kept with length 1.
            dtype, out: Must be None; ``numpy.sum(x)`` passes them.

        Returns:
            Variable: The sum.
        """
        refuse_numpy_arguments("sum", dtype, out)
        return registries.functions.get("sum")(self, axis, keepdims)

    @property
    def T(self) -> Variable:
        """Transposition of this variable."""
        return self.transpose()

    def __pos__(self) -> Self:
        """Returns the variable itself."""
        return self

    __neg__ = unary("__neg__", "Element-wise negation.")
    __abs__ = unary("__abs__", "Element-wise absolute value.")
    __add__ = binary("__add__", "Element-wise addition.")
    __radd__ = binary("__radd__", "Element-wise addition.")
    __sub__ = binary("__sub__", "Element-wise subtraction.")
    __rsub__ = binary("__rsub__", "Element-wise subtraction.")
    __mul__ = binary("__mul__", "Element-wise product.")
    __rmul__ = binary("__rmul__", "Element-wise product.")
    __truediv__ = binary("__truediv__", "Element-wise division.")
    __rtruediv__ = binary("__rtruediv__", "Element-wise division.")
    __floordiv__ = binary("__floordiv__", "Element-wise floor division.")
    __rfloordiv__ = binary("__rfloordiv__", "Element-wise floor division.")
    __pow__ = binary("__pow__", "Element-wise power function.")
    __rpow__ = binary("__rpow__", "Element-wise power function.")
    __matmul__ = binary("__matmul__", "Matrix multiplication.")
    __rmatmul__ = binary("__rmatmul__", "Matrix multiplication.")

    def __div__(self, rhs: Any) -> Variable:
        """Element-wise division (the name of Python 2).

        Returns:
            Variable: Output variable.
        """
        return self / rhs

    def __rdiv__(self, rhs: Any) -> Variable:
        """Element-wise division (the name of Python 2).

        Returns:
            Variable: Output variable.
        """
        return rhs / self

    __hash__ = None  # type: ignore[assignment]

    __eq__ = refused("__eq__", "==")
    __ne__ = refused("__ne__", "!=")
    __lt__ = refused("__lt__", "<")
    __le__ = refused("__le__", "<=")
    __gt__ = refused("__gt__", ">")
    __ge__ = refused("__ge__", ">=")

    def __bool__(self) -> bool:
        """This operator is not defined for Variable."""
        raise UnsupportedOperatorError(
            # The first sentence is the text of release 7.
            "Variables cannot be evaluated as Python bool.\nInstead, use its 'array' attribute."
        )

    def __nonzero__(self) -> bool:
        """This operator is not defined for Variable."""
        return self.__bool__()

    # -- text -------------------------------------------------------------------------------------

    def summary(self) -> str:
        """Returns a one-line text that names the variable."""
        return f"<variable {self._name}>" if self._name else f"<variable at {id(self):#x}>"

    def debug_print(self) -> str:
        """Returns a summary of the stored data and the location of the variable."""
        return debug_text(self)

    def __repr__(self) -> str:
        return array_text(self, for_repr=True)

    def __str__(self) -> str:
        return array_text(self, for_repr=False)

    # -- copies -----------------------------------------------------------------------------------

    def __copy__(self) -> Variable:
        """Returns a variable that shares the arrays but not the place in the graph.

        Setting :attr:`array` of one of the two sets that of the other one.
        """
        return shallow_copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        return deep_copy(self, memo)

    def __reduce__(self) -> Any:
        return reduced(self)


VariableNode.variable_class = Variable


def _set_layout(variable: Variable, layout: str) -> None:
    # The module derives a class from Variable.
    resolve("chainer.core.autograd.laid_out:with_raw_array")(variable, layout)


def _refuse_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if "volatile" in kwargs:
        raise ValueError(
            "volatile argument is not supported anymore. Use chainer.using_config("
            "'enable_backprop', False) or chainer.no_backprop_mode() instead."
        )
    if args:
        raise TypeError("name, grad and requires_grad of a Variable are keyword arguments")
    unknown = ", ".join(sorted(kwargs))
    raise TypeError(f"Variable got unexpected keyword arguments: {unknown}")


def shape_of(obj: VariableLike) -> Shape:
    """Returns the shape of an array or a variable.

    Args:
        obj (array or Variable): Argument of a function or link.

    Raises:
        TypeError: If ``obj`` is neither.
    """
    try:
        return obj.shape
    except AttributeError:
        if isinstance(obj, Variable):
            raise
        raise TypeError(not_an_array_message(obj)) from None


def as_variable(obj: VariableLike) -> Variable:
    """Converts an array or a variable into :class:`~chainer.Variable`.

    Args:
        obj (array or Variable): Object to convert.

    Returns:
        Variable: ``obj`` itself if it is a variable; otherwise a new variable that does not require
            a gradient.

    Raises:
        TypeError: If ``obj`` is neither.

    Example:
        >>> chainer.as_variable(np.ones(2, np.float32))
        variable([1., 1.])
    """
    return obj if isinstance(obj, Variable) else Variable(obj, requires_grad=False)


def as_array(obj: Any) -> Any:
    """Returns the array of a variable, and any other object unchanged.

    Args:
        obj (array or Variable): Object to convert.

    Returns:
        array: ``obj.array`` if it is a variable; otherwise ``obj``.

    Example:
        >>> chainer.as_array(chainer.Variable(np.ones(2, np.float32)))
        array([1., 1.], dtype=float32)
    """
    return obj.array if isinstance(obj, Variable) else obj


for _name, _function in NUMPY_FUNCTIONS.items():
    setattr(Variable, _name, NotAMethod(_name, _function))
add_foreign_attributes(Variable, ATTRIBUTES["Variable"])
