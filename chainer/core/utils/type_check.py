"""The type-check language: expressions that are evaluated lazily and print themselves.

``in_types[0].ndim == 2`` is not a truth value but an :class:`Expr`. :func:`expect` evaluates it and
raises :class:`InvalidType` with the text of the expression if it is false. See the guide *Type
Checks*.
"""

# One file, though a long one: expressions build one another, and what evaluates and prints them is
# defined on their classes, which are public under the name of this module.

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import numpy

from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.config.configuration import config, threads
from chainer.core.typing import Array, DType, Shape

#: An :class:`Expr`, or a value that is combined with one.
Operand: TypeAlias = Any

# Precedence levels of Python's grammar, loosest first.
_COMPARE, _OR, _XOR, _AND, _SHIFT, _ADD, _MULTIPLY, _UNARY, _POWER, _CALL, _ATOM = range(11)

# As Any: some of its functions are without types.
_operator: Any = operator


class TypeInfo:
    """Type information of one array: its shape and dtype.

    Args:
        shape (tuple of int): Shape of the array.
        dtype (numpy.dtype): Data type of the array.

    Attributes:
        shape: Shape.
        dtype: Data type.
        ndim: Number of dimensions.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> info = type_check.TypeInfo(x.shape, x.dtype)
        >>> info.ndim, info.size
        (2, 6)
    """

    def __init__(self, shape: Shape, dtype: DType | None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"TypeInfo({self.shape!r}, {self.dtype!r})"


class TypeInfoTuple(tuple[Any, ...]):
    """Type information of the inputs of a function: a tuple of expressions.

    The i-th element describes the i-th input and is an :class:`Expr` that evaluates to a
    :class:`TypeInfo`.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> in_types = type_check.get_types((x,), "in_types")
        >>> print(in_types[0].ndim == 2, "and", in_types.size() == 1)
        in_types[0].ndim == 2 and in_types.size == 1
    """

    name: str

    def size(self) -> Expr:
        """Returns an expression representing the length of the tuple."""
        return Variable(len(self), f"{self.name}.size")


class LightTypeInfoTuple(tuple[Any, ...]):
    """Type information of the inputs of a function: a tuple of plain values.

    The i-th element is the :class:`TypeInfo` of the i-th input, so that comparisons give booleans.
    ``check_type_forward`` gets such a tuple first. Only if it then raises :class:`InvalidType` it
    runs again, with the :class:`TypeInfoTuple` that makes the message.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> in_types = type_check.get_light_types((x,))
        >>> in_types[0].ndim == 2, in_types.size()
        (True, 1)
    """

    def size(self) -> int:
        """Returns the number of inputs."""
        return len(self)


def get_light_types(
    data: tuple[Array, ...], *, shapes: Sequence[Any] | None = None
) -> LightTypeInfoTuple:
    """Describes arrays for a type check that makes no message.

    Args:
        data (tuple of arrays): Arrays.
        shapes (sequence of shapes): Shapes that are checked. None takes the shapes of the arrays.
            Arrays whose axes are stored in another order need it.

    Returns:
        LightTypeInfoTuple: NumPy arrays and None themselves, and the :class:`TypeInfo` of others.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> type_check.get_light_types((x,))[0].shape
        (2, 3)
    """
    _require_tuple(data)
    if shapes is not None:
        return LightTypeInfoTuple(
            [
                None if array is None else TypeInfo(shape, array.dtype)
                for array, shape in zip(data, shapes, strict=True)
            ]
        )
    return LightTypeInfoTuple(
        [
            array
            if array is None or type(array) is numpy.ndarray
            else TypeInfo(array.shape, array.dtype)
            for array in data
        ]
    )


def in_light_mode() -> bool:
    """Returns whether this thread runs ``check_type_forward`` on plain values.

    Example:
        >>> from chainer.utils import type_check
        >>> type_check.in_light_mode()
        False
    """
    return threads.state.light_type_check


@contextmanager
def light_mode() -> Generator[None, None, None]:
    """Makes :func:`expect` and :func:`make_variable` work on plain values inside the block.

    Example:
        >>> from chainer.utils import type_check
        >>> with type_check.light_mode():
        ...     type_check.make_variable(3, "n")  # the value itself
        3
    """
    state = threads.state
    outer, state.light_type_check = state.light_type_check, True
    try:
        yield
    finally:
        state.light_type_check = outer


def _require_tuple(data: object) -> None:
    # Tests of functions written for earlier releases expect this class of error.
    if not isinstance(data, (tuple, list)):
        raise AssertionError(f"data must be a tuple of arrays, got {type(data).__name__}")


def get_types(
    data: Iterable[Array],
    name: str,
    accept_none: bool = False,
    *,
    shapes: Sequence[Any] | None = None,
) -> TypeInfoTuple:
    """Describes arrays for a type check.

    Args:
        data: Tuple of arrays, or of None where ``accept_none`` allows it.
        name: Name shown in messages, usually ``'in_types'``.
        accept_none: Whether an element may be None.
        shapes: Shapes that are checked. None takes the shapes of the arrays. Arrays whose axes are
            stored in another order need it.

    Returns:
        TypeInfoTuple: One expression for each array.

    Raises:
        AssertionError: If ``data`` is not a tuple or a list.
        AttributeError: If an element is not an array.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> in_types = type_check.get_types((x,), "in_types")
        >>> type_check.expect(in_types[0].ndim == 4)
        Traceback (most recent call last):
            ...
        chainer.utils.type_check.InvalidType: Expect: in_types[0].ndim == 4
        Actual: 2 != 4
    """
    _require_tuple(data)
    for i, array in enumerate(data):
        if not (hasattr(array, "shape") or (accept_none and array is None)):
            kind = "None (of an uninitialized variable?)" if array is None else type(array).__name__
            # The class that releases raise.
            raise AttributeError(f"{name}[{i}] must be an array, got {kind}")
    infos = TypeInfoTuple(
        Variable(
            TypeInfo((), None)
            if accept_none and array is None
            else TypeInfo(array.shape if shapes is None else shapes[i], array.dtype),
            f"{name}[{i}]",
        )
        for i, array in enumerate(data)
    )
    infos.name = name
    return infos


def _text(value: Operand, priority: int) -> str:
    if isinstance(value, Expr):
        return f"({value})" if value.priority < priority else str(value)
    return str(value)


def eval(exp: Operand) -> Any:
    """Returns the value of an expression, also within tuples and lists; other objects unchanged.

    Args:
        exp: An :class:`Expr` or any value.

    Example:
        >>> from chainer.utils import type_check
        >>> type_check.eval(type_check.Variable(3, "n") + 1), type_check.eval(5)
        (4, 5)
    """
    if isinstance(exp, Expr):
        return exp.eval()
    if type(exp) in (tuple, list):
        return type(exp)([eval(part) for part in exp])
    return exp


def make_variable(value: Operand, name: str) -> Any:
    """Wraps a value so that messages show its name.

    With ``config.type_check`` off, and while a check runs on plain values, the value itself is
    returned.

    Args:
        value: Value to wrap; an expression is returned unchanged.
        name: Text that represents the value in messages.

    Example:
        >>> from chainer.utils import type_check
        >>> n = type_check.make_variable(3, "n")
        >>> print(n + 1, "=", (n + 1).eval())
        n + 1 = 4
    """
    if isinstance(value, Expr) or not config.type_check or in_light_mode():
        return value
    return Variable(value, name)


def _binary(
    symbol: str, function: Callable[[Any, Any], Any], priority: int, right: bool = False
) -> Callable[[Any, Any], BinaryOperator]:
    def build(self: Operand, other: Operand) -> BinaryOperator:
        return BinaryOperator(priority, self, other, symbol, function, right)

    build.__name__ = f"__{function.__name__.strip('_')}__"
    return build


def _reflected(
    symbol: str, function: Callable[[Any, Any], Any], priority: int, right: bool = False
) -> Callable[[Any, Any], BinaryOperator]:
    def build(self: Operand, other: Operand) -> BinaryOperator:
        return BinaryOperator(priority, other, self, symbol, function, right)

    build.__name__ = f"__r{function.__name__.strip('_')}__"
    return build


def _comparison(
    symbol: str, function: Callable[[Any, Any], bool], inverse: str
) -> Callable[[Any, Any], BoolBinaryOperator]:
    def build(self: Operand, other: Operand) -> BoolBinaryOperator:
        return BoolBinaryOperator(self, other, symbol, inverse, function)

    build.__name__ = f"__{function.__name__.strip('_')}__"
    return build


class Expr:
    """Abstract syntax tree of an expression.

    It represents a syntax tree and is not a value. :meth:`eval` returns the value, ``str()`` the
    text. Comparison and arithmetic operators build new expressions. ``and``, ``or`` and ``not``
    raise an error, because they would need the truth value at once.

    Args:
        priority (int): Precedence of the expression; decides about parentheses in the text.

    Example:
        >>> from chainer.utils.type_check import Variable
        >>> x = Variable(1, 'x')
        >>> y = Variable(1, 'y')
        >>> c = (x == y)
        >>> str(c)
        'x == y'
        >>> c.eval()
        True
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, priority: int) -> None:
        self.priority = priority

    def eval(self) -> Any:
        """Evaluates the tree and returns its value."""
        raise NotImplementedError(f"{type(self).__name__} does not define eval()")

    def __repr__(self) -> str:
        has_text = type(self).__str__ is not object.__str__  # which would call this method
        return f"{type(self).__name__}({self if has_text else ''})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols (copy, pickle, array interfaces) look these up
            raise AttributeError(name)
        return GetAttr(self, name)

    def __getitem__(self, key: Operand) -> Expr:
        return GetItem(self, key)

    def __call__(self, *args: Operand) -> Expr:
        """Makes the expression of a call of this one."""
        return Call(self, args)

    def __bool__(self) -> bool:
        raise RuntimeError(
            "Don't convert Expr to bool. Please call Expr.eval method to evaluate expression."
        )

    def __nonzero__(self) -> bool:
        return self.__bool__()

    def __iter__(self) -> Any:
        raise TypeError("an Expr cannot be iterated; call its eval method first")

    __eq__ = _comparison("==", _operator.eq, "!=")  # type: ignore[assignment]
    __ne__ = _comparison("!=", _operator.ne, "==")  # type: ignore[assignment]
    __lt__ = _comparison("<", _operator.lt, ">=")
    __le__ = _comparison("<=", _operator.le, ">")
    __gt__ = _comparison(">", _operator.gt, "<=")
    __ge__ = _comparison(">=", _operator.ge, "<")

    __add__ = _binary("+", _operator.add, _ADD)
    __radd__ = _reflected("+", _operator.add, _ADD)
    __sub__ = _binary("-", _operator.sub, _ADD)
    __rsub__ = _reflected("-", _operator.sub, _ADD)
    __mul__ = _binary("*", _operator.mul, _MULTIPLY)
    __rmul__ = _reflected("*", _operator.mul, _MULTIPLY)
    __truediv__ = _binary("/", _operator.truediv, _MULTIPLY)
    __rtruediv__ = _reflected("/", _operator.truediv, _MULTIPLY)
    __floordiv__ = _binary("//", _operator.floordiv, _MULTIPLY)
    __rfloordiv__ = _reflected("//", _operator.floordiv, _MULTIPLY)
    __mod__ = _binary("%", _operator.mod, _MULTIPLY)
    __rmod__ = _reflected("%", _operator.mod, _MULTIPLY)
    __pow__ = _binary("**", _operator.pow, _POWER, right=True)
    __rpow__ = _reflected("**", _operator.pow, _POWER, right=True)
    __lshift__ = _binary("<<", _operator.lshift, _SHIFT)
    __rlshift__ = _reflected("<<", _operator.lshift, _SHIFT)
    __rshift__ = _binary(">>", _operator.rshift, _SHIFT)
    __rrshift__ = _reflected(">>", _operator.rshift, _SHIFT)
    __and__ = _binary("&", _operator.and_, _AND)
    __rand__ = _reflected("&", _operator.and_, _AND)
    __xor__ = _binary("^", _operator.xor, _XOR)
    __rxor__ = _reflected("^", _operator.xor, _XOR)
    __or__ = _binary("|", _operator.or_, _OR)
    __ror__ = _reflected("|", _operator.or_, _OR)

    def __neg__(self) -> Expr:
        return UnaryOperator(_UNARY, self, "-", _operator.neg)

    def __pos__(self) -> Expr:
        return UnaryOperator(_UNARY, self, "+", _operator.pos)

    def __invert__(self) -> Expr:
        return UnaryOperator(_UNARY, self, "~", _operator.invert)


class Testable:
    """Base class of what :func:`expect` accepts.

    Example:
        >>> from chainer.utils import type_check
        >>> isinstance(type_check.Variable(3, "n") == 3, type_check.Testable)
        True
    """

    def expect(self) -> None:
        """Raises :class:`InvalidType` unless the condition holds; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} does not define expect()")


