"""The pack of Chainer's own distributions."""

from __future__ import annotations

from typing import Any

from chainer.core.registry.tables import register_table


def chainer_distributions(registry: Any) -> None:
    """Registers the distributions."""
    from chainer import distributions

    register_table(registry, distributions)
