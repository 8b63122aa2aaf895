"""The beta distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    ParametricDistribution,
    log_beta,
    mask_of,
    masked,
    parameter,
    xlogy,
)
from chainer.distributions.distribution import register_kl


class Beta(ParametricDistribution):
    r"""Beta distribution.

    .. math::
        p(x;\alpha,\beta) = \frac{x^{\alpha-1}(1-x)^{\beta-1}}{B(\alpha,\beta)}

    Args:
        a: Parameter alpha, of any shape.
        b: Parameter beta.

    Example:
        >>> chainer.distributions.Beta(np.array(1.), np.array(3.)).mean
        variable(0.25)
    """

    def __init__(self, a: VariableLike, b: VariableLike) -> None:
        super().__init__(a=a, b=b)

    a = parameter("a", "Parameter alpha.")
    b = parameter("b", "Parameter beta.")

    @property
    def support(self) -> str:
        return "[0, 1]"

    @cached_property
    def mean(self) -> Variable:
        return self.a / (self.a + self.b)

    @cached_property
    def variance(self) -> Variable:
        total = self.a + self.b
        return self.a * self.b / total**2 / (total + 1)

    @cached_property
    def entropy(self) -> Variable:
        a, b = self.a, self.b
        total = a + b
        return (
            log_beta(a, b)
            - (a - 1) * F.digamma(a)
            - (b - 1) * F.digamma(b)
            + (total - 2) * F.digamma(total)
        )

    def log_prob(self, x: VariableLike) -> Variable:
        a, b = self.a, self.b
        x = self._point(x)
        outside = mask_of(lambda x: (x < 0) | (x > 1), x)
        # Replace values outside of the support by one inside, because their logarithm and gradient
        # would be NaN.
        x = masked(x, outside, 0.5)
        # xlogy, because a uniform distribution (a = b = 1) has 0 * log(0) at its ends.
        values = xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - log_beta(a, b)
        return masked(values, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        return Variable(self._draw_floats("beta", n, self.a.array, self.b.array))


@register_kl(Beta, Beta)
def _kl_beta_beta(dist1: Beta, dist2: Beta) -> Variable:
    a1, b1, a2, b2 = dist1.a, dist1.b, dist2.a, dist2.b
    return (
        log_beta(a2, b2)
        - log_beta(a1, b1)
        + (a1 - a2) * F.digamma(a1)
        + (b1 - b2) * F.digamma(b1)
        + (a2 + b2 - a1 - b1) * F.digamma(a1 + b1)
    )
