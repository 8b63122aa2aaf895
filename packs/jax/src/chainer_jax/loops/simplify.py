"""Equations of a program without those that repeat another one, or have no use."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy
from jax.extend.core import Literal

if TYPE_CHECKING:
    from chainer.typing import Array

#: Operations that compute nothing.
_MOVES = frozenset(
    ("slice", "transpose", "reshape", "broadcast_in_dim", "convert_element_type", "squeeze")
)

#: Parameters of ``slice`` that may differ between copies: ``x[0]``, ``x[1]`` and so on.
_PLACES = frozenset(("start_indices", "limit_indices"))


@dataclass
class Equation:
    """An equation of a program.

    Attributes:
        source: The equation of JAX.
        inputs: Variables and literals.
        outputs: Variables.
        kind: Parts that all copies of the equation share: the operation, shapes and dtypes.
        has_effects: Whether it does more than to compute its outputs.
    """

    source: Any
    inputs: list[Any]
    outputs: list[Any]
    kind: Hashable
    has_effects: bool

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.source.primitive.name

    def bind(self, *values: Array) -> list[Any]:
        """Returns the outputs.

        Args:
            values: Values of the inputs.
        """
        primitive = self.source.primitive
        found = primitive.get_bind_params(self.source.params)
        # Releases of JAX before 0.10 return functions besides the parameters.
        functions, parameters = found if isinstance(found, tuple) else ((), found)
        with self.source.ctx.manager:
            found = primitive.bind(*functions, *values, **parameters)
        return list(found) if primitive.multiple_results else [found]


def is_literal(x: Array) -> bool:
    """Returns whether an input of an equation is a number instead of a variable.

    Args:
        x: The input.
    """
    return isinstance(x, Literal)


def _hashable(value: Array) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return str(value)
    return value


def _shape(x: Array) -> Hashable:
    # Whether a dtype is weak decides the dtype of results, so it is part of the shape.
    return x.aval.shape, x.aval.dtype, getattr(x.aval, "weak_type", False)


def _without_writes(
    source: Array, array: Array, definitions: dict[Any, Equation]
) -> tuple[Any, Any]:
    """Returns a slice taken from before writes to other parts, or from what was written.

    Kernels write parts of an array one after the other, and read them.

    Args:
        source: The equation.
        array: The array that the slice is taken from.
        definitions: The equations so far.

    Returns:
        tuple: The equation, and its inputs.
    """
    parameters = source.params
    start, limit = parameters["start_indices"], parameters["limit_indices"]
    while parameters["strides"] is None and array in definitions:
        found = _before_write(definitions[array], start, limit)
        if found is None:
            break
        array, start, limit = found
    if array is not source.invars[0]:
        places = {"start_indices": start, "limit_indices": limit}
        source = source.replace(invars=[array], params={**parameters, **places})
    return source, [array]


def _before_write(
    write: Equation, start: Sequence[int], limit: Sequence[int]
) -> tuple[Any, Sequence[int], Sequence[int]] | None:
    """Returns the array and the place that a slice can be taken from instead.

    Args:
        write: The equation that computes the array of the slice.
        start: Where the slice begins.
        limit: Where it ends.
    """
    if write.name != "dynamic_update_slice" or not all(map(is_literal, write.inputs[2:])):
        return None
    base, update, *places = write.inputs
    begin = [int(place.val) for place in places]
    end = [b + n for b, n in zip(begin, update.aval.shape, strict=True)]
    edges = zip(begin, end, base.aval.shape, strict=True)
    if any([b < 0 or e > n for b, e, n in edges]):
        return None  # XLA would write elsewhere
    parts = list(zip(start, limit, begin, end, strict=True))
    if all([b <= s and t <= e for s, t, b, e in parts]):
        inner = tuple([s - b for s, _, b, _ in parts])
        return update, inner, tuple([t - b for _, t, b, _ in parts])
    is_beside = any([t <= b or e <= s for s, t, b, e in parts])
    return (base, start, limit) if is_beside else None


class _Simplification:
    """The equations of a program so far, each computation once.

    Args:
        program: The program.
        constants: Values of its constants. Equal ones are one.
    """

    def __init__(self, program: Any, constants: Sequence[Any]) -> None:
        self._same: dict[Any, Any] = {}
        self._known: dict[Hashable, list[Any]] = {}
        first: dict[Hashable, Any] = {}
        for variable, value in zip(program.constvars, constants, strict=True):
            host = numpy.asarray(value)
            key = (host.shape, host.dtype.str, host.tobytes())
            self._same[variable] = first.setdefault(key, variable)
        #: Variables that are inputs, or parts of inputs in another shape or dtype.
        self._close = {*program.invars, *first.values()}
        self._definitions: dict[Any, Equation] = {}
        self.moved: list[Equation] = []
        self.others: list[Equation] = []

    def resolved(self, x: Array) -> Any:
        """Returns the variable that has the same value and was computed first."""
        return x if is_literal(x) else self._same.get(x, x)

    def add(self, source: Array) -> None:
        """Adds an equation, unless it computes nothing new."""
        inputs = [self.resolved(x) for x in source.invars]
        if source.primitive.name == "slice":
            source, inputs = _without_writes(source, inputs[0], self._definitions)
        shortcut = self._shortcut(source, inputs)
        if shortcut is not None:
            self._same[source.outvars[0]] = shortcut
            return
        outputs = list(source.outvars)
        parameters = tuple(sorted((k, _hashable(v)) for k, v in source.params.items()))
        key = (source.primitive, parameters, tuple([_name(x) for x in inputs]))
        if not source.effects:
            found = self._known.setdefault(key, outputs)
            if found is not outputs:
                self._same.update(zip(outputs, found, strict=True))
                return
        self._append(source, inputs, outputs, parameters)

    def _shortcut(self, source: Array, inputs: list[Any]) -> Any:
        """Returns the variable that an equation without effect repeats; None if there is none."""
        if not inputs:  # such as `iota`
            return None
        before = None if is_literal(inputs[0]) else self._definitions.get(inputs[0])
        if source.primitive.name == "slice":
            is_whole = inputs[0].aval.shape == source.outvars[0].aval.shape
            return inputs[0] if is_whole else None
        if source.primitive.name == "reshape" and before is not None and before.name == "reshape":
            is_back = _shape(before.inputs[0]) == _shape(source.outvars[0])
            return before.inputs[0] if is_back else None
        return None

    def _append(
        self, source: Array, inputs: list[Any], outputs: list[Any], parameters: tuple[Any, ...]
    ) -> None:
        name = source.primitive.name
        if name == "slice":
            parameters = tuple([p for p in parameters if p[0] not in _PLACES])
        shapes = tuple([(is_literal(x), _shape(x)) for x in inputs])
        kind = (source.primitive, parameters, shapes, tuple([_shape(y) for y in outputs]))
        equation = Equation(source, inputs, outputs, kind, bool(source.effects))
        self._definitions.update((y, equation) for y in outputs)
        # Equations that all copies share are found in the first one. It would not be a copy of the
        # others.
        if name in _MOVES and all(is_literal(x) or x in self._close for x in inputs):
            self._close.update(outputs)
            self.moved.append(equation)
        else:
            self.others.append(equation)


def _name(x: Array) -> Hashable:
    return (_shape(x), repr(x.val)) if is_literal(x) else x


def simplified(program: Any, constants: Sequence[Any]) -> tuple[list[Equation], list[Any]]:
    """Returns the equations of a program, each computation once, and its outputs.

    Args:
        program: The ``jaxpr``.
        constants: Values of its constants. Equal ones are one.

    Returns:
        tuple: The equations, and the variables or literals of the outputs.
    """
    state = _Simplification(program, constants)
    for source in program.eqns:
        state.add(source)
    results = [state.resolved(x) for x in program.outvars]
    needed = {x for x in results if not is_literal(x)}
    kept: list[Equation] = []
    for equation in reversed([*state.moved, *state.others]):
        if equation.has_effects or not needed.isdisjoint(equation.outputs):
            kept.append(equation)
            needed.update(x for x in equation.inputs if not is_literal(x))
    return kept[::-1], results
