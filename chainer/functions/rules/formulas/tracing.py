"""Programs of rules: a rule runs once on symbols, for all nodes of its class."""

# The guards are read from function nodes, the base class of all rules.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.typing import DType, Indexes
from chainer.functions.rules.formulas.programs import Program
from chainer.functions.rules.formulas.symbols import Pool, Symbol, SymbolFunctions, UntraceableError

#: Largest number of programs of a class. A rule with an attribute that differs from call to call,
#: such as a coefficient, would fill the memory.
LIMIT = 64

_ABSENT = object()


class Programs:
    """The programs of the rule of one class.

    A program depends on the attributes of the node that the rule reads. These are observed while
    the rule is traced. Nodes with other values of them get programs of their own.

    Args:
        has_zeros: Whether gradients of these gradients, w.r.t. what they do not depend on, are
            zeros, and not None.
    """

    def __init__(self, has_zeros: bool = False) -> None:
        self._has_zeros = has_zeros
        self._programs: dict[tuple[Any, ...], Program | None] = {}
        #: Names of the attributes that rules have read.
        self._guards: tuple[str, ...] = ()
        #: Whether no node of the class has a program: the rule is not a formula, whatever the
        #: attributes are, or the operators of Variables need no more nodes.
        self.is_hopeless = False

    def find(
        self, node: Any, targets: Indexes, given: Indexes, values: Sequence[Any], dtype: DType
    ) -> Program | None:
        """Returns the program of the gradients of a node; None if its rule is not a formula.

        Args:
            node: The node, with a method ``gradients``.
            targets: Indexes of the inputs whose gradients are required.
            given: Indexes of the outputs that have gradients.
            values: What the rule gets: values and then gradients, or None.
            dtype: Dtype of all of them.
        """
        key: tuple[Any, ...] = (targets, given, dtype)
        if self._guards:
            key += tuple([_guard(node, name) for name in self._guards])
        try:
            return self._programs[key]
        except KeyError:
            return self._trace(node, targets, given, values, dtype)
        except TypeError:  # the value of an attribute is not hashable
            return None

    def _trace(
        self, node: Any, targets: Indexes, given: Indexes, values: Sequence[Any], dtype: DType
    ) -> Program | None:
        shape = next(x.shape for x in values if x is not None)
        if not shape or len(self._programs) >= LIMIT:
            return None
        observed: dict[str, Any] = {}
        try:
            pool = Pool(dtype, shape, self._has_zeros)
            program = _program_of(_observer(node, observed), targets, values, pool)
        except Exception:
            # A rule may do anything with what it takes for an array. Whatever it raises, it is
            # evaluated on Variables instead, as if there were no formulas.
            program = None
        if not observed.keys() <= set(self._guards):
            self._guards = tuple(sorted({*self._guards, *observed}))
            self._programs.clear()
        elif program is None and not self._guards and len(targets) == len(node.input_nodes):
            self.is_hopeless = True
        key = (targets, given, dtype, *[_guard(node, name) for name in self._guards])
        try:
            self._programs[key] = program
        except TypeError:
            return None
        return program


def _program_of(node: Any, targets: Indexes, values: Sequence[Any], pool: Pool) -> Program | None:
    """Runs a rule on symbols.

    Returns:
        Program: The program, or None if the operators of Variables need no more nodes than it.
    """
    inputs: list[Symbol] = []
    symbols: list[Symbol | None] = []
    for value in values:
        symbol = None if value is None else pool.input(len(inputs))
        symbols.append(symbol)
        if symbol is not None:
            inputs.append(symbol)
    outputs = list(node.gradients(SymbolFunctions(pool), targets, *symbols))
    if len(outputs) != len(targets) or not all([isinstance(y, Symbol) for y in outputs]):
        raise UntraceableError("the rule returns something else")
    program = Program(pool, inputs, outputs)
    _ = program.reads  # raises an error if a function in it has no formula
    return program if program.n_operations > len(targets) else None


def _guard(node: Any, name: str) -> Any:
    value = getattr(node, name, _ABSENT)
    if isinstance(value, numpy.ndarray) and value.ndim == 0:
        value = value[()]
    # 1, 1.0 and True are equal, but a rule may treat them differently.
    return type(value), value


def _observer(node: FunctionNode, observed: dict[str, Any]) -> Any:
    """Returns a copy of a node that notes which attributes of its own are read."""
    kind = type(node)

    def read(self: Any, name: str) -> Any:
        value = object.__getattribute__(self, name)
        # Methods are the same for all nodes of the class. So is what a property computes, except
        # for the attributes that it reads here. The graph around a node has the one shape.
        if name.startswith("__") or hasattr(FunctionNode, name):
            return value
        if isinstance(value, (MethodType, FunctionType)) or isinstance(
            getattr(kind, name, None), property
        ):
            return value
        observed[name] = value
        return value

    observing: Any = type(kind.__name__, (kind,), {"__getattribute__": read})
    copied = object.__new__(observing)
    copied.__dict__.update(node.__dict__)
    return copied
