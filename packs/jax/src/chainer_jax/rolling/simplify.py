"""Equations of a program without those that repeat another one, or have no use."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from jax.extend.core import Literal

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
        kind: What copies of the equation have in common: the operation, shapes and dtypes.
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

    def bind(self, *values: Any) -> list[Any]:
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


def is_literal(x: Any) -> bool:
    """Returns whether an input of an equation is a number instead of a variable.

    Args:
        x: The input.
    """
    return isinstance(x, Literal)


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return str(value)
    return value


def _shape(x: Any) -> Hashable:
    # Whether a dtype is weak decides that of results, so it is part of the shape.
    return x.aval.shape, x.aval.dtype, getattr(x.aval, "weak_type", False)


def _without_writes(source: Any, array: Any, definitions: dict[Any, Equation]) -> tuple[Any, Any]:
    """Returns a slice taken from before writes to other parts, or from what was written.

    Kernels write parts of an array one after the other, and read them.

    Args:
        source: The equation.
        array: What the slice is taken from.
        definitions: The equations so far.

    Returns:
        tuple: The equation, and its inputs.
    """
    parameters = source.params
    start, limit = parameters["start_indices"], parameters["limit_indices"]
    while parameters["strides"] is None and array in definitions:
        write = definitions[array]
        if write.name != "dynamic_update_slice" or not all(map(is_literal, write.inputs[2:])):
            break
        base, update, *places = write.inputs
        begin = [int(place.val) for place in places]
        end = [b + n for b, n in zip(begin, update.aval.shape, strict=True)]
        parts = list(zip(start, limit, begin, end, strict=True))
        if min(begin) < 0 or any([e > n for e, n in zip(end, base.aval.shape, strict=True)]):
            break  # XLA would write elsewhere
        if all([b <= s and t <= e for s, t, b, e in parts]):
            array = update
            start = tuple([s - b for s, _, b, _ in parts])
            limit = tuple([t - b for _, t, b, _ in parts])
        elif any([t <= b or e <= s for s, t, b, e in parts]):
            array = base
        else:
            break
    if array is not source.invars[0]:
        places = {"start_indices": start, "limit_indices": limit}
        source = source.replace(invars=[array], params={**parameters, **places})
    return source, [array]


def simplified(program: Any, constants: Sequence[Any]) -> tuple[list[Equation], list[Any]]:
    """Returns the equations of a program, each computation once, and its outputs.

    Args:
        program: The ``jaxpr``.
        constants: Values of its constants. Equal ones are one.

    Returns:
        tuple: The equations, and the variables or literals of the outputs.
    """
    same: dict[Any, Any] = {}
    known: dict[Hashable, Any] = {}
    for variable, value in zip(program.constvars, constants, strict=True):
        host = numpy.asarray(value)
        key = ("constant", host.shape, host.dtype.str, host.tobytes())
        same[variable] = known.setdefault(key, variable)

    def resolved(x: Any) -> Any:
        return x if is_literal(x) else same.get(x, x)

    def name(x: Any) -> Hashable:
        return (_shape(x), repr(x.val)) if is_literal(x) else x

    moved: list[Equation] = []
    others: list[Equation] = []
    #: Variables that are inputs, or parts of inputs in another shape or dtype.
    close = {*program.invars, *known.values()}
    definitions: dict[Any, Equation] = {}
    for source in program.eqns:
        inputs = [resolved(x) for x in source.invars]
        if source.primitive.name == "slice":
            source, inputs = _without_writes(source, inputs[0], definitions)
            if inputs[0].aval.shape == source.outvars[0].aval.shape:
                same[source.outvars[0]] = inputs[0]
                continue
        elif source.primitive.name == "reshape" and inputs[0] in definitions:
            before = definitions[inputs[0]]
            if before.name == "reshape" and _shape(before.inputs[0]) == _shape(source.outvars[0]):
                same[source.outvars[0]] = before.inputs[0]
                continue
        primitive, outputs = source.primitive, list(source.outvars)
        parameters = tuple(sorted((k, _hashable(v)) for k, v in source.params.items()))
        key = (primitive, parameters, tuple([name(x) for x in inputs]))
        if not source.effects:
            found = known.get(key)
            if found is not None:
                same.update(zip(outputs, found, strict=True))
                continue
            known[key] = outputs
        if primitive.name == "slice":
            parameters = tuple([p for p in parameters if p[0] not in _PLACES])
        shapes = tuple([(is_literal(x), _shape(x)) for x in inputs])
        kind = (primitive, parameters, shapes, tuple([_shape(y) for y in outputs]))
        equation = Equation(source, inputs, outputs, kind, bool(source.effects))
        definitions.update((y, equation) for y in outputs)
        # What all copies share is found in the first one. It would not be a copy of the others.
        if primitive.name in _MOVES and all(is_literal(x) or x in close for x in inputs):
            close.update(outputs)
            moved.append(equation)
        else:
            others.append(equation)
    results = [resolved(x) for x in program.outvars]
    needed = {x for x in results if not is_literal(x)}
    kept: list[Equation] = []
    for equation in reversed([*moved, *others]):
        if equation.has_effects or not needed.isdisjoint(equation.outputs):
            kept.append(equation)
            needed.update(x for x in equation.inputs if not is_literal(x))
    return kept[::-1], results
