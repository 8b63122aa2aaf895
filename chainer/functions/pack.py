"""Differentiable functions, and function hooks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from chainer.core.registry.tables import register_table

#: The packages of functions, by category.
_CATEGORIES = (
    *("activation", "array", "attention", "connection", "evaluation", "loss", "math"),
    *("noise", "normalization", "pooling", "rnn", "util"),
)


def chainer_functions(registry: Any) -> None:
    """Registers the functions."""
    for category in _CATEGORIES:
        register_table(registry, import_module(f"chainer.functions.{category}"))


def chainer_variable_methods(registry: Any) -> None:
    """Registers what operators and methods of Variable do."""
    from chainer.functions._variable_methods import VARIABLE_METHODS

    for name, target in VARIABLE_METHODS.items():
        registry.register(name, target)


def chainer_function_hooks(registry: Any) -> None:
    """Registers the function hooks."""
    from chainer.functions import hooks

    register_table(registry, hooks)
