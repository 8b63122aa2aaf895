"""Copies and pickles of variables. The place in the graph is not copied."""

# Variables belong to core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import weakref
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import copied
from chainer.core.autograd.lazy_gradient import UNDEFINED

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array

_new = object.__new__

#: Attributes that are not copied: weak references, which cannot be pickled, and whether a warning
#: about the gradient was given.
_TRANSIENT = frozenset({"_sharing", "_misuse_reported"})


def shallow_copy(variable: Variable) -> Variable:
    """Returns a variable with the same arrays.

    The two stay connected: when the array of one variable is set, for instance because a parameter
    is initialized, the other variable gets the same array.
    """
    # The gradient of a parameter that was not cleared stays undefined: no array is made for it.
    gradient = UNDEFINED if variable._gradient is UNDEFINED else variable._grad
    replica = _restore(
        type(variable), variable._array, gradient, variable._requires_grad, state_of(variable)
    )
    sharing = [r for r in variable._sharing or [weakref.ref(variable)] if r() is not None]
    sharing.append(weakref.ref(replica))
    for reference in sharing:
        each = reference()
        if each is not None:
            each._sharing = sharing
    return replica


def deep_copy(variable: Variable, memo: dict[int, Any]) -> Variable:
    """Returns a variable with copies of the arrays and of all attributes."""
    replica = _new(type(variable))
    memo[id(variable)] = replica
    array, gradient = variable._array, variable._grad
    return _fill(
        replica,
        _copied_once(array, memo),
        _copied_once(gradient, memo),
        variable._requires_grad,
        copy.deepcopy(state_of(variable), memo),
    )


def _copied_once(array: Any, memo: dict[int, Any]) -> Any:
    """Returns the copy of an array: the same one for all variables that share the array."""
    if array is None:
        return None
    if id(array) not in memo:
        memo[id(array)] = copied(array)
    return memo[id(array)]


def reduced(variable: Variable) -> Any:
    """Returns what ``pickle`` stores of a variable."""
    return (
        _restore,
        (
            type(variable),
            variable._array,
            variable._grad,
            variable._requires_grad,
            state_of(variable),
        ),
    )


def state_of(variable: Variable) -> dict[str, Any]:
    """Returns the attributes that copies and pickles take over."""
    return {name: value for name, value in variable.__dict__.items() if name not in _TRANSIENT}


def _restore(
    cls: type[Variable], array: Array, gradient: Any, requires_grad: bool, state: dict[str, Any]
) -> Variable:
    return _fill(_new(cls), array, gradient, requires_grad, state)


def _fill(
    variable: Variable, array: Array, gradient: Any, requires_grad: bool, state: dict[str, Any]
) -> Variable:
    variable._array = array
    variable._gradient = gradient
    variable._grad_var = None
    variable._graph_node = None
    variable._requires_grad = requires_grad
    variable.__dict__.update(state)
    return variable
