"""Programs: expressions as straight-line array code, and the programs of their gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from chainer.core.typing import Array, Arrays, Indexes
from chainer.functions.rules.array_functions import ArrayFunctions, array_functions
from chainer.functions.rules.formulas.symbols import (
    OPERATORS,
    Pool,
    Symbol,
    UntraceableError,
    adjoint,
    reachable,
)

_ndarray = numpy.ndarray


class Adjoint(NamedTuple):
    """The program of gradients.

    Attributes:
        program: The program; None if there are no gradients.
        inputs: Indexes of the inputs of the differentiated program that it reads. They are its
            first arguments.
        outputs: Indexes of the outputs whose gradients it reads. They are its further arguments.
        places: For each target, the index of the output that is its gradient; None where there is
            no gradient.
    """

    program: Program | None
    inputs: Indexes
    outputs: Indexes
    places: tuple[int | None, ...]

    def in_place(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns one gradient for each target."""
        if len(gradients) == len(self.places):
            return gradients
        return tuple([None if i is None else gradients[i] for i in self.places])


class Program:
    """Array code of expressions.

    Args:
        pool: The pool of all expressions.
        inputs: The inputs, in the order of the arguments.
        outputs: The expressions; None for zeros.

    Attributes:
        count: Number of inputs.
        n_operations: Number of operators and functions.
    """

    def __init__(self, pool: Pool, inputs: list[Symbol], outputs: list[Symbol | None]) -> None:
        self._pool = pool
        self._inputs = inputs
        self._outputs = outputs
        self.count = len(inputs)
        self._steps = [y for y in reachable(outputs) if y.name != "input"]
        self.n_operations = len(self._steps)
        self._adjoints: dict[tuple[Indexes, Indexes], Adjoint] = {}
        self._reads: Indexes | None = None
        #: Code for NumPy arrays that have axes; None until it is needed.
        self._in_place: Callable[..., Arrays] | None = None
        self._on_any: Callable[..., Arrays] | None = None

    def __deepcopy__(self, memo: object) -> Program:
        # Programs never change, and copies of a graph may share them.
        return self

    def run(self, xp: Any, inputs: Sequence[Array]) -> Arrays:
        """Computes the outputs.

        Args:
            xp: Array namespace.
            inputs: Arrays of one shape and of the dtype of the program.

        Returns:
            tuple: One array for each output. Without axes, NumPy has numbers in place of arrays.
        """
        if type(inputs[0]) is _ndarray and inputs[0].ndim and xp is numpy:
            code = self._in_place
            if code is None:
                code = self._in_place = self._code_in_place()
            return code(*inputs)
        if self._on_any is None:
            self._on_any = self._code_for_any()
        return self._on_any(xp, array_functions(xp), *inputs)

    # -- gradients --------------------------------------------------------------------------------

    def adjoint(self, targets: Indexes, given: Indexes) -> Adjoint:
        """Returns the program of gradients.

        Args:
            targets: Indexes of the inputs whose gradients are the outputs of that program.
            given: Indexes of the outputs that have gradients.

        Raises:
            UntraceableError: If a function has no formula for its gradient.
        """
        key = targets, given
        found = self._adjoints.get(key)
        if found is None:
            found = self._adjoints[key] = self._differentiate(targets, given)
        return found

    @property
    def reads(self) -> Indexes:
        """Indexes of the inputs that gradients depend on."""
        if self._reads is None:
            targets = tuple(range(self.count))
            self._reads = self.adjoint(targets, tuple(range(len(self._outputs)))).inputs
        return self._reads

    def _differentiate(self, targets: Indexes, given: Indexes) -> Adjoint:
        # Symbols of gradients follow the inputs. A gradient that is not given has none.
        wanted = [self._inputs[i] for i in targets]
        first = 1 + max([x.operands[0] for x in self._inputs])
        symbols = {j: self._pool.input(first + j) for j in given}
        seeds = [symbols.get(j) for j in range(len(self._outputs))]
        gradients = adjoint(self._pool, self._outputs, seeds, wanted)
        counter = itertools.count()
        is_found = [gx is not None or self._pool.has_zeros for gx in gradients]
        places = tuple([next(counter) if found else None for found in is_found])
        gradients = [gx for gx, found in zip(gradients, is_found, strict=True) if found]
        used = {id(x) for x in reachable(gradients)}
        read = tuple([i for i, x in enumerate(self._inputs) if id(x) in used])
        # The first gradient is always read, because zeros need a shape.
        seen = tuple([j for j in given if j == given[0] or id(symbols[j]) in used])
        inputs = [self._inputs[i] for i in read] + [symbols[j] for j in seen]
        program = Program(self._pool, inputs, gradients) if gradients else None
        return Adjoint(program, read, seen, places)

    # -- code -------------------------------------------------------------------------------------

    def _code_in_place(self) -> Callable[..., Arrays]:
        """Returns code for NumPy arrays. It writes to temporary arrays that are not read again."""
        functions = ArrayFunctions(numpy)
        names: dict[str, Any] = {"zeros_like": numpy.zeros_like}
        last_use = {id(x): y.number for y in self._steps for x in y.operands}
        kept = {id(y) for y in self._outputs}
        local = {id(x): f"x{i}" for i, x in enumerate(self._inputs)}
        temporary: set[int] = set()
        lines: list[str] = []
        for y in self._steps:
            arguments = [local.get(id(x)) or self._constant(names, x) for x in y.operands]
            function = getattr(numpy, y.name, None)
            name = f"y{y.number}"
            if isinstance(function, numpy.ufunc):
                if not y.is_condition:
                    free = [
                        x
                        for x in y.operands
                        if id(x) in temporary and last_use[id(x)] == y.number and id(x) not in kept
                    ]
                    if free:
                        arguments.append(local[id(free[0])])
                    temporary.add(id(y))
            else:
                function = getattr(functions, y.name)
            names[y.name] = function
            local[id(y)] = name
            lines.append(f"{name} = {y.name}({', '.join(arguments)})")
        return self._compiled(lines, local, names, "")

    def _code_for_any(self) -> Callable[..., Arrays]:
        """Returns code for arrays of any library, which may be immutable or have no axes."""
        names: dict[str, Any] = {"zeros_like": lambda x: x * 0}
        local = {id(x): f"x{i}" for i, x in enumerate(self._inputs)}
        lines: list[str] = []
        for y in self._steps:
            arguments = [local.get(id(x)) or repr(x) for x in y.operands]
            if y.name in OPERATORS:
                names[y.name] = OPERATORS[y.name]
                call = y.name
            else:
                call = f"ops.{y.name}"
            local[id(y)] = f"y{y.number}"
            lines.append(f"y{y.number} = {call}({', '.join(arguments)})")
        return self._compiled(lines, local, names, "xp, ops, ")

    def _constant(self, names: dict[str, Any], value: Any) -> str:
        # NumPy works fastest with an array without axes.
        name = f"c{len(names)}"
        names[name] = numpy.asarray(value, self._pool.dtype)
        return name

    def _compiled(
        self, lines: list[str], local: dict[int, str], names: dict[str, Any], first: str
    ) -> Callable[..., Arrays]:
        zeros = f"zeros_like(x{self.count - 1})"
        results = [zeros if y is None else local[id(y)] for y in self._outputs]
        arguments = first + ", ".join([f"x{i}" for i in range(self.count)])
        body = [*lines, f"return ({', '.join(results)},)"]
        source = f"def run({arguments}):\n    " + "\n    ".join(body)
        exec(compile(source, "<formula>", "exec"), names)
        return names["run"]


__all__ = ["Program", "UntraceableError"]
