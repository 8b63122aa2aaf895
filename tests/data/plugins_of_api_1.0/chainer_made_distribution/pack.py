"""What the distribution supplies. Chainer imports this to find the names, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_distributions(registry: PackRegistry) -> None:
    """Registers distributions: they become attributes of ``chainer.distributions``."""
    registry.register("HalfNormal", "chainer_made_distribution.half_normal:HalfNormal")
