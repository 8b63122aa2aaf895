"""Base of the initializers that draw random numbers."""

from __future__ import annotations

from typing import Protocol

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.typing import Array, DTypeLike, Shape
from chainer.links.initializer import Initializer


class RandomSource(Protocol):
    """A random number generator such as ``numpy.random.RandomState``, of any backend."""

    def normal(self, loc: float, scale: float, size: Shape) -> Array:
        """Draws from a normal distribution."""
        ...

    def randint(self, low: int) -> int:
        """Draws an integer less than ``low``."""
        ...

    def uniform(self, low: float, high: float, size: Shape) -> Array:
        """Draws from a uniform distribution."""
        ...


class RandomInitializer(Initializer):
    """Base class of initializers that fill an array with random numbers of a given scale.

    Args:
        scale (float): Scale of the distribution.
        dtype: Data type of the initialized arrays; None for any.
        rng: Random number generator; None for the global one of the array's backend.
    """

    # Initializers restored from pickles of older releases lack the attribute.
    rng: RandomSource | None = None

    def __init__(
        self, scale: float = 0.05, dtype: DTypeLike = None, *, rng: RandomSource | None = None
    ) -> None:
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def _normal(self, array: Array, deviation: float) -> Array:
        """Draws from a normal distribution of mean 0; the result has the shape of an array."""
        device = get_device_from_array(array)
        with device.backend.use(device):
            rng = device.backend.random(device) if self.rng is None else self.rng
            return rng.normal(loc=0.0, scale=deviation, size=array.shape)

    def _uniform(self, array: Array, bound: float) -> Array:
        """Draws from ``[-bound, bound]``; the result has the shape of an array."""
        device = get_device_from_array(array)
        with device.backend.use(device):
            rng = device.backend.random(device) if self.rng is None else self.rng
            return rng.uniform(low=-bound, high=bound, size=array.shape)

    def _fill(self, array: Array, values: Array) -> None:
        """Assigns random numbers to an array; a generator may be of another device than it."""
        if self.rng is not None:
            values = get_device_from_array(array).send(values)
        array[...] = values


class ScaledByFans(RandomInitializer):
    """Base of initializers whose width follows from the shape, times a scale of 1 by default."""

    def __init__(
        self, scale: float = 1.0, dtype: DTypeLike = None, *, rng: RandomSource | None = None
    ) -> None:
        super().__init__(scale, dtype, rng=rng)
