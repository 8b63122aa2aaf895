"""What the distribution supplies. Chainer imports this to find the names, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_datasets(registry: PackRegistry) -> None:
    """Registers datasets: they become attributes of ``chainer.datasets``."""
    registry.register("TwoSpirals", "chainer_made_dataset.two_spirals:TwoSpirals")
    registry.register("get_two_spirals", "chainer_made_dataset.two_spirals:get_two_spirals")
