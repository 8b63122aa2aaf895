"""The normal (Gaussian) distribution."""

from __future__ import annotations

import math

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    HALF_LOG_2PI,
    CenteredLocationScale,
    ParametricDistribution,
    either,
    only_one,
    parameter,
)
from chainer.distributions.distribution import register_kl

#: Constants of the entropy, the logarithm of the density, and the density.
ENTROPYC = 0.5 + HALF_LOG_2PI
LOGPROBC = -HALF_LOG_2PI
PROBC = 1 / math.sqrt(2 * math.pi)


class Normal(CenteredLocationScale):
    r"""Normal distribution.

    .. math::
        p(x;\mu,\sigma) = \frac{1}{\sqrt{2\pi\sigma^2}}
            \exp\left(-\frac{(x-\mu)^2}{2\sigma^2}\right)

    Samples are differentiable functions of both parameters.

    Args:
        loc: Mean, of any shape.
        scale: Standard deviation, of a shape that broadcasts with ``loc``.
        log_scale: Logarithm of the standard deviation, instead of ``scale``.

    Raises:
        ValueError: If not exactly one of ``scale`` and ``log_scale`` is given.

    Example:
        >>> normal = chainer.distributions.Normal(np.array([0., 1.]), np.array([1., 2.]))
        >>> normal.variance
        variable([1., 4.])
        >>> normal.cdf(np.array([0., 1.]))
        variable([0.5, 0.5])
    """

    def __init__(
        self,
        loc: VariableLike,
        scale: VariableLike | None = None,
        *,
        log_scale: VariableLike | None = None,
    ) -> None:
        ParametricDistribution.__init__(self, loc=loc, **only_one(scale=scale, log_scale=log_scale))

    loc = parameter("loc", "Mean.")
    scale = either("scale", "Standard deviation.", lambda self: F.exp(self.log_scale))
    # A given log_scale is used as it is: computed from exp(log_scale) it would lose digits.
    log_scale = either(
        "log_scale", "Logarithm of the standard deviation.", lambda self: F.log(self.scale)
    )

    @property
    def params(self) -> dict[str, Variable]:
        return {"loc": self.loc, "scale": self.scale}

    @cached_property
    def variance(self) -> Variable:
        return self._full(self.scale**2)

    @cached_property
    def stddev(self) -> Variable:
        return self._full(self.scale)

    @cached_property
    def entropy(self) -> Variable:
        return self._full(self.log_scale + ENTROPYC)

    def _standardized(self, x: VariableLike) -> Variable:
        return (self._point(x) - self.loc) / self.scale

    def log_prob(self, x: VariableLike) -> Variable:
        return LOGPROBC - self.log_scale - 0.5 * self._standardized(x) ** 2

    def prob(self, x: VariableLike) -> Variable:
        return PROBC / self.scale * F.exp(-0.5 * self._standardized(x) ** 2)

    def cdf(self, x: VariableLike) -> Variable:
        return F.ndtr(self._standardized(x))

    def log_cdf(self, x: VariableLike) -> Variable:
        # Not log(ndtr), which is -inf below -38 in float64.
        return F.log_ndtr(self._standardized(x))

    def icdf(self, x: VariableLike) -> Variable:
        return self.loc + self.scale * F.ndtri(self._point(x))

    def survival_function(self, x: VariableLike) -> Variable:
        return F.ndtr(-self._standardized(x))

    def log_survival_function(self, x: VariableLike) -> Variable:
        return F.log_ndtr(-self._standardized(x))

    def sample_n(self, n: int) -> Variable:
        return self.loc + self.scale * self._draw_floats("standard_normal", n)


@register_kl(Normal, Normal)
def _kl_normal_normal(dist1: Normal, dist2: Normal) -> Variable:
    return kl_of_normals(
        dist1.loc, dist1.scale, dist1.log_scale, dist2.loc, dist2.scale, dist2.log_scale
    )


def kl_of_normals(
    loc1: Variable,
    scale1: Variable,
    log_scale1: Variable,
    loc2: Variable,
    scale2: Variable,
    log_scale2: Variable,
) -> Variable:
    """Computes the Kullback-Leibler divergence of two normal distributions."""
    squares = scale1**2 + (loc1 - loc2) ** 2
    return log_scale2 - log_scale1 + 0.5 * squares / scale2**2 - 0.5
