"""Evaluates copies of equations all at once."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from chainer_jax.loops.copies import Copies, Inner, Same, Varying
from chainer_jax.loops.simplify import Equation, is_literal

if TYPE_CHECKING:
    from chainer.typing import Array


class _Stacked(NamedTuple):
    """A value of one copy: an element of a stack."""

    stack: Any
    position: int


class _Value(NamedTuple):
    """The values of an output in all copies.

    Attributes:
        array: The value that all have, or a stack.
        is_stack: Whether it is a stack.
    """

    array: Any
    is_stack: bool


class Values:
    """Values of the variables of a program."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}

    def __setitem__(self, variable: Any, value: Array) -> None:
        self._values[variable] = value

    def __getitem__(self, x: Array) -> Any:
        if is_literal(x):
            return numpy.asarray(x.val, x.aval.dtype) if hasattr(x.val, "dtype") else x.val
        value = self._values[x]
        if isinstance(value, _Stacked):
            value = self._values[x] = lax.index_in_dim(value.stack, value.position, keepdims=False)
        return value

    def stack(self, xs: Sequence[Any]) -> Any:
        """Returns a stack of values; parts of other stacks, also backwards, are taken whole.

        Args:
            xs: Variables and literals of one shape.
        """
        if is_literal(xs[0]):
            return jnp.asarray(numpy.array([x.val for x in xs], xs[0].aval.dtype))
        pieces, at = [], 0
        while at < len(xs):
            value = self._values[xs[at]]
            if not isinstance(value, _Stacked):
                pieces.append(value[None])
                at += 1
                continue
            stop = at + 1
            direction = 0
            while stop < len(xs):
                following = self._values[xs[stop]]
                if not isinstance(following, _Stacked) or following.stack is not value.stack:
                    break
                step = following.position - value.position - direction * (stop - at - 1)
                if step not in (1, -1) or direction not in (0, step):
                    break
                direction = step
                stop += 1
            pieces.append(_part(value.stack, value.position, stop - at, direction))
            at = stop
        return pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)


def _part(stack: Any, start: int, count: int, direction: int) -> Any:
    """Returns elements of a stack, one after the other or backwards."""
    if direction >= 0:
        return lax.slice_in_dim(stack, start, start + count)
    part = lax.slice_in_dim(stack, start - count + 1, start + 1)
    return lax.rev(part, (0,))


