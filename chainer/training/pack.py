"""Optimizers, iterators, datasets, updaters, triggers and extensions of the trainer."""

from __future__ import annotations

from typing import Any

from chainer.core.registry.tables import register_table


def chainer_optimizers(registry: Any) -> None:
    """Registers the optimizers."""
    from chainer.training import optimizers

    register_table(registry, optimizers)


def chainer_optimizer_hooks(registry: Any) -> None:
    """Registers the optimizer hooks."""
    from chainer.training.optimizers import hooks

    register_table(registry, hooks)


def chainer_iterators(registry: Any) -> None:
    """Registers the iterators."""
    from chainer.training import iterators

    register_table(registry, iterators)


def chainer_datasets(registry: Any) -> None:
    """Registers the datasets."""
    from chainer.training import datasets

    register_table(registry, datasets)


def chainer_updaters(registry: Any) -> None:
    """Registers the updaters."""
    from chainer.training import updaters

    register_table(registry, updaters)


def chainer_extensions(registry: Any) -> None:
    """Registers the trainer extensions."""
    from chainer.training import extensions

    register_table(registry, extensions)


def chainer_triggers(registry: Any) -> None:
    """Registers the triggers."""
    from chainer.training import triggers

    register_table(registry, triggers)
