"""The log-normal distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    HALF_LOG_2PI,
    ParametricDistribution,
    mask_of,
    masked,
    parameter,
)
from chainer.distributions.distribution import register_kl
from chainer.distributions.normal import kl_of_normals

#: Constant of the logarithm of the density.
LOGPROBC = -HALF_LOG_2PI


class LogNormal(ParametricDistribution):
    r"""Log-normal distribution: the logarithm of a value is normally distributed.

    .. math::
        p(x;\mu,\sigma) = \frac{1}{\sqrt{2\pi\sigma^2}x}
            \exp\left(-\frac{(\log{x}-\mu)^2}{2\sigma^2}\right)

    Samples are differentiable functions of both parameters.

    Args:
        mu: Mean of the logarithm, of any shape.
        sigma: Standard deviation of the logarithm.

    Example:
        >>> d = chainer.distributions.LogNormal(np.array(0.), np.array(1.))
        >>> d.log_prob(np.array(1.))
        variable(-0.91893853)
    """

    def __init__(self, mu: VariableLike, sigma: VariableLike) -> None:
        super().__init__(mu=mu, sigma=sigma)

    mu = parameter("mu", "Mean of the logarithm.")
    sigma = parameter("sigma", "Standard deviation of the logarithm.")

    @property
    def support(self) -> str:
        return "positive"

    @cached_property
    def mean(self) -> Variable:
        return F.exp(self.mu + 0.5 * self.sigma**2)

    @cached_property
    def variance(self) -> Variable:
        square = self.sigma**2
        # expm1, because exp(s) - 1 loses digits for a small sigma.
        return F.exp(2 * self.mu + square) * F.expm1(square)

    @cached_property
    def entropy(self) -> Variable:
        return 0.5 - LOGPROBC + F.log(self.sigma) + self.mu

    def log_prob(self, x: VariableLike) -> Variable:
        x = self._point(x)
        # Negated, so that NaN counts as outside.
        outside = mask_of(lambda x: ~(x > 0), x)
        log_x = F.log(masked(x, outside, 1.0))
        square = ((log_x - self.mu) / self.sigma) ** 2
        values = LOGPROBC - F.log(self.sigma) - log_x - 0.5 * square
        return masked(values, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        return F.exp(self.mu + self.sigma * self._draw_floats("standard_normal", n))


@register_kl(LogNormal, LogNormal)
def _kl_log_normal_log_normal(dist1: LogNormal, dist2: LogNormal) -> Variable:
    return kl_of_normals(
        dist1.mu, dist1.sigma, F.log(dist1.sigma), dist2.mu, dist2.sigma, F.log(dist2.sigma)
    )