class Atom(Expr):
    """Expression that never needs parentheses.

    Example:
        >>> from chainer.utils import type_check
        >>> isinstance(type_check.Variable(3, "n"), type_check.Atom)
        True
    """

    def __init__(self, priority: int = _ATOM) -> None:
        super().__init__(priority)


class Constant(Atom):
    """A value, shown as itself.

    Example:
        >>> from chainer.utils import type_check
        >>> print(type_check.Constant(3) + 1)
        3 + 1
    """

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def eval(self) -> Any:
        """Returns the value."""
        return self.value

    def __str__(self) -> str:
        return repr(self.value)


class Variable(Atom):
    """An expression for a given value, shown under a given name.

    Args:
        value: The value.
        name (str): Text that represents it.

    Example:
        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, "n")
        >>> print(2 * n + 1)
        2 * n + 1
    """

    def __init__(self, value: Any, name: str) -> None:
        super().__init__()
        self.value = value
        self.name = name

    def eval(self) -> Any:
        """Returns the value."""
        return self.value

    def __str__(self) -> str:
        return self.name


class _Product(Variable):
    """The function ``prod``: a number where a check runs on plain values, else an expression."""

    def __call__(self, *args: Operand) -> Any:
        if in_light_mode():
            function: Callable[..., Any] = numpy.prod
            return function(*args)
        expression: Any = super().__call__(*args)
        return expression


