"""Converters of functions that are composed of others: they are expanded."""

from __future__ import annotations

from typing import Any

from onnx_chainer.converter_call import ConverterCall


def ComposedFunction(params: ConverterCall) -> list[Any]:
    """Any function with a method ``compose``: the converters of its parts do the work.

    This includes functions of third parties, which then need no converter.
    """
    twin = params.application.twin
    compose = None if twin is None else twin.function.compose
    return params.conversion.expand(params, params.func.compose, compose)


def DifferentiableComposition(params: ConverterCall) -> list[Any]:
    """A node that was made of a function of Variables."""
    twin = params.application.twin
    compose = None if twin is None else twin.function._composition
    return params.conversion.expand(params, params.func._composition, compose)
