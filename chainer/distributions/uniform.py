"""The uniform distribution."""

from __future__ import annotations

import math

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, either, mask_of, masked
from chainer.distributions.distribution import register_kl


class Uniform(ParametricDistribution):
    r"""Uniform distribution on an interval, given by its bounds or by its start and its length.

    .. math::
        p(x; l, h) = \begin{cases}
            \frac{1}{h - l} & \text{if }l \leq x \leq h \\
            0 & \text{otherwise}
        \end{cases}

    Samples are differentiable functions of the parameters.

    Args:
        low: Lower bound, of any shape.
        high: Upper bound.
        loc: Lower bound, together with ``scale``.
        scale: Length of the interval.

    Raises:
        ValueError: If not exactly one of the pairs ``low``, ``high`` and ``loc``, ``scale`` is
            given.

    Example:
        >>> d = chainer.distributions.Uniform(low=np.array(0.), high=np.array(2.))
        >>> d.mean, d.scale
        (variable(1.), variable(2.))
    """

    def __init__(
        self,
        *,
        low: VariableLike | None = None,
        high: VariableLike | None = None,
        loc: VariableLike | None = None,
        scale: VariableLike | None = None,
    ) -> None:
        bounds = low is not None and high is not None
        # An incomplete pair is ignored, as in release 7.
        if bounds == (loc is not None and scale is not None):
            raise ValueError("Either `low, high` or `loc, scale` (not both) must have a value.")
        if bounds:
            super().__init__(low=low, high=high)
        else:
            super().__init__(loc=loc, scale=scale)

    low = either("low", "Lower bound.", lambda self: self.loc)
    high = either("high", "Upper bound.", lambda self: self.loc + self.scale)
    loc = either("loc", "Lower bound.", lambda self: self.low)
    scale = either("scale", "Length of the interval.", lambda self: self.high - self.low)

    @property
    def support(self) -> str:
        return "[low, high]"

    @cached_property
    def mean(self) -> Variable:
        return 0.5 * (self.low + self.high)

    @cached_property
    def variance(self) -> Variable:
        return self._full(self.scale**2 / 12)

    @cached_property
    def stddev(self) -> Variable:
        return self._full(self.scale / math.sqrt(12))

    @cached_property
    def entropy(self) -> Variable:
        return self._full(F.log(self.scale))

    def log_prob(self, x: VariableLike) -> Variable:
        points = self._point(x)
        outside = mask_of(lambda x, low, high: (x < low) | (x > high), points, self.low, self.high)
        values = F.broadcast_to(-F.log(self.scale), outside.shape)
        return masked(values, outside, -float("inf"))

    def cdf(self, x: VariableLike) -> Variable:
        return F.clip((self._point(x) - self.loc) / self.scale, 0.0, 1.0)

    def icdf(self, x: VariableLike) -> Variable:
        return self._point(x) * self.scale + self.loc

    def sample_n(self, n: int) -> Variable:
        return self.icdf(self._draw_floats("uniform", n, 0, 1))


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(dist1: Uniform, dist2: Uniform) -> Variable:
    # Where the first has values outside of the second, the divergence is infinite.
    beyond = mask_of(
        lambda l1, h1, l2, h2: (h1 > h2) | (l1 < l2), dist1.low, dist1.high, dist2.low, dist2.high
    )
    return masked(F.log(dist2.scale) - F.log(dist1.scale), beyond, float("inf"))
