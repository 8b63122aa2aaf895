"""Operators and methods of variables that are differentiable functions.

The functions belong to packages above the core. The first call of a method looks its function up in
the registry of variable methods, and replaces the method by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from chainer.core.registry import registries
from chainer.core.utils.argument import explained_keywords

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Axis, VariableLike


def _method(name: str) -> Callable[..., Any]:
    """Looks up the function of an operator or method, and replaces the method by it."""
    function = registries.variable_methods.get(name)
    _lookups.setdefault(name, vars(VariableOperators)[name])
    setattr(VariableOperators, name, function)
    if registries.variable_methods.get(name) is not function:  # another thread replaced it
        _look_up_again(name)
        return _method(name)
    return function


#: The first methods of this class by name, which look the function up.
_lookups: dict[str, Any] = {}


def _look_up_again(name: str) -> None:
    """Restores the look-up of a method, because its function was replaced in the registry."""
    lookup = _lookups.get(name)
    if lookup is not None:
        setattr(VariableOperators, name, lookup)


registries.variable_methods.add_listener(_look_up_again)


def _binary(name: str, text: str) -> Callable[[Variable, Any], Variable]:
    def method(self: Variable, rhs: Any) -> Variable:
        return _method(name)(self, rhs)

    method.__name__ = name
    method.__qualname__ = f"Variable.{name}"
    method.__doc__ = f"{text}\n\nReturns:\n    Variable: Output variable."
    return method


def _unary(name: str, text: str) -> Callable[[Variable], Variable]:
    def method(self: Variable) -> Variable:
        return _method(name)(self)

    method.__name__ = name
    method.__qualname__ = f"Variable.{name}"
    method.__doc__ = f"{text}\n\nReturns:\n    Variable: Output variable."
    return method


class UnsupportedOperatorError(TypeError, NotImplementedError):
    """Raised by operators that Variables do not support.

    Both a TypeError, as since release 5, and a NotImplementedError, as in release 4.
    """


def _refused(name: str, symbol: str) -> Any:
    def method(self: Variable, other: object) -> bool:
        raise UnsupportedOperatorError(
            f"Variables do not support the {symbol} operator; compare their 'array' attributes "
            "instead"
        )

    method.__name__ = name
    method.__qualname__ = f"Variable.{name}"
    method.__doc__ = "This operator is not defined for Variable."
    return method


def _refuse_numpy_arguments(method: str, dtype: object, out: object) -> None:
    """Raises TypeError for arguments of NumPy's function that variables do not have."""
    for name, value in (("dtype", dtype), ("out", out)):
        if value is not None:
            raise TypeError(f"{name} of {method}() of a Variable must be None, got {value!r}")


class VariableOperators:
    """Operators of :class:`~chainer.Variable`, and the comparison operators it refuses."""

    __slots__ = ()

    def __getitem__(self, slices: Any) -> Variable:
        """Extracts elements; see :func:`chainer.functions.get_item`.

        Args:
            slices: int, slice, Ellipsis, None, integer or boolean array-like, or a tuple of them.

        Returns:
            Variable: The selected elements.
        """
        return _method("__getitem__")(self, slices)

    def reshape(self, *shape: Any) -> Variable:
        """Returns a variable of a different shape and the same content.

        See :func:`chainer.functions.reshape`. The lengths may be given as a tuple or one by one.
        """
        return _method("reshape")(self, *shape)

    def transpose(self, *axes: Any) -> Variable:
        """Permutes the dimensions without copy.

        See :func:`chainer.functions.transpose`. The axes may be given as a tuple or one by one.
        """
        return _method("transpose")(self, *axes)

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
        _refuse_numpy_arguments("mean", dtype, out)
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
        _refuse_numpy_arguments("sum", dtype, out)
        return registries.functions.get("sum")(self, axis, keepdims)

    @property
    def T(self) -> Variable:
        """Transposition of this variable."""
        return self.transpose()

    def __pos__(self) -> Self:
        """Returns the variable itself."""
        return self

    __neg__ = _unary("__neg__", "Element-wise negation.")
    __abs__ = _unary("__abs__", "Element-wise absolute value.")
    __add__ = _binary("__add__", "Element-wise addition.")
    __radd__ = _binary("__radd__", "Element-wise addition.")
    __sub__ = _binary("__sub__", "Element-wise subtraction.")
    __rsub__ = _binary("__rsub__", "Element-wise subtraction.")
    __mul__ = _binary("__mul__", "Element-wise product.")
    __rmul__ = _binary("__rmul__", "Element-wise product.")
    __truediv__ = _binary("__truediv__", "Element-wise division.")
    __rtruediv__ = _binary("__rtruediv__", "Element-wise division.")
    __floordiv__ = _binary("__floordiv__", "Element-wise floor division.")
    __rfloordiv__ = _binary("__rfloordiv__", "Element-wise floor division.")
    __pow__ = _binary("__pow__", "Element-wise power function.")
    __rpow__ = _binary("__rpow__", "Element-wise power function.")
    __matmul__ = _binary("__matmul__", "Matrix multiplication.")
    __rmatmul__ = _binary("__rmatmul__", "Matrix multiplication.")

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

    # -- refused ----------------------------------------------------------------------------------

    __hash__ = None  # type: ignore[assignment]

    __eq__ = _refused("__eq__", "==")
    __ne__ = _refused("__ne__", "!=")
    __lt__ = _refused("__lt__", "<")
    __le__ = _refused("__le__", "<=")
    __gt__ = _refused("__gt__", ">")
    __ge__ = _refused("__ge__", ">=")

    def __bool__(self) -> bool:
        """This operator is not defined for Variable."""
        raise UnsupportedOperatorError(
            "the truth value of a Variable is not defined; use its 'array' attribute instead"
        )

    def __nonzero__(self) -> bool:
        """This operator is not defined for Variable."""
        return self.__bool__()
