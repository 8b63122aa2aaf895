"""The decorator of the built-in converters, and makers of the simplest ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnx_chainer.converter_registry import Converter, Rule, converter
from onnx_chainer.nodes import Nodes


def rule(opsets: Sequence[int] = (), constants: Sequence[str] = ()) -> Callable[[Rule], Converter]:
    """Makes a converter of a rule; the pack registers it.

    Args:
        opsets: Versions of the operator set at which it changes.
        constants: Names of the inputs, for those that are arrays of the model: the name of such
            an initializer is ``<function>_<k>_param_<name>``. Empty for inputs without a name.
    """

    def decorate(function: Rule) -> Converter:
        convert = converter(opsets=opsets, register=False)(function)
        convert.__dict__["constant_names"] = tuple(constants)
        return convert

    return decorate


def operator(name: str, since: int = 1) -> Converter:
    """Makes the converter of a function that one operator without attributes computes.

    Args:
        name: The operator.
        since: The operator set that it came with.
    """

    @rule()
    def convert(g: Nodes, *inputs: str) -> str:
        g.require_opset(since)
        return g(name, *inputs)

    return convert


def along_axes(name: str) -> Converter:
    """Makes the converter of a reduction with the attributes ``axis`` and ``keepdims``.

    Args:
        name: The operator.
    """

    @rule()
    def convert(g: Nodes, x: str) -> str:
        return reduced(g, name, x, g.func.axis, getattr(g.func, "keepdims", False))

    return convert


def reduced(g: Nodes, name: str, x: str, axis: Any, keepdims: bool = False) -> str:
    """Reduces the axes that a function names; all of them for None."""
    axes = None if axis is None else g.axes(axis)
    return g.reduce(name, x, axes, keepdims)
