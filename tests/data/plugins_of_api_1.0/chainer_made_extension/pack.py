"""What the distribution supplies. Chainer imports this to find the names, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_extensions(registry: PackRegistry) -> None:
    """Registers extensions: attributes of ``chainer.training.extensions``."""
    registry.register("LinearWarmup", "chainer_made_extension.linear_warmup:LinearWarmup")
