"""The gamma distribution."""

from __future__ import annotations

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
from chainer.distributions.distribution import register_kl


class Gamma(ParametricDistribution):
    r"""Gamma distribution.

    .. math::
        p(x;k,\theta) = \frac{x^{k-1} e^{-x/\theta}}{\Gamma(k) \theta^k}

    Samples are differentiable functions of ``theta``.

    Args:
        k: Shape parameter, of any shape.
        theta: Scale parameter.

    Example:
        >>> chainer.distributions.Gamma(np.array(2.), np.array(3.)).variance
        variable(18.)
    """

    def __init__(self, k: VariableLike, theta: VariableLike) -> None:
        super().__init__(k=k, theta=theta)

    k = parameter("k", "Shape parameter.")
    theta = parameter("theta", "Scale parameter.")

    @property
    def support(self) -> str:
        return "positive"

    @cached_property
    def mean(self) -> Variable:
        return self.k * self.theta

    @cached_property
    def variance(self) -> Variable:
        return self.k * self.theta**2

    @cached_property
    def entropy(self) -> Variable:
        k = self.k
        return k + F.log(self.theta) + F.lgamma(k) + (1 - k) * F.digamma(k)

    def log_prob(self, x: VariableLike) -> Variable:
        k, theta = self.k, self.theta
        x = self._point(x)
        outside = mask_of(lambda x: x < 0, x)
        # The logarithm of a number outside is NaN, and so is its gradient.
        x = masked(x, outside, 1.0)
        # xlogy, because k = 1 has 0 * log(0) at 0.
        values = xlogy(k - 1, x) - F.lgamma(k) - k * F.log(theta) - x / theta
        return masked(values, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        # The gradient reaches theta only: the numbers drawn are not a differentiable function of k.
        return self.theta * self._draw_floats("gamma", n, self.k.array)


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(dist1: Gamma, dist2: Gamma) -> Variable:
    k1, theta1, k2, theta2 = dist1.k, dist1.theta, dist2.k, dist2.theta
    return (
        (k1 - k2) * F.digamma(k1)
        - F.lgamma(k1)
        + F.lgamma(k2)
        + k2 * (F.log(theta2) - F.log(theta1))
        + k1 * (theta1 / theta2 - 1)
    )
