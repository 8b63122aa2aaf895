"""Converters of functions that are composed of others: they are expanded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx_chainer.converter_call import ConverterCall


def ComposedFunction(params: ConverterCall) -> list[Any]:
    """Any function with a method ``compose``: the converters of its parts do the work.

    This includes functions of third parties, which then need no converter.
    """
    return _expand(params, lambda function: function.compose)


def DifferentiableComposition(params: ConverterCall) -> list[Any]:
    """A node that was made of a function of Variables."""
    return _expand(params, lambda function: function._composition)


def Forget(params: ConverterCall) -> list[Any]:
    """A call whose intermediate results are not stored: what it calls is exported."""
    return _expand(params, lambda function: _results_of(function.func))


def _expand(params: ConverterCall, compose: Callable[[Any], Any]) -> list[Any]:
    """Expands a function in all runs of the model.

    Args:
        params: The application.
        compose: Returns the composition of a function node.
    """
    application = params.application
    runs = (application, application.twin, application.probe)
    return params.conversion.expand(
        params, *[None if run is None else compose(run.function) for run in runs]
    )


def _results_of(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """Returns a function that always returns a tuple."""

    def call(*inputs: Any) -> tuple[Any, ...]:
        outputs = function(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    return call
