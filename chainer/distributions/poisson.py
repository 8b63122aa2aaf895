"""The Poisson distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    ParametricDistribution,
    as_point,
    mask_of,
    masked,
    parameter,
    xlogy,
)
from chainer.distributions.distribution import register_kl


class Poisson(ParametricDistribution):
    r"""Poisson distribution.

    .. math::
        P(x; \lambda) = \frac{\lambda ^x e^{-\lambda}}{x!}

    Args:
        lam: Mean, of any shape.

    Example:
        >>> chainer.distributions.Poisson(np.array(2.)).log_prob(np.array(0))
        variable(-2.)
    """

    def __init__(self, lam: VariableLike) -> None:
        super().__init__(lam=lam)

    lam = parameter("lam", "Mean.")

    @property
    def support(self) -> str:
        return "non negative integer"

    @cached_property
    def mean(self) -> Variable:
        return self.lam

    @cached_property
    def variance(self) -> Variable:
        return self.lam

    def log_prob(self, x: VariableLike) -> Variable:
        lam = self.lam
        # The array alone: the values are counts, which nothing is differentiated with respect to.
        x = as_point(x.array if isinstance(x, Variable) else x, lam)
        outside = mask_of(lambda x: x < 0, x)
        x = masked(x, outside, 0.0)
        return masked(xlogy(x, lam) - F.lgamma(x + 1) - lam, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        return Variable(self._draw_floats("poisson", n, self.lam.array))


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(dist1: Poisson, dist2: Poisson) -> Variable:
    lam1, lam2 = dist1.lam, dist2.lam
    # xlogy, because a mean of 0 has 0 * log(0).
    return xlogy(lam1, lam1) - lam1 * F.log(lam2) - lam1 + lam2