#: The product of a shape, as in ``prod(in_types[0].shape)``.
prod = _Product(numpy.prod, "prod")


class GetAttr(Atom):
    """Attribute access, ``obj.name``.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = x.shape
        >>> type(expression).__name__, str(expression)
        ('GetAttr', 'x.shape')
    """

    def __init__(self, obj: Operand, name: str) -> None:
        super().__init__(_CALL)
        self.obj = obj
        self.name = name

    def eval(self) -> Any:
        """Returns the attribute; the kind of bfloat16 is ``'f'``."""
        value = getattr(eval(self.obj), self.name)
        return kind_of(eval(self.obj)) if self.name == "kind" and value == "V" else value

    def __str__(self) -> str:
        return f"{_text(self.obj, self.priority)}.{self.name}"


class GetItem(Atom):
    """Item access, ``obj[index]``, slices included.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = x.shape[0]
        >>> type(expression).__name__, str(expression)
        ('GetItem', 'x.shape[0]')
    """

    def __init__(self, obj: Operand, index: Operand) -> None:
        super().__init__(_CALL)
        self.obj = obj
        self.index = index

    def eval(self) -> Any:
        """Returns the item."""
        return eval(self.obj)[_evaluated(self.index)]

    def __str__(self) -> str:
        return f"{_text(self.obj, self.priority)}[{_index_text(self.index)}]"


