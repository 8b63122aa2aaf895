"""Two interleaved spirals, a problem of classification for small networks."""

from __future__ import annotations

import numpy as np
from chainer.dataset import DatasetMixin

# Files from the net belong into the cache of the user; `chainer.dataset.cached_download(url)` puts
# them there once and returns the path.


class TwoSpirals(DatasetMixin):
    """Points of the plane on two spirals, one for each class, in random order.

    An example is a pair of the point, a float32 array of shape ``(2,)`` within the unit circle, and
    the label, 0 or 1 as int32.

    Args:
        length: Number of points.
        turns: Number of turns of each spiral.
        noise: Standard deviation of what is added to the points.
        seed: Seed: the same one makes the same points.

    Raises:
        ValueError: If ``length`` is negative.
    """

    def __init__(self, length: int, turns: float = 1.5, noise: float = 0.0, seed: int = 0) -> None:
        if length < 0:
            raise ValueError(f"length must not be negative, got {length}")
        generator = np.random.default_rng(seed)
        self._labels = generator.integers(0, 2, length).astype(np.int32)
        radius = np.sqrt(generator.uniform(0, 1, length))  # as many points far out as near by
        angle = 2 * np.pi * turns * radius + np.pi * self._labels
        points = radius * np.stack([np.cos(angle), np.sin(angle)])
        points += generator.normal(0, noise, points.shape)
        self._points = np.ascontiguousarray(points.T, np.float32)

    def __len__(self) -> int:
        """Number of examples."""
        return len(self._labels)

    def get_example(self, i: int) -> tuple[np.ndarray, np.int32]:
        """Returns an example; slices and lists of indexes come here one by one."""
        return self._points[i], self._labels[i]


def get_two_spirals(
    length: int = 1000, turns: float = 1.5, noise: float = 0.0, seed: int = 0
) -> tuple[TwoSpirals, TwoSpirals]:
    """Returns a training set and a test set of other points.

    Args:
        length: Number of points in each.
        turns: Number of turns of each spiral.
        noise: Standard deviation of what is added to the points.
        seed: Seed.
    """
    train, test = (TwoSpirals(length, turns, noise, 2 * seed + i) for i in range(2))
    return train, test
