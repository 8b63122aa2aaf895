"""The chi-square distribution."""

from __future__ import annotations

import math

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    ParametricDistribution,
    mask_of,
    masked,
    parameter,
    xlogy,
)


class Chisquare(ParametricDistribution):
    r"""Chi-square distribution.

    .. math::
        p(x;k) = \frac{1}{2^{k/2}\Gamma(k/2)}x^{k/2-1}e^{-x/2}

    Args:
        k: Degrees of freedom, of any shape.

    Example:
        >>> chainer.distributions.Chisquare(np.array(3.)).variance
        variable(6.)
    """

    def __init__(self, k: VariableLike) -> None:
        super().__init__(k=k)

    k = parameter("k", "Degrees of freedom.")

    @property
    def support(self) -> str:
        return "positive"

    @cached_property
    def mean(self) -> Variable:
        return self.k

    @cached_property
    def variance(self) -> Variable:
        return 2 * self.k

    @cached_property
    def entropy(self) -> Variable:
        half = 0.5 * self.k
        return half + math.log(2) + F.lgamma(half) + (1 - half) * F.digamma(half)

    def log_prob(self, x: VariableLike) -> Variable:
        half = 0.5 * self.k
        x = self._point(x)
        outside = mask_of(lambda x: x < 0, x)
        # The logarithm of a number outside is NaN, and so is its gradient.
        x = masked(x, outside, 1.0)
        # xlogy, because k = 2 has 0 * log(0) at 0.
        values = xlogy(half - 1, x) - F.lgamma(half) - half * math.log(2) - 0.5 * x
        return masked(values, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        return Variable(self._draw_floats("chisquare", n, self.k.array))
