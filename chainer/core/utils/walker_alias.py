"""Walker's alias method."""

from __future__ import annotations

import numpy

from chainer.core.arrays.device_resident import DeviceResident, DeviceResidentsVisitor
from chainer.core.typing import Array, ArrayLike, ArrayModule, ShapeLike


class WalkerAlias(DeviceResident):
    """Draws samples from given probabilities, each in constant time, by Walker's alias method.

    See `Alias method - Wikipedia <https://en.wikipedia.org/wiki/Alias_method>`_.

    Args:
        probs (float list): Probabilities of the entries; they are normalized by their sum.

    Attributes:
        threshold: Share of each bin that belongs to its first entry, in units of bins.
        values: The two entries of each bin, shape ``(2 n,)``.

    Raises:
        ValueError: If no probability is positive, or one is negative or not finite.

    Example:
        >>> sampler = chainer.utils.WalkerAlias([1, 2, 1])
        >>> sampler.sample((2, 3)).shape
        (2, 3)
    """

    def __init__(self, probs: ArrayLike) -> None:
        weights = numpy.asarray(probs, dtype=numpy.float32).ravel()
        if not numpy.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise ValueError(
                f"probs must be non-negative numbers, at least one of them positive, got {probs!r}"
            )
        n = len(weights)
        heights = ((weights / weights.sum()).astype(numpy.float64) * n).tolist()
        # Bins of height one: each takes an entry, lowest first, and is filled up by the next entry
        # higher than one. In this order the samples equal the samples of earlier releases.
        order = sorted(range(n), key=heights.__getitem__)
        threshold = numpy.empty(n, numpy.float32)
        values = numpy.empty(2 * n, numpy.int32)
        filler = 0
        for position, entry in enumerate(order):
            threshold[position] = heights[entry]
            values[2 * position : 2 * position + 2] = entry
            filler = max(filler, position + 1)
            while filler < n and heights[order[filler]] <= 1:
                filler += 1
            if filler < n:
                large = order[filler]
                values[2 * position + 1] = large
                heights[large] -= 1 - heights[entry]
        super().__init__()
        self.threshold: Array = threshold
        self.values: Array = values

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.threshold)} probabilities>"

    @property
    def use_gpu(self) -> bool:
        """Whether samples are drawn on an accelerator."""
        return self.device.backend.is_accelerator

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the sampler and its two arrays.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        super().device_resident_accept(visitor)
        self.threshold = visitor.visit_array(self.threshold)
        self.values = visitor.visit_array(self.values)

    def sample(self, shape: ShapeLike) -> Array:
        """Generates a random sample based on the given probabilities.

        Args:
            shape (tuple of int): Shape of the result.

        Returns:
            array: Indices of entries, int32, on the device of the sampler.
        """
        return self.sample_xp(self.xp, shape)

    def sample_xp(self, xp: ArrayModule, shape: ShapeLike) -> Array:
        """Generates a random sample; see :meth:`sample`.

        Args:
            xp (module): Array module of the device of the sampler.
            shape (tuple of int): Shape of the result.

        Returns:
            array: Indices of entries, int32.
        """
        device = self.device
        with device.backend.use(device):
            random = device.backend.random(device)
            draw = random.uniform(0, 1, shape) * len(self.threshold)
            bins = draw.astype(numpy.int32) if hasattr(draw, "astype") else numpy.int32(draw)
            # Rounding may put a draw at the very end.
            bins = xp.minimum(bins, len(self.threshold) - 1)
            second = (draw - bins) >= self.threshold[bins]
            return self.values[bins * 2 + second].astype(numpy.int32)

    def sample_cpu(self, shape: ShapeLike) -> Array:
        """Generates a random sample on the CPU; see :meth:`sample`."""
        return self.sample(shape)

    def sample_gpu(self, shape: ShapeLike) -> Array:
        """Generates a random sample on the GPU; see :meth:`sample`."""
        return self.sample(shape)
