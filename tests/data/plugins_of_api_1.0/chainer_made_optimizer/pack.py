"""What the distribution supplies. Chainer imports this to find the names, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_optimizers(registry: PackRegistry) -> None:
    """Registers optimizers: they become attributes of ``chainer.optimizers``."""
    registry.register("Signum", "chainer_made_optimizer.signum:Signum")
