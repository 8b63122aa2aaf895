"""Initializers that draw from normal distributions."""

from __future__ import annotations

import math

from chainer.core.typing import Array, DTypeLike
from chainer.links.initializer import get_fans
from chainer.links.initializers._random import RandomInitializer, RandomSource, ScaledByFans


class Normal(RandomInitializer):
    """Initializes array with a normal distribution of mean 0.

    Args:
        scale (float): Standard deviation.
        dtype: Data type of the initialized arrays; None for any.
        rng (RandomState): Random number generator, of any backend; None for the global one of the
            array's backend.

    Example:
        >>> a, b = np.empty(3, np.float32), np.empty(3, np.float32)
        >>> chainer.initializers.Normal(rng=np.random.RandomState(0))(a)
        >>> np.random.seed(0)
        >>> chainer.initializers.Normal()(b)
        >>> np.array_equal(a, b)
        True
    """

    def __call__(self, array: Array) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        self._fill(array, self._normal(array, self._deviation(array)))

    def _deviation(self, array: Array) -> float:
        return self.scale


class LeCunNormal(ScaledByFans, Normal):
    """Initializes array with a normal distribution scaled by the fan-in (LeCun).

    The standard deviation is ``scale * sqrt(1 / fan_in)``.

    Reference: LeCun et al., 1998, Efficient BackProp.

    Takes the same arguments as :class:`Normal`; ``scale`` is a factor of the standard deviation, 1
    by default.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.LeCunNormal())
        >>> print(f"{layer.W.array.std():.2f}")
        0.10
    """

    def _deviation(self, array: Array) -> float:
        fan_in, _ = get_fans(array.shape)
        return self.scale * math.sqrt(1.0 / max(fan_in, 1))


class GlorotNormal(ScaledByFans, Normal):
    """Initializes array with a normal distribution scaled by fan-in and fan-out (Glorot).

    The standard deviation is ``scale * sqrt(2 / (fan_in + fan_out))``.

    Reference: Glorot & Bengio, AISTATS 2010.

    Takes the same arguments as :class:`Normal`; ``scale`` is a factor of the standard deviation, 1
    by default.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.GlorotNormal())
        >>> print(f"{layer.W.array.std():.2f}")
        0.06
    """

    def _deviation(self, array: Array) -> float:
        fan_in, fan_out = get_fans(array.shape)
        return self.scale * math.sqrt(2.0 / max(fan_in + fan_out, 1))


class HeNormal(ScaledByFans, Normal):
    """Initializes array with a normal distribution of standard deviation ``scale * sqrt(2 / fan)``.

    Reference: He et al., https://arxiv.org/abs/1502.01852

    Args:
        scale (float): Factor of the standard deviation.
        dtype: Data type of the initialized arrays; None for any.
        fan_option (str): ``'fan_in'``: ``fan`` is the number of input units; ``'fan_out'``: of
            output units.
        rng (RandomState): Random number generator; see :class:`Normal`.

    Raises:
        ValueError: When called with another ``fan_option``.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.HeNormal())
        >>> print(f"{layer.W.array.std():.2f}")
        0.14
    """

    def __init__(
        self,
        scale: float = 1.0,
        dtype: DTypeLike = None,
        fan_option: str = "fan_in",
        *,
        rng: RandomSource | None = None,
    ) -> None:
        self.fan_option = fan_option
        super().__init__(scale, dtype, rng=rng)

    def _deviation(self, array: Array) -> float:
        # As in earlier releases an unknown option is noticed when the initializer is called.
        fan_in, fan_out = get_fans(array.shape)
        if self.fan_option not in ("fan_in", "fan_out"):
            raise ValueError(
                f"fan_option should be either 'fan_in' or 'fan_out', got {self.fan_option!r}"
            )
        fan = fan_in if self.fan_option == "fan_in" else fan_out
        return self.scale * math.sqrt(2.0 / max(fan, 1))