class Evaluation:
    """Evaluates copies.

    Args:
        copies: The copies.
        values: Values of the variables so far. The values of the outputs are added.
        definitions: The equation that computes each variable.
        used_outside: Variables that other equations than the copies use.
    """

    def __init__(
        self,
        copies: Copies,
        values: Values,
        definitions: dict[Any, Equation],
        used_outside: frozenset[Any],
    ) -> None:
        self._copies = copies
        self._used_outside = used_outside
        self._values = values
        self._definitions = definitions
        self._first = copies.equations[0]
        self._found: dict[tuple[int, int], _Value] = {}

    def run(self) -> None:
        """Computes all outputs."""
        for group in _in_order(self._copies):
            if len(group) == 1 and not self._is_loop(group):
                self._evaluate(group[0])
            elif not (len(group) == 1 and self._add_up(group[0])):
                self._loop(group)
        for (number, output), value in self._found.items():
            for i, copy in enumerate(self._copies.equations):
                variable = copy[number].outputs[output]
                self._values[variable] = _Stacked(value.array, i) if value.is_stack else value.array

    def _is_loop(self, group: list[int]) -> bool:
        (number,) = group
        return any(isinstance(x, Inner) and x.number == number for x in self._copies.inputs[number])

    # -- what does not depend on the copy before --------------------------------------------------

    def _stack_of(self, value: _Value) -> Any:
        if value.is_stack:
            return value.array
        array = jnp.asarray(value.array)
        return jnp.broadcast_to(array, (self._copies.count, *array.shape))

    def _input(self, x: Same | Varying | Inner) -> _Value:
        if isinstance(x, Same):
            return _Value(self._values[x.x], False)
        if isinstance(x, Varying):
            return _Value(self._values.stack(x.xs), True)
        found = self._found[x.number, x.output]
        if not x.lag:
            return found
        rest = lax.slice_in_dim(self._stack_of(found), 0, self._copies.count - x.lag)
        return _Value(jnp.concatenate([self._values.stack(x.first), rest]), True)

    def _evaluate(self, number: int) -> None:
        """Evaluates an equation of all copies."""
        equation = self._first[number]
        inputs = [self._input(x) for x in self._copies.inputs[number]]
        if self._differ(number):
            outputs = [self._slices(number, inputs[0])]
            is_stack = True
        elif is_stack := any(x.is_stack for x in inputs):
            axes = [0 if x.is_stack else None for x in inputs]
            outputs = jax.vmap(equation.bind, axes)(*[x.array for x in inputs])
        else:
            outputs = equation.bind(*[x.array for x in inputs])
        for place, output in enumerate(outputs):
            self._found[number, place] = _Value(output, is_stack)

    def _differ(self, number: int) -> bool:
        """Returns whether an equation takes another slice in each copy."""
        if self._first[number].name != "slice":
            return False
        parameters = self._first[number].source.params
        return any(copy[number].source.params != parameters for copy in self._copies.equations)

    def _slices(self, number: int, value: _Value) -> Any:
        """Returns the stack of slices that differ: ``x[0]``, ``x[1]`` and so on."""
        equations = [copy[number] for copy in self._copies.equations]
        starts = numpy.array([e.source.params["start_indices"] for e in equations])
        steps = numpy.diff(starts, axis=0)
        shape = equations[0].outputs[0].aval.shape
        follow = (steps == steps[0]).all() and not value.is_stack
        if follow and shape[0] == 1 and abs(steps[0][0]) == 1 and not steps[0][1:].any():
            low = starts.min(axis=0)
            high = low + shape
            high[0] = low[0] + len(starts)
            strides = equations[0].source.params["strides"]
            if strides is None:
                array = lax.slice(value.array, low.tolist(), high.tolist())
                if steps[0][0] < 0:
                    array = lax.rev(array, (0,))
                return array[:, None]
        parts = []
        for i, equation in enumerate(equations):
            (part,) = equation.bind(value.array[i] if value.is_stack else value.array)
            parts.append(part)
        return jnp.stack(parts)

    # -- sums -------------------------------------------------------------------------------------

    def _add_up(self, number: int) -> bool:
        """Computes a sum that each copy adds one term to; returns False if it is something else.

        Only the sum after the last copy may be used, as in gradients of weights.
        """
        equation, inputs = self._first[number], self._copies.inputs[number]
        if equation.name not in ("add", "add_any"):
            return False
        own = [x for x in inputs if isinstance(x, Inner) and x.number == number]
        others = [x for x in inputs if x not in own]
        if len(own) != 1 or own[0].lag != 1 or len(others) != 1 or self._is_used(number):
            return False
        start = self._values[own[0].first[0]]
        total = self._total(others[0]) if isinstance(others[0], Inner) else None
        if total is None:
            # The terms exist as a stack: one reduction replaces the additions of all copies.
            total = self._stack_of(self._input(others[0])).sum(0, dtype=start.dtype)
        last = self._copies.equations[-1][number].outputs[0]
        self._values[last] = start + total.astype(start.dtype)
        return True

    def _is_used(self, number: int) -> bool:
        """Returns whether anything but the next copy uses a sum before the last copy's sum."""
        outputs = {copy[number].outputs[0] for copy in self._copies.equations[:-1]}
        inside = any(
            isinstance(x, Inner) and x.number == number
            for q, row in enumerate(self._copies.inputs)
            for x in row
            if q != number
        )
        return inside or not outputs.isdisjoint(self._used_outside)

    def _total(self, term: Inner) -> Any:
        """Returns the sum of terms over the copies without computing them; None if unknown."""
        if term.lag:
            return None
        equation, inputs = self._first[term.number], self._copies.inputs[term.number]
        if equation.name == "transpose" and isinstance(inputs[0], Inner):
            total = self._total(inputs[0])
            return total if total is None else equation.bind(total)[0]
        if equation.name == "dot_general":
            return self._sum_of_products(equation, *map(self._input, inputs))
        if equation.name == "scatter-add" and self._is_zero(inputs[0]):
            return self._scattered(equation, *map(self._input, inputs))
        return None

    def _sum_of_products(self, equation: Equation, first: _Value, second: _Value) -> Any:
        parameters = equation.source.params
        (left, right), (batch, _) = parameters["dimension_numbers"]
        if not (first.is_stack and second.is_stack) or batch:
            return None
        # A sum of products over the copies is one product that also contracts the axis of the
        # stacks.
        contracted = (0, *[i + 1 for i in left]), (0, *[i + 1 for i in right])
        return lax.dot_general(
            first.array,
            second.array,
            (contracted, ((), ())),
            precision=parameters["precision"],
            preferred_element_type=parameters["preferred_element_type"],
        )

    def _is_zero(self, x: Same | Varying | Inner) -> bool:
        if not isinstance(x, Same) or is_literal(x.x):
            return False
        definition = self._definitions.get(x.x)
        if definition is None or definition.name != "broadcast_in_dim":
            return False
        source = definition.inputs[0]
        return is_literal(source) and not source.val

    def _scattered(self, equation: Equation, zeros: _Value, *rest: _Value) -> Any:
        """Returns the sum of updates of zeros: all updates of the same zeros."""
        indices, updates = rest
        numbers = equation.source.params["dimension_numbers"]
        if numbers.operand_batching_dims or numbers.scatter_indices_batching_dims:
            return None
        if not (indices.is_stack and updates.is_stack) or indices.array.ndim != 3:
            return None
        windows = numbers.update_window_dims
        (axis,) = set(range(updates.array.ndim - 1)) - set(windows)
        merged = jnp.moveaxis(updates.array, 0, axis)
        shape = merged.shape
        merged = merged.reshape(*shape[:axis], -1, *shape[axis + 2 :])
        places = indices.array.reshape(-1, indices.array.shape[2])
        return equation.bind(zeros.array, places, merged)[0]

    # -- what depends on the copy before ----------------------------------------------------------

    def _loop(self, group: list[int]) -> None:
        """Evaluates equations that depend on the copy before: ``lax.scan``."""
        copies, inside = self._copies, set(group)
        if any(self._differ(number) for number in group):
            raise DifferError
        lags = self._lags(inside)
        outside = {
            (number, place): self._input(x)
            for number in group
            for place, x in enumerate(copies.inputs[number])
            if not (isinstance(x, Inner) and x.number in inside)
        }
        stacks = {key: value.array for key, value in outside.items() if value.is_stack}
        # For each variable its values in the last copies, the oldest first.
        carry = {
            key: tuple([self._initial(key, x) for x in first]) for key, (_, first) in lags.items()
        }

        def argument(x: Array, place: tuple[int, int], carry: Any, given: Any, now: Any) -> Any:
            if isinstance(x, Inner) and x.number in inside:
                key = x.number, x.output
                # The newest value of a carry is its last one.
                return carry[key][-x.lag] if x.lag else now[key]
            return given[place] if place in given else outside[place].array

        def step(carry: Any, given: Any) -> Any:
            now: dict[tuple[int, int], Any] = {}
            for number in group:
                arguments = [
                    argument(x, (number, place), carry, given, now)
                    for place, x in enumerate(copies.inputs[number])
                ]
                for output, value in enumerate(self._first[number].bind(*arguments)):
                    now[number, output] = value
            following = {key: (*old[1:], now[key]) for key, old in carry.items()}
            return following, {key: now[key] for key in wanted}

        wanted = self._wanted(inside)
        _, found = lax.scan(step, carry, stacks, length=copies.count)
        for key, stack in found.items():
            self._found[key] = _Value(stack, True)

    def _lags(self, inside: set[int]) -> dict[tuple[int, int], tuple[int, list[Any]]]:
        """Returns how many copies before each output of a loop is needed, and its first values."""
        lags: dict[tuple[int, int], tuple[int, list[Any]]] = {}
        for number in inside:
            for x in self._copies.inputs[number]:
                if isinstance(x, Inner) and x.number in inside and x.lag:
                    key = x.number, x.output
                    if key not in lags or lags[key][0] < x.lag:
                        lags[key] = x.lag, x.first
        return lags

    def _initial(self, key: tuple[int, int], x: Array) -> Any:
        return jnp.asarray(self._values[x], self._first[key[0]].outputs[key[1]].aval.dtype)

    def _wanted(self, inside: set[int]) -> list[tuple[int, int]]:
        """Returns the outputs of a loop that others use."""
        used = {
            (x.number, x.output)
            for number, row in enumerate(self._copies.inputs)
            if number not in inside
            for x in row
            if isinstance(x, Inner)
        }
        return [
            (number, place)
            for number in sorted(inside)
            for place in range(len(self._first[number].outputs))
            if (number, place) in used
            or any(
                copy[number].outputs[place] in self._used_outside for copy in self._copies.equations
            )
        ]


