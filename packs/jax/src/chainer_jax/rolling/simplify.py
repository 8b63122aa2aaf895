"""Equations of a program without those that repeat another one, or that nobody needs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from jax.extend.core import Literal

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

    equations: list[Equation] = []
    for source in program.eqns:
        inputs = [resolved(x) for x in source.invars]
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
        equations.append(Equation(source, inputs, outputs, kind, bool(source.effects)))
    results = [resolved(x) for x in program.outvars]
    needed = {x for x in results if not is_literal(x)}
    kept: list[Equation] = []
    for equation in reversed(equations):
        if equation.has_effects or not needed.isdisjoint(equation.outputs):
            kept.append(equation)
            needed.update(x for x in equation.inputs if not is_literal(x))
    return kept[::-1], results