def _evaluated(index: Operand) -> Any:
    if isinstance(index, slice):
        ends = cast("slice[Any, Any, Any]", index)
        return slice(eval(ends.start), eval(ends.stop), eval(ends.step))
    if isinstance(index, tuple):
        return tuple(map(eval, cast("tuple[Any, ...]", index)))
    return eval(index)


def _index_text(index: Operand) -> str:
    if isinstance(index, slice):
        part = cast("slice[Any, Any, Any]", index)
        ends = [part.start, part.stop] + ([part.step] if part.step is not None else [])
        return ":".join("" if end is None else _text(end, 0) for end in ends)
    if isinstance(index, tuple):
        items = cast("tuple[Any, ...]", index)
        text = ", ".join(map(_index_text, items))
        return text + "," if len(items) == 1 else text
    return "..." if index is Ellipsis else _argument_text(index)


def _repr(value: Any) -> str:
    """Returns the text of a value of an expression, or of nested lists and tuples of values."""
    if isinstance(value, list):
        return f"[{', '.join(map(_repr, cast('list[Any]', value)))}]"
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return f"({', '.join(map(_repr, items))}{',' if len(items) == 1 else ''})"
    return str(value) if isinstance(value, Expr) else repr(value)


def _argument_text(argument: Operand) -> str:
    return str(argument) if isinstance(argument, Expr) else repr(argument)


