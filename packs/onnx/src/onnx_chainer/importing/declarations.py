"""Properties that operators declare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy

from onnx_chainer.importing.limits import shapes_of

_Operator = TypeVar("_Operator", bound=Callable[..., Any])


def takes_scope(function: _Operator) -> _Operator:
    """Marks an operator whose bodies read values of the graph around them.

    It gets the scope, a mapping of names to values, after the attributes.
    """
    setattr(function, "takes_scope", True)  # noqa: B010
    return function


def result_shape(shape: Callable[..., Any]) -> Callable[[_Operator], _Operator]:
    """Marks an operator whose result can be much larger than its inputs.

    Results that are too large are refused before they are computed.

    Args:
        shape: Function of the attributes and the inputs that returns the shape of the result. It
            returns None where the operator itself refuses the inputs.
    """

    def mark(function: _Operator) -> _Operator:
        setattr(function, "result_shape", shape)  # noqa: B010
        return function

    return mark


def broadcast_shape(attributes: Any, *inputs: Any) -> tuple[int, ...] | None:
    """Returns the shape of the result of an operator that broadcasts its inputs."""
    shapes = shapes_of(inputs)
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        return None


broadcasts = result_shape(broadcast_shape)
"""Marks an operator that broadcasts its inputs."""


def changes(*positions: int) -> Callable[[_Operator], _Operator]:
    """Marks inputs that an operator changes in place in training mode.

    Args:
        positions: Their positions.
    """

    def mark(function: _Operator) -> _Operator:
        setattr(function, "changed_inputs", positions)  # noqa: B010
        return function

    return mark


def changed_inputs(function: Callable[..., Any], count: int) -> list[int]:
    """Returns the positions of inputs that an operator changes in place.

    Args:
        function: The operator.
        count: Number of inputs of the node.
    """
    return [i for i in getattr(function, "changed_inputs", ()) if i < count]


def constants(*positions: int) -> Callable[[_Operator], _Operator]:
    """Marks inputs that are numbers of the graph and not weights, although they may be floats.

    Args:
        positions: Their positions; none for all inputs.
    """

    def mark(function: _Operator) -> _Operator:
        setattr(function, "constant_inputs", positions or "all")  # noqa: B010
        return function

    return mark
