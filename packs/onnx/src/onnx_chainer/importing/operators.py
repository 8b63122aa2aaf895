"""The functions of Chainer that compute operators of ONNX."""

from __future__ import annotations

from collections.abc import Mapping

from onnx_chainer.importing import (
    control_flow,
    convolutions,
    elementwise,
    indexing,
    linear_algebra,
    losses,
    normalizations,
    poolings,
    randoms,
    recurrent,
    reductions,
    regions,
    resizing,
    sequences,
    shapes,
    transforms,
)
from onnx_chainer.importing.graph import Operator

OPERATORS: dict[str, Operator] = {
    name: function
    for module in (
        control_flow,
        convolutions,
        elementwise,
        indexing,
        linear_algebra,
        losses,
        normalizations,
        poolings,
        randoms,
        recurrent,
        reductions,
        regions,
        resizing,
        sequences,
        shapes,
        transforms,
    )
    for name, function in module.OPERATORS.items()
}
"""Operator -> function of its attributes and inputs."""


def operators_with(more: Mapping[str, Operator] | None) -> dict[str, Operator]:
    """Returns the table of operators with a caller's operators.

    Args:
        more: Operator -> function; None for no more.
    """
    return {**OPERATORS, **(more or {})}


def constant_inputs(function: Operator, count: int) -> list[int]:
    """Returns the positions of inputs that an operator reads as constants, not as weights.

    Args:
        function: The operator.
        count: Number of inputs of the node.
    """
    declared = getattr(function, "constant_inputs", ())
    return [i for i in range(count) if declared == "all" or i in declared]
