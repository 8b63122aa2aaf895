"""Base of the losses that draw samples of classes."""

from __future__ import annotations

import copy

from chainer.core.arrays.device_resident import DeviceResidentsVisitor
from chainer.core.utils.walker_alias import WalkerAlias
from chainer.links.link import Link


class SampledLoss(Link):
    """Base class of losses with a sampler of classes.

    Attributes:
        sampler (WalkerAlias): The sampler.
    """

    sampler: WalkerAlias

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the link, its weight and its sampler.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        super().device_resident_accept(visitor)
        # A shared copy of the link refers to the same object, and may stay where it is.
        self.sampler = copy.copy(self.sampler)
        self.sampler.device_resident_accept(visitor)
