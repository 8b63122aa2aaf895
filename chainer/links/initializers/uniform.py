"""Initializers that draw from uniform distributions."""

from __future__ import annotations

import math

from chainer.core.typing import Array
from chainer.links.initializer import get_fans
from chainer.links.initializers._random import RandomInitializer, ScaledByFans


class Uniform(RandomInitializer):
    """Initializes array with a uniform distribution over ``[-scale, scale]``.

    Args:
        scale (float): Half the width of the distribution.
        dtype: Data type of the initialized arrays; None for any.
        rng (RandomState): Random number generator, of any backend; None for the global one of the
            array's backend.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.Uniform(0.1))
        >>> print(f"{layer.W.array.std():.2f}")
        0.06
    """

    def __call__(self, array: Array) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        self._fill(array, self._uniform(array, self._bound(array)))

    def _bound(self, array: Array) -> float:
        return self.scale


# The bounds give the same variances as the normal initializers of the same names. A uniform
# distribution over [-s, s] has the variance s ** 2 / 3.


class LeCunUniform(ScaledByFans, Uniform):
    """Initializes array with a uniform distribution scaled by the fan-in (LeCun).

    The interval is ``[-s, s]``, ``s = scale * sqrt(3 / fan_in)``.

    Reference: LeCun et al., 1998, Efficient BackProp.

    Takes the same arguments as :class:`Uniform`; ``scale`` is a factor of the bound, 1 by default.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.LeCunUniform())
        >>> print(f"{layer.W.array.std():.2f}")
        0.10
    """

    def _bound(self, array: Array) -> float:
        fan_in, _ = get_fans(array.shape)
        return self.scale * math.sqrt(3.0 / max(fan_in, 1))


class GlorotUniform(ScaledByFans, Uniform):
    """Initializes array with a uniform distribution scaled by fan-in and fan-out (Glorot).

    The interval is ``[-s, s]``, ``s = scale * sqrt(6 / (fan_in + fan_out))``.

    Reference: Glorot & Bengio, AISTATS 2010.

    Takes the same arguments as :class:`Uniform`; ``scale`` is a factor of the bound, 1 by default.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.GlorotUniform())
        >>> print(f"{layer.W.array.std():.2f}")
        0.06
    """

    def _bound(self, array: Array) -> float:
        fan_in, fan_out = get_fans(array.shape)
        return self.scale * math.sqrt(6.0 / max(fan_in + fan_out, 1))


class HeUniform(ScaledByFans, Uniform):
    """Initializes array with a uniform distribution scaled by the fan-in (He).

    The interval is ``[-s, s]``, ``s = scale * sqrt(6 / fan_in)``.

    Reference: He et al., https://arxiv.org/abs/1502.01852

    Takes the same arguments as :class:`Uniform`; ``scale`` is a factor of the bound, 1 by default.

    Example:
        >>> layer = L.Linear(100, 400, initialW=chainer.initializers.HeUniform())
        >>> print(f"{layer.W.array.std():.2f}")
        0.14
    """

    def _bound(self, array: Array) -> float:
        fan_in, _ = get_fans(array.shape)
        return self.scale * math.sqrt(6.0 / max(fan_in, 1))
