"""Programs with loops in place of copies of equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chainer_jax.loops.copies import Copies, find_copies
from chainer_jax.loops.evaluation import DifferError, Evaluation, Values, run
from chainer_jax.loops.simplify import Equation, is_literal, simplified

if TYPE_CHECKING:
    from chainer.typing import Array
    from jax.extend.core import Jaxpr


def with_loops(program: Jaxpr, constants: Sequence[Any]) -> Callable[..., list[Any]]:
    """Returns a function that evaluates a program, with loops in place of copies of equations.

    Args:
        program: The program.
        constants: Values of its constants.

    Returns:
        callable: Function of the inputs that returns the outputs. Sums over copies are added in
        another order than one after the other.

    Example:
        >>> def f(x):
        ...     for i in range(20):
        ...         x = jax.numpy.sin(x) * i
        ...     return x
        >>> traced = jax.make_jaxpr(f)(1.0)
        >>> (y,) = with_loops(traced.jaxpr, traced.consts)(1.0)
        >>> len(traced.eqns)
        40
    """
    equations, results = simplified(program, constants)
    regions = find_copies(equations)
    definitions = {y: e for e in equations for y in e.outputs}
    used_outside = _used_outside(equations, results, regions)

    def evaluate(*inputs: Array) -> list[Any]:
        values = Values()
        for variable, value in zip(program.constvars, constants, strict=True):
            values[variable] = value
        for variable, value in zip(program.invars, inputs, strict=True):
            values[variable] = value
        at = 0
        for region, used in zip(regions, used_outside, strict=True):
            run(equations[at : region.start], values)
            try:
                Evaluation(region, values, definitions, used).run()
            except DifferError:
                run(equations[region.start : region.stop], values)
            at = region.stop
        run(equations[at:], values)
        return [values[x] for x in results]

    return evaluate


def _used_outside(
    equations: Sequence[Equation], results: Sequence[Any], regions: Sequence[Copies]
) -> list[frozenset[Any]]:
    """Returns for each region the variables that equations outside of it use."""
    inside = {id(e): n for n, r in enumerate(regions) for copy in r.equations for e in copy}
    users: dict[Any, set[int | None]] = {}
    for equation in equations:
        for x in equation.inputs:
            if not is_literal(x):
                users.setdefault(x, set()).add(inside.get(id(equation)))
    for x in results:
        if not is_literal(x):
            users.setdefault(x, set()).add(None)
    return [
        frozenset(y for y in _outputs_of(region) if users.get(y, set()) - {number})
        for number, region in enumerate(regions)
    ]


def _outputs_of(region: Copies) -> list[Any]:
    return [y for copy in region.equations for e in copy for y in e.outputs]
