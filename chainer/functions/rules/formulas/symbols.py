"""Symbolic expressions: what rules compute when they run on symbols instead of arrays.

All arrays of an expression have one shape and one dtype, so that nothing is broadcast, summed or
cast. Equal expressions are one object. Simplifications change no value but in rounding.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy

from chainer import functions
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads, using_config
from chainer.core.typing import DType, DTypeLike

Operand: TypeAlias = "Symbol | float"
"""An expression or a number."""

#: Comparisons: their results are conditions, which have no gradients.
COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")


class UntraceableError(Exception):
    """The rule does something that is not a formula of arrays of one shape and dtype."""


class Pool:
    """All expressions of one rule and of its gradients.

    Args:
        dtype: Dtype of the arrays.
        shape: Shape of the arrays of the function whose rule is traced.
        has_zeros: Whether gradients w.r.t. what they do not depend on are zeros, and not None.
    """

    def __init__(
        self, dtype: DType, shape: tuple[int, ...] | None = None, has_zeros: bool = False
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.has_zeros = has_zeros
        self._symbols: dict[tuple[Any, ...], Symbol] = {}

    def input(self, index: int) -> Symbol:
        """Returns the symbol of an input of programs."""
        return self._make("input", (index,))

    def apply(self, name: str, *operands: Any) -> Symbol:
        """Returns the value of an operator or a function, simplified."""
        checked = [_operand(x) for x in operands]
        simplify = _SIMPLIFIED.get(name)
        if simplify is not None:
            found = simplify(self, *checked)
            if found is not None:
                return found
        return self._make(name, tuple(checked))

    def _make(self, name: str, operands: tuple[Any, ...]) -> Symbol:
        # The sign of zero and the type of a number matter: 0.0 == -0.0, and 1 == True.
        key = (name, *[id(x) if isinstance(x, Symbol) else repr(x) for x in operands])
        found = self._symbols.get(key)
        if found is None:
            found = self._symbols[key] = Symbol(self, len(self._symbols), name, operands)
        return found


class Symbol:
    """An expression.

    Rules use it as they use an array or a Variable.

    Attributes:
        number: Number in the pool: operands have smaller numbers.
        name: Name of the operator or function; ``"input"`` for an input.
        operands: Expressions and numbers; the index for an input.
    """

    __slots__ = ("name", "number", "operands", "pool")

    #: NumPy's arrays and numbers leave operators to this class.
    __array_ufunc__ = None

    def __init__(self, pool: Pool, number: int, name: str, operands: tuple[Any, ...]) -> None:
        self.pool = pool
        self.number = number
        self.name = name
        self.operands = operands

    @property
    def dtype(self) -> DType:
        return self.pool.dtype

    @property
    def is_condition(self) -> bool:
        """Whether the values are True and False."""
        return self.name in COMPARISONS

    def __bool__(self) -> NoReturn:
        raise UntraceableError("the rule branches on the values of an array")

    __hash__ = object.__hash__

    def __neg__(self) -> Symbol:
        return self.pool.apply("negative", self)

    def __abs__(self) -> Symbol:
        return self.pool.apply("absolute", self)


def _binary(name: str, is_reflected: bool = False) -> Callable[[Symbol, Any], Symbol]:
    def method(self: Symbol, other: Any) -> Symbol:
        operands = (other, self) if is_reflected else (self, other)
        return self.pool.apply(name, *operands)

    return method


for _method, _name in {"add": "add", "sub": "subtract", "mul": "multiply"}.items():
    setattr(Symbol, f"__{_method}__", _binary(_name))
    setattr(Symbol, f"__r{_method}__", _binary(_name, is_reflected=True))
for _method, _name in {"truediv": "divide", "pow": "power"}.items():
    setattr(Symbol, f"__{_method}__", _binary(_name))
    setattr(Symbol, f"__r{_method}__", _binary(_name, is_reflected=True))
for _method, _name in zip(("gt", "ge", "lt", "le", "eq", "ne"), COMPARISONS, strict=True):
    setattr(Symbol, f"__{_method}__", _binary(_name))


def _operand(x: Any) -> Operand:
    """Returns an operand as an expression or a number of Python."""
    if isinstance(x, Symbol):
        return x
    # Rules convert constants to arrays without axes. The arrays of a traced rule have axes.
    if isinstance(x, (numpy.ndarray, numpy.generic)) and x.ndim == 0:
        x = x.item()
    if isinstance(x, (bool, int, float)):
        return x
    raise UntraceableError(f"an operand is {type(x).__name__}")


# -- simplification -------------------------------------------------------------------------------


def _is_one(x: Operand) -> bool:
    return not isinstance(x, Symbol) and x == 1


def _negated(x: Operand) -> Operand | None:
    """Returns what an expression is the negative of; None if it is not a negative."""
    return x.operands[0] if isinstance(x, Symbol) and x.name == "negative" else None


def _ordered(pool: Pool, name: str, a: Operand, b: Operand) -> Symbol:
    """Makes a sum or a product, whose operands are put in one order."""
    if not isinstance(b, Symbol) or (isinstance(a, Symbol) and a.number > b.number):
        a, b = b, a
    return pool._make(name, (a, b))  # pyright: ignore[reportPrivateUsage]


def _add(pool: Pool, a: Operand, b: Operand) -> Symbol:
    minus_a, minus_b = _negated(a), _negated(b)
    if minus_b is not None:
        return pool.apply("subtract", a, minus_b)
    if minus_a is not None:
        return pool.apply("subtract", b, minus_a)
    # The same number, which may meet others.
    return _multiply(pool, a, 2) if a is b else _ordered(pool, "add", a, b)


def _subtract(pool: Pool, a: Operand, b: Operand) -> Symbol | None:
    minus_b = _negated(b)
    if minus_b is not None:
        return pool.apply("add", a, minus_b)
    # One product in place of a negative and a difference: two paths with the same factor.
    return _multiply(pool, b, -2) if b is not None and _negated(a) is b else None


def _multiply(pool: Pool, a: Operand, b: Operand) -> Symbol:
    if not isinstance(a, Symbol):
        a, b = b, a
    assert isinstance(a, Symbol)
    if _is_one(b):
        return a
    if not isinstance(b, Symbol):
        if b == -1:
            return -a
        # A product with a number inside: one number is enough.
        if a.name == "multiply" and not isinstance(a.operands[0], Symbol):
            return pool.apply("multiply", a.operands[0] * b, a.operands[1])
        minus_a = _negated(a)
        if minus_a is not None:
            return pool.apply("multiply", -b, minus_a)
        return _ordered(pool, "multiply", a, b)
    for x, y in ((a, b), (b, a)):
        minus_x = _negated(x)
        if minus_x is not None:
            return -pool.apply("multiply", minus_x, y)
        # Numbers go to the outside, where they meet.
        if x.name == "multiply" and not isinstance(x.operands[0], Symbol):
            return pool.apply("multiply", x.operands[0], pool.apply("multiply", x.operands[1], y))
    return _ordered(pool, "multiply", a, b)


def _divide(pool: Pool, a: Operand, b: Operand) -> Symbol | None:
    if isinstance(a, Symbol) and _is_one(b):
        return a
    minus_a = _negated(a)
    return None if minus_a is None else -pool.apply("divide", minus_a, b)


def _power(pool: Pool, a: Operand, b: Operand) -> Symbol | None:
    if isinstance(b, Symbol):
        raise UntraceableError("an exponent is an array")
    if not isinstance(a, Symbol):
        return None
    if _is_one(b):
        return a
    return pool.apply("multiply", a, a) if b == 2 else None


def _negative(pool: Pool, a: Operand) -> Symbol | None:
    minus_a = _negated(a)
    if isinstance(minus_a, Symbol):
        return minus_a
    if isinstance(a, Symbol) and a.name == "subtract":
        # Not for a - a: the sign of a zero does not matter in gradients of gradients.
        return pool.apply("subtract", a.operands[1], a.operands[0])
    return None


def _square(pool: Pool, a: Operand) -> Symbol:
    return pool.apply("multiply", a, a)


_SIMPLIFIED: dict[str, Callable[..., Symbol | None]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "power": _power,
    "negative": _negative,
    "square": _square,
}


# -- functions of symbols -------------------------------------------------------------------------


class SymbolFunctions:
    """The functions of ``chainer.functions`` on symbols, as far as they are elementwise."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Callable[[Symbol], Symbol]:
        # A ufunc is elementwise by definition.
        ufunc = getattr(numpy, name, None)
        if name == "sigmoid" or (isinstance(ufunc, numpy.ufunc) and ufunc.nin == ufunc.nout == 1):
            return functools.partial(self._pool.apply, name)
        raise UntraceableError(f"the rule uses {name}()")

    def cast(self, x: Symbol, dtype: DTypeLike) -> Symbol:
        """Returns the symbol if that is its dtype."""
        if numpy.dtype(dtype) != self._pool.dtype:
            raise UntraceableError("the rule casts arrays")
        return x

    def sum_to(self, x: Symbol, shape: Sequence[int]) -> Symbol:
        """Returns the symbol if that is its shape."""
        if tuple(shape) != self._pool.shape:
            raise UntraceableError("the rule sums arrays")
        return x

    def where(self, condition: Symbol, x: Operand, y: Operand) -> Symbol:
        """Returns elements of one of two expressions."""
        if not isinstance(condition, Symbol) or not condition.is_condition:
            raise UntraceableError("a condition is not a comparison")
        return self._pool.apply("where", condition, x, y)