class DifferError(Exception):
    """Copies of a loop take different slices."""


def _in_order(copies: Copies) -> list[list[int]]:
    """Returns groups of equations, each after those it depends on.

    Equations that depend on each other, through the copies before, are one group.
    """
    edges = [
        (x.number, number)
        for number, row in enumerate(copies.inputs)
        for x in row
        if isinstance(x, Inner)
    ]
    size = len(copies.inputs)
    rows, columns = zip(*edges, strict=True) if edges else ((), ())
    graph = coo_matrix((numpy.ones(len(edges)), (rows, columns)), (size, size))
    count, labels = connected_components(graph, connection="strong")
    groups: list[list[int]] = [[] for _ in range(count)]
    for number, label in enumerate(labels.tolist()):
        groups[label].append(number)
    before: dict[int, set[int]] = {label: set() for label in range(count)}
    for first, second in edges:
        if labels[first] != labels[second]:
            before[int(labels[second])].add(int(labels[first]))
    return [groups[label] for label in TopologicalSorter(before).static_order()]


def run(equations: Sequence[Equation], values: Values) -> None:
    """Evaluates equations one after the other."""
    for equation in equations:
        outputs = equation.bind(*[values[x] for x in equation.inputs])
        for variable, value in zip(equation.outputs, outputs, strict=True):
            values[variable] = value
