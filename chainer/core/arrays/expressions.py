"""Expressions: numbers of a recorded step as formulas of counters and hyperparameters.

A recorded step computes numbers such as the bias-corrected learning rate of Adam anew in each call,
by Python code. A file of the step has no code, so that it holds the formula. The formula is found
by running the code on expressions in place of numbers: they know operators, and functions that
:func:`chainer.core.arrays.recorder.computed` applies. Code that does something else with a number,
such as a comparison, raises an error, because the formula would lose it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, cast

from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber

#: Functions that a file can name.
_FUNCTIONS: dict[Callable[..., Any], str] = {
    math.sqrt: "sqrt",
    math.exp: "exp",
    math.log: "log",
    math.sin: "sin",
    math.cos: "cos",
    math.tanh: "tanh",
    abs: "abs",
    float: "float",
}

#: A number, or a list of an operator and its operands.
Formula = Any


class Expression:
    """A number that is computed from others; see the module.

    Args:
        formula: A number, or a list of the name of an operator and its operands.

    Attributes:
        formula: The same, without expressions in it.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def mapped(self, function: Callable[..., Any]) -> Expression:
        """Applies a function of one number.

        Raises:
            NotRecordableError: If a file cannot name the function.
        """
        return Expression([name_of(function), self.formula])

    def _refuse(self, *_: object) -> NoReturn:
        raise NotRecordableError(
            "it does something with a number that depends on the count of updates or on a "
            "hyperparameter which a formula cannot express, such as a comparison"
        )

    __bool__ = __int__ = __float__ = __index__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __floordiv__ = __mod__ = __divmod__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        self._refuse()

    def __neg__(self) -> Expression:
        return Expression(["neg", self.formula])

    def __abs__(self) -> Expression:
        return Expression(["abs", self.formula])


class CountExpression(Expression):
    """The number of updates, which is positive in a step."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and other < 1:  # rules ask whether there was an update
            return False
        self._refuse()

    __hash__ = None  # type: ignore[assignment]


def _binary(name: str, is_reflected: bool) -> Callable[..., Any]:
    def method(self: Expression, other: object) -> Any:
        if not isinstance(other, (int, float, Expression)):
            return NotImplemented
        operands = [self.formula, formula_of(other)]
        return Expression([name, *(operands[::-1] if is_reflected else operands)])

    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Expression, f"__{_name}__", _binary(_name, False))
    setattr(Expression, f"__r{_name}__", _binary(_name, True))


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a function of one number; refuses others."""
    name = _FUNCTIONS.get(function)
    if name is None:
        called = getattr(function, "__qualname__", repr(function))
        raise NotRecordableError(f"it computes a number by {called}(), which a file cannot name")
    return name


def formula_of(
    number: object, base: Callable[[Callable[[], float]], Formula] | None = None
) -> Formula:
    """Returns the formula of a number.

    Args:
        number: A plain number, an expression, or a number of a recording.
        base: Returns the formula of a number of a recording by the function that computes it.
    """
    if isinstance(number, Expression):
        return number.formula
    if not isinstance(number, VaryingNumber) or base is None:
        plain = cast(Any, number)
        return int(plain) if isinstance(plain, int) else float(plain)
    if number.origin is None:
        return base(number.source)
    function, operands = number.origin
    found = [formula_of(operand, base) for operand in operands]
    if not isinstance(function, str):
        return [name_of(function), *found]
    name = function.strip("_")
    # The names of reflected operators begin with an r, and no others do.
    return [name[1:], *found[::-1]] if name.startswith("r") else [name, *found]
