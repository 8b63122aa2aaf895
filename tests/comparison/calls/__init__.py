"""Random calls of all functions; the same in every process, Python release and NumPy release."""

from __future__ import annotations

from tests.comparison.calls import (
    activation,
    array,
    connection,
    elementary,
    loss,
    normalization,
    pooling,
    reduction,
)
from tests.comparison.calls.draw import Call, Draw

_TABLES = (activation, array, connection, elementary, loss, normalization, pooling, reduction)

#: Name of a function -> what draws its arguments.
GENERATORS = {}
for _table in _TABLES:
    GENERATORS.update(_table.GENERATORS)


def names():
    """Returns the names of all functions that are called, in a fixed order."""
    return sorted(GENERATORS)


def make_call(number):
    """Returns the call of that number.

    Args:
        number: Any integer from 0. One after the other, they go through all functions.
    """
    every = names()
    name = every[number % len(every)]
    draw = Draw(number)
    args, kwargs = GENERATORS[name](draw)
    args, kwargs = draw.disturb(args, kwargs)
    call = Call(number, name, args, kwargs)
    if name.startswith("lambda") and call.inputs():
        # Without a Variable an operator would be that of NumPy.
        call.inputs()[0].variable = True
    return call


__all__ = ["GENERATORS", "Call", "Draw", "make_call", "names"]
