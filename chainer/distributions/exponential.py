"""The exponential distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, mask_of, masked, parameter
from chainer.distributions.distribution import register_kl


class Exponential(ParametricDistribution):
    r"""Exponential distribution.

    .. math::
        p(x;\lambda) = \lambda e^{-\lambda x}

    Samples are differentiable functions of the parameter.

    Args:
        lam: Rate, of any shape.

    Example:
        >>> chainer.distributions.Exponential(np.array(2.)).mean
        variable(0.5)
    """

    def __init__(self, lam: VariableLike) -> None:
        super().__init__(lam=lam)

    lam = parameter("lam", "Rate.")

    @property
    def support(self) -> str:
        return "positive"

    @cached_property
    def mean(self) -> Variable:
        return 1 / self.lam

    @cached_property
    def variance(self) -> Variable:
        return 1 / self.lam**2

    @cached_property
    def entropy(self) -> Variable:
        return 1 - F.log(self.lam)

    def log_prob(self, x: VariableLike) -> Variable:
        x = self._point(x)
        outside = mask_of(lambda x: x < 0, x)
        # The inner mask keeps exp and its gradient finite, the outer one sets the value.
        return masked(F.log(self.lam) - self.lam * masked(x, outside, 0.0), outside, -float("inf"))

    def cdf(self, x: VariableLike) -> Variable:
        # expm1 and log1p are exact for small arguments, where 1 - exp(-x) loses digits.
        return -F.expm1(-self.lam * self._point(x))

    def icdf(self, x: VariableLike) -> Variable:
        return -F.log1p(-self._point(x)) / self.lam

    def sample_n(self, n: int) -> Variable:
        # Numbers of rate 1 are scaled, so that the gradient reaches the rate.
        return self._draw_floats("standard_exponential", n) / self.lam


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(dist1: Exponential, dist2: Exponential) -> Variable:
    return F.log(dist1.lam) - F.log(dist2.lam) + dist2.lam / dist1.lam - 1
