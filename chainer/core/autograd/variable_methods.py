"""Operators and methods of variables that are differentiable functions.

The functions belong to packages above the core. The first call of a method looks its function up in
the registry of variable methods, and replaces the method of the class by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.variable_node import VariableNode
from chainer.core.registry import registries

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable


def method(name: str) -> Callable[..., Any]:
    """Looks up the function of an operator or method, and replaces the method by it.

    Args:
        name: Name of the method.
    """
    variable_class = VariableNode.variable_class
    function = registries.variable_methods.get(name)
    _lookups.setdefault(name, vars(variable_class)[name])
    setattr(variable_class, name, function)
    if registries.variable_methods.get(name) is not function:  # another thread replaced it
        _look_up_again(name)
        return method(name)
    return function


#: The first methods of the class by name, which look the function up.
_lookups: dict[str, Any] = {}


def _look_up_again(name: str) -> None:
    """Restores the look-up of a method, because its function was replaced in the registry."""
    lookup = _lookups.get(name)
    if lookup is not None:
        setattr(VariableNode.variable_class, name, lookup)


registries.variable_methods.add_listener(_look_up_again)


def binary(name: str, text: str) -> Callable[[Variable, Any], Variable]:
    """Makes the method of an operator with two operands.

    Args:
        name: Name of the method.
        text: First line of its docstring.
    """

    def operator(self: Variable, rhs: Any) -> Variable:
        return method(name)(self, rhs)

    return _described(operator, name, f"{text}\n\nReturns:\n    Variable: Output variable.")


def unary(name: str, text: str) -> Callable[[Variable], Variable]:
    """Makes the method of an operator with one operand; see :func:`binary`."""

    def operator(self: Variable) -> Variable:
        return method(name)(self)

    return _described(operator, name, f"{text}\n\nReturns:\n    Variable: Output variable.")


class UnsupportedOperatorError(TypeError, NotImplementedError):
    """Raised by operators that Variables do not support.

    Both a TypeError, as since release 5, and a NotImplementedError, as in release 4.
    """


def refused(name: str, symbol: str) -> Any:
    """Makes the method of an operator that variables do not support.

    Args:
        name: Name of the method.
        symbol: The operator.
    """

    def operator(self: Variable, other: object) -> bool:
        raise UnsupportedOperatorError(
            # The first sentences are the text of release 7.
            f"Variables do not support {symbol} operator. You could use `array` attribute instead."
            "\nCompare the 'array' attributes of both."
        )

    return _described(operator, name, "This operator is not defined for Variable.")


def _described(function: Any, name: str, text: str) -> Any:
    function.__name__ = name
    function.__qualname__ = f"Variable.{name}"
    function.__doc__ = text
    return function


def refuse_numpy_arguments(method: str, dtype: object, out: object) -> None:
    """Raises TypeError for arguments of NumPy's function that variables do not have.

    Args:
        method: Name of the method.
        dtype, out: The arguments.
    """
    for name, value in (("dtype", dtype), ("out", out)):
        if value is not None:
            raise TypeError(f"{name} of {method}() of a Variable must be None, got {value!r}")