# -- derivatives ----------------------------------------------------------------------------------


def reachable(outputs: Iterable[Symbol | None]) -> list[Symbol]:
    """Returns all expressions that the outputs consist of, operands first."""
    found: dict[int, Symbol] = {}
    pending = [y for y in outputs if y is not None]
    while pending:
        y = pending.pop()
        if y.number not in found:
            found[y.number] = y
            pending.extend([x for x in y.operands if isinstance(x, Symbol)])
    return [found[number] for number in sorted(found)]


def adjoint(
    pool: Pool,
    outputs: Sequence[Symbol | None],
    seeds: Sequence[Symbol | None],
    inputs: Sequence[Symbol],
) -> list[Symbol | None]:
    """Differentiates expressions in reverse.

    Args:
        pool: The pool of all expressions.
        outputs: The expressions; None for zero.
        seeds: Gradient of each expression; None where there is none.
        inputs: The inputs to differentiate with respect to.

    Returns:
        list: The gradient of each input; None for zero.
    """
    gradients: dict[int, Symbol] = {}

    def collect(x: Operand, gradient: Symbol | None) -> None:
        if isinstance(x, Symbol) and gradient is not None:
            sum_so_far = gradients.get(x.number)
            gradients[x.number] = (
                gradient if sum_so_far is None else pool.apply("add", sum_so_far, gradient)
            )

    differentiated = [y if seed is not None else None for y, seed in zip(outputs, seeds)]
    for y, seed in zip(outputs, seeds, strict=True):
        if y is not None:
            collect(y, seed)
    for y in reversed(reachable(differentiated)):
        gradient = gradients.get(y.number)
        if gradient is None or y.name == "input" or y.is_condition:
            continue
        partials = _PARTIALS.get(y.name) or _partials_of_function
        for x, gx in zip(y.operands, partials(pool, y, gradient, *y.operands), strict=True):
            collect(x, gx)
    return [gradients.get(x.number) for x in inputs]