class Call(Atom):
    """Function call, ``function(*args)``.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = x.sum()
        >>> type(expression).__name__, str(expression)
        ('Call', 'x.sum()')
    """

    def __init__(self, function: Operand, args: tuple[Operand, ...]) -> None:
        super().__init__(_CALL)
        self.function = function
        self.args = args

    def eval(self) -> Any:
        """Calls the function with the values of the arguments."""
        return eval(self.function)(*map(eval, self.args))

    def __str__(self) -> str:
        arguments = ", ".join(map(_argument_text, self.args))
        return f"{_text(self.function, self.priority)}({arguments})"


class UnaryOperator(Expr):
    """Operator with one operand.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = -x
        >>> type(expression).__name__, str(expression)
        ('UnaryOperator', '-x')
    """

    def __init__(
        self, priority: int, term: Operand, symbol: str, function: Callable[[Any], Any]
    ) -> None:
        super().__init__(priority)
        self.term = term
        self.symbol = symbol
        self.function = function

    def eval(self) -> Any:
        """Applies the operator to the value of the operand."""
        return self.function(eval(self.term))

    def __str__(self) -> str:
        return self.symbol + _text(self.term, self.priority)


class BinaryOperator(Expr):
    """Operator with two operands; ``right`` tells that it associates to the right.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = x + 1
        >>> type(expression).__name__, str(expression)
        ('BinaryOperator', 'x + 1')
    """

    def __init__(
        self,
        priority: int,
        lhs: Operand,
        rhs: Operand,
        symbol: str,
        function: Callable[[Any, Any], Any],
        right: bool = False,
    ) -> None:
        super().__init__(priority)
        self.lhs = lhs
        self.rhs = rhs
        self.symbol = symbol
        self.function = function
        self._lhs_priority = priority + 1 if right else priority
        self._rhs_priority = priority if right else priority + 1

    def eval(self) -> Any:
        """Applies the operator to the values of the operands."""
        return self.function(eval(self.lhs), eval(self.rhs))

    def __str__(self) -> str:
        lhs = _text(self.lhs, self._lhs_priority)
        rhs = _text(self.rhs, self._rhs_priority)
        return f"{lhs} {self.symbol} {rhs}"


class BoolBinaryOperator(BinaryOperator, Testable):
    """Comparison of two values.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), "x")
        >>> expression = x.ndim == 2
        >>> type(expression).__name__, str(expression)
        ('BoolBinaryOperator', 'x.ndim == 2')
    """

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        symbol: str,
        inverse: str,
        function: Callable[[Any, Any], Any],
    ) -> None:
        super().__init__(_COMPARE, lhs, rhs, symbol, function)
        self.inverse = inverse

    def expect(self) -> None:
        """Raises :class:`InvalidType` unless the comparison holds."""
        lhs, rhs = eval(self.lhs), eval(self.rhs)
        if not self.function(lhs, rhs):
            raise InvalidType(str(self), f"{lhs} {self.inverse} {rhs}")


class InvalidType(Exception):
    """Raised when the types of the inputs of a function are not what it expects.

    Args:
        expect (str): The expected value or condition.
        actual (str): The given value.
        msg (str): Text of the error; by default it shows both.
    """

    # Tracebacks show the name that the documentation uses.
    __module__ = "chainer.utils.type_check"

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        super().__init__(f"Expect: {expect}\nActual: {actual}" if msg is None else msg)
        self.expect = expect
        self.actual = actual

    def __reduce__(self) -> Any:
        return (_restore_invalid_type, (type(self), self.expect, self.actual, self.args[0]))


