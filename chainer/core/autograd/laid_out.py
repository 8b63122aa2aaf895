"""Variables whose channels come last in memory (see :mod:`chainer.core.autograd.memory_layouts`).

Such a variable holds a view of its raw array in which the channels are the second axis, as all
other code expects. So differentiation is independent of layouts. Two things are special, and both
are in this module: programs cannot read the array, and only some functions accept the variable.

:func:`~chainer.core.autograd.apply.apply` calls this module if the class of the array is
:class:`LaidOutArray`. For libraries other than NumPy it tests the flag in :data:`LAYOUTS`. So
variables without a layout cost no extra time.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd import memory_layouts
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, DeviceLike, ShapeLike, VariableLike, Variables

_REFUSAL = (
    "Cannot directly {} of a variable with non-standard layout. "
    "Use as_layout(None) or the attribute raw_array."
)


class LaidOutArray(numpy.ndarray[Any, Any]):
    """A NumPy array of a variable with a layout. The class distinguishes it from other arrays."""


class _Layouts:
    """Whether any variable was given a layout in this process."""

    are_in_use = False


LAYOUTS = _Layouts()


class _Access(threading.local):
    """Whether this thread may read the arrays of variables with a layout, like other arrays."""

    allowed = False


_access = _Access()


class access_allowed:
    """Lets update rules and transfers, which treat elements one by one, read the arrays."""

    # A class takes a third of the time of a generator, and every update enters it.
    __slots__ = ("_previous",)

    def __enter__(self) -> None:
        self._previous, _access.allowed = _access.allowed, True

    def __exit__(self, *_: object) -> None:
        _access.allowed = self._previous


class LaidOutVariable(Variable):
    """Mixin of variables with a layout. It overrides properties and methods of their class."""

    __slots__ = ()

    _layout: str | None

    @property
    def layout(self) -> str | None:
        """Name of the memory layout."""
        return self._layout

    @property
    def array(self) -> Array:
        """Raises an error: programs would not expect the shape and the order of the axes.

        Raises:
            RuntimeError: Always, except for update rules and transfers between devices.
        """
        if not _access.allowed:
            raise RuntimeError(_REFUSAL.format("retrieve the underlying array"))
        return self._array

    @array.setter
    def array(self, array: Array | None) -> None:
        if not _access.allowed:
            raise RuntimeError(_REFUSAL.format("set the underlying array"))
        if array is not None:
            xp = backend_of(array).xp
            raw = xp.ascontiguousarray(memory_layouts.transposed(array, None, self._layout))
            array = _semantic(raw, self._layout)
        cast("Any", Variable.array).fset(self, array)

    @property
    def data(self) -> Array:
        """Raises an error, as :attr:`array` does."""
        return self.array

    @data.setter
    def data(self, data: Array | None) -> None:
        self.array = data

    @property
    def raw_array(self) -> Array | None:
        """The stored array. Its last axis is the channel axis."""
        if self._array is None:
            return None
        return memory_layouts.transposed(_without_mark(self._array), None, self._layout)

    @property
    def grad(self) -> Array:
        """Raises an error, as :attr:`array` does. Use :attr:`grad_var`, which has the layout."""
        if not _access.allowed:
            raise RuntimeError(_REFUSAL.format("retrieve the gradient array"))
        return self._grad

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        if not _access.allowed:
            raise RuntimeError(_REFUSAL.format("set the gradient array"))
        cast("Any", Variable.grad).fset(self, grad)

    @property
    def grad_var(self) -> Variable | None:
        """Gradient variable of this variable, with the same layout, or None."""
        if self._grad_var is None:
            grad = self._grad
            if grad is not None:
                self._grad_var = with_layout(Variable._from_array(grad, True), self._layout)
        elif self._grad_var.layout is None:
            self._grad_var = with_layout(self._grad_var, self._layout)
        return self._grad_var

    @grad_var.setter
    def grad_var(self, grad_var: Variable | None) -> None:
        cast("Any", Variable.grad_var).fset(self, grad_var)

    def __len__(self) -> int:
        return len(self.array)

    def to_device(self, device: DeviceLike) -> None:
        """Copies the data and gradient arrays to a device; see :meth:`Variable.to_device`."""
        with access_allowed():
            super().to_device(device)

    def initialize(self, shape: ShapeLike) -> None:
        """Initializes a parameter; see :meth:`chainer.Parameter.initialize`.

        Args:
            shape (int or tuple of int): Shape with the channels in second place.
        """
        with access_allowed():
            cast("Any", super()).initialize(shape)

    def update(self) -> None:
        """Updates a parameter by its update rule.

        Raises:
            RuntimeError: If the rule does not update each element independently of the others.
        """
        rule: Any = getattr(self, "update_rule", None)
        if rule is None:
            return
        if not rule.is_elementwise:
            raise RuntimeError(
                "a parameter with a non-standard layout cannot be updated with a non-elementwise "
                f"update rule ({rule})"
            )
        with access_allowed():
            rule.update(self)

    def __reduce__(self) -> Any:
        with access_allowed():
            _, (cls, array, grad, requires_grad, state) = super().__reduce__()
        plain = None if array is None else _without_mark(array)
        return (_restore, (cls.__mro__[2], plain, grad, requires_grad, state))


def _restore(
    cls: type[Variable], array: Array, grad: Array, requires_grad: bool, state: dict[str, Any]
) -> Variable:
    variable: Any = object.__new__(cls)
    variable._array, variable._gradient, variable._requires_grad = array, grad, requires_grad
    variable._grad_var = variable._graph_node = None
    variable.__dict__.update(state)
    return with_layout(variable, variable._layout)


@cache
def _class_with_layout(cls: type[Variable]) -> type[Variable]:
    """Returns the subclass of a variable class for variables with a layout."""
    return type(cls.__name__, (LaidOutVariable, cls), {"__slots__": (), "__module__": __name__})


def with_layout(variable: Variable, layout: str | None) -> Variable:
    """Gives a variable a layout; its array has the channels in second place already.

    Args:
        variable: A variable without layout.
        layout: Name of the layout; with None nothing happens.
    """
    if layout is not None:
        array = variable._array
        variable.__class__ = _class_with_layout(type(variable))
        cast("LaidOutVariable", variable)._layout = layout
        if type(array) is numpy.ndarray:
            variable._array = array.view(LaidOutArray)
        LAYOUTS.are_in_use = True
    return variable


def with_raw_array(variable: Variable, layout: str) -> None:
    """Gives a variable a layout; its array is the raw one.

    Args:
        variable: A variable without layout, fresh from its constructor.
        layout: Name of the layout.
    """
    if variable._array is not None:
        variable._array = memory_layouts.transposed(variable._array, layout, None)
    with_layout(variable, layout)


def _semantic(raw: Array, layout: str | None) -> Array:
    array = memory_layouts.transposed(raw, layout, None)
    return array.view(LaidOutArray) if type(array) is numpy.ndarray else array


def _without_mark(array: Array) -> Array:
    return array.view(numpy.ndarray) if type(array) is LaidOutArray else array


def apply_with_layouts(
    node: FunctionNode, inputs: Sequence[VariableLike], layouts: tuple[str | None, ...]
) -> Variables:
    """Applies a function to inputs some of which have a layout.

    The function is applied to variables without layouts that have the same nodes in the graph. Its
    outputs get their layouts afterwards.

    Args:
        node: The function.
        inputs: The inputs.
        layouts: Layout of each input.
    """
    node._input_layouts = layouts
    node._output_layouts = None
    node.check_layout_forward(tuple([_as_variable(x) for x in inputs]))
    layout: str | None = None
    if node.is_elementwise or node.keeps_layout:
        layout = layouts[0]
        if node.is_elementwise:
            layout = _common_layout(node, inputs, layouts)
    elif not node._traits.checks_layouts:
        raise RuntimeError(
            "Inputs with non-standard layouts were given to a function without explicit "
            f"`check_layout_forward` implementation.\nFunction: {node.label}\n"
            f"Input layouts: {', '.join(map(str, layouts))}"
        )
    outputs = node._apply([_standard(x) for x in inputs])
    chosen = node._output_layouts
    if chosen is None:
        chosen = node._output_layouts = (layout,) * len(outputs)
    return tuple([with_layout(y, own) for y, own in zip(outputs, chosen, strict=True)])


def _common_layout(
    node: FunctionNode, inputs: Sequence[VariableLike], layouts: tuple[str | None, ...]
) -> str | None:
    found = set(layouts)
    if len(found) > 1:
        # When gradients are computed without a graph, a differentiation rule combines retained
        # inputs, which have a layout, with gradients, which have none. Both have the same order of
        # axes.
        if threads.state.enable_backprop:
            raise RuntimeError(
                "Inputs with mixed memory layouts were given to an elementwise function.\n"
                f"Function: {node.label}\nInput layouts: {', '.join(map(str, layouts))}"
            )
        found.discard(None)
    return found.pop() if len(found) == 1 else None


def _as_variable(x: VariableLike) -> Variable:
    return x if isinstance(x, Variable) else Variable(x, requires_grad=False)


def _standard(x: VariableLike) -> VariableLike:
    """Returns a variable without layout that has the node of another one."""
    if not isinstance(x, LaidOutVariable):
        return x
    plain = Variable._from_array(_without_mark(x._array), x._requires_grad)
    plain._graph_node = x.node
    return plain


def layouts_of(inputs: Sequence[VariableLike]) -> tuple[str | None, ...]:
    """Returns the layout of each input of a function.

    Args:
        inputs: Arrays and variables.
    """
    return tuple([x.layout if isinstance(x, Variable) else None for x in inputs])