Partials = tuple["Symbol | None", ...]


def _partials_of_quotient(pool: Pool, y: Symbol, g: Symbol, a: Any, b: Any) -> Partials:
    ga = pool.apply("divide", g, b)
    return (ga, -pool.apply("multiply", ga, y) if isinstance(b, Symbol) else None)


def _partials_of_power(pool: Pool, y: Symbol, g: Symbol, a: Any, b: Any) -> Partials:
    # x ** 0 is constant at x = 0, too, where 0 * x ** -1 would be NaN.
    return (pool.apply("multiply", g, 0.0) if b == 0 else a ** (b - 1) * b * g, None)


def _partials_of_choice(pool: Pool, y: Symbol, g: Symbol, c: Any, a: Any, b: Any) -> Partials:
    return (None, pool.apply("where", c, g, 0.0), pool.apply("where", c, 0.0, g))


_PARTIALS: dict[str, Callable[..., Partials]] = {
    "add": lambda pool, y, g, a, b: (g, g),
    "subtract": lambda pool, y, g, a, b: (g, -g),
    "multiply": lambda pool, y, g, a, b: (g * b, g * a),
    "negative": lambda pool, y, g, a: (-g,),
    "divide": _partials_of_quotient,
    "power": _partials_of_power,
    "where": _partials_of_choice,
}


def _partials_of_function(pool: Pool, y: Symbol, g: Symbol, x: Symbol) -> Partials:
    """Evaluates the differentiation rule of the function itself, so that it is written once."""
    node = _node_of(y.name)
    if node is None:
        return (None,)
    values = [x] * len(node.retained_inputs) + [y] * len(node.retained_outputs)
    return (node.gradients(SymbolFunctions(pool), (0,), *values, g)[0],)


@functools.cache
def _node_of(name: str) -> Any:
    """Returns a node of the graph that applies a function; None if it has no gradient."""
    state = threads.state
    hooks = state.hooks
    try:
        state.hooks = {}  # hooks of programs are not meant for this call
        with using_config("enable_backprop", True):
            # Any point where functions are defined will do.
            x = Variable(numpy.full(1, 0.5))
            node = getattr(functions, name)(x).creator_node
    finally:
        state.hooks = hooks
    if node is None or node.inputs is None:
        return None
    if node.inputs != (x.node,) or not hasattr(node, "gradients"):
        raise UntraceableError(f"{name}() has no rule of its own")
    return node


#: Operators of Python that compute on arrays of any library.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "negative": operator.neg,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