def _restore_invalid_type(
    cls: type[InvalidType], expect: str, actual: str, text: str
) -> InvalidType:
    error = cls(expect, actual)
    error.args = (text,)
    return error


def expect(*bool_exprs: Operand) -> None:
    """Evaluates and tests all given expressions.

    The expressions are evaluated in order; at the first that does not hold :class:`InvalidType` is
    raised.

    Args:
        bool_exprs (tuple of Bool expressions): Comparisons to test. A plain ``bool`` is accepted,
            too.

    Raises:
        InvalidType: If a comparison does not hold; the message shows the expression and the values.

    Example:
        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, "n")
        >>> type_check.expect(n > 2, n < 5)
    """
    state = threads.state
    for expression in bool_exprs:
        if isinstance(expression, Testable):
            expression.expect()
        elif state.light_type_check:
            # The text does not matter: the check runs again on expressions, to make one.
            if not expression:
                raise InvalidType("True", str(expression))
        elif isinstance(expression, (bool, numpy.bool)):
            if not expression:
                raise InvalidType("True", "False")
        else:
            raise TypeError(
                "expect() takes comparisons of type-check expressions, "
                f"got {type(expression).__name__}"
            )


def same_types(*arrays: Array) -> bool:
    """Tells whether all arrays are NumPy arrays or all are arrays of one other backend.

    Args:
        arrays: Arrays. Objects that are not arrays are told apart by their class.

    Example:
        >>> from chainer.utils import type_check
        >>> type_check.same_types(np.zeros(2), np.zeros(3))
        True
    """
    from chainer.core.arrays.backend import find_backend

    def family(array: object) -> object:
        backend = find_backend(array.__class__)
        return array.__class__ if backend is None else backend.family

    return len({family(array) for array in arrays}) <= 1


def expect_broadcast_shapes(*shapes: Expr | tuple[int, ...]) -> None:
    """Raises :class:`InvalidType` unless the shapes can be broadcast together.

    Args:
        shapes: Shapes, or expressions that evaluate to shapes. The message shows the text of each.

    Example:
        >>> from chainer.utils import type_check
        >>> x = type_check.Variable((2, 3), "x.shape")
        >>> type_check.expect_broadcast_shapes(x, (4,))
        Traceback (most recent call last):
        chainer.utils.type_check.InvalidType: cannot broadcast inputs of the following shapes:
        x.shape = (2, 3)
        (4,) = (4,)
    """
    actual = tuple(eval(shape) for shape in shapes)
    try:
        numpy.broadcast_shapes(*actual)
    except ValueError:
        lines = [f"{shape} = {value}" for shape, value in zip(shapes, actual, strict=True)]
        text = "\n".join(["cannot broadcast inputs of the following shapes:", *lines])
        expected = "shapes that can be broadcast together"
        raise InvalidType(expected, " and ".join(map(str, actual)), msg=text) from None


def argname(in_types: TypeInfoTuple | LightTypeInfoTuple, names: tuple[str, ...]) -> None:
    """Checks the number of inputs and gives each the name of its argument.

    Args:
        in_types: Type information of the inputs.
        names (tuple of str): Names of the arguments, shown in messages.

    Example:
        >>> from chainer.utils import type_check
        >>> x = np.zeros((2, 3), np.float32)
        >>> in_types = type_check.get_types((x,), "in_types")
        >>> type_check.argname(in_types, ("x",))
        >>> print(in_types[0].ndim == 2)
        x.ndim == 2
    """
    if len(in_types) != len(names):
        expected, actual = f"{len(names)} argument(s)", f"{len(in_types)} argument(s)"
        raise InvalidType(
            expected, actual, f"Invalid number of arguments\nExpect: {expected}\nActual: {actual}"
        )
    if isinstance(in_types, LightTypeInfoTuple):
        return
    for info, name in zip(in_types, names, strict=True):
        info.name = name


# The name that function code copied from release 7 uses.
_argname = argname
