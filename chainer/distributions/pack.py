"""Probability distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.registry.tables import register_table

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry


def chainer_distributions(registry: PackRegistry) -> None:
    """Registers the distributions."""
    from chainer import distributions

    register_table(registry, distributions)
