"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import CenteredLocationScale, parameter
from chainer.distributions.distribution import register_kl
from chainer.functions.rules.expressions import ElementwiseFunction, UnaryFunction
from chainer.functions.rules.type_checks import expect_one_float


class LaplaceCDF(UnaryFunction):
    """Cumulative distribution function of the standard Laplace distribution."""

    type_check_key = ()
    retained_outputs = (0,)
    check_type_forward = expect_one_float

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        xp = self.xp
        # One formula for both sides, with an argument that never overflows.
        return (0.5 - 0.5 * xp.sign(x) * xp.expm1(-abs(x)),)

    def gradient(self, ops: Any, y: Any, gy: Any) -> Any:
        return gy * (0.5 - abs(y - 0.5))


class LaplaceICDF(ElementwiseFunction):
    """Inverse of the cumulative distribution function of the standard Laplace distribution."""

    def compute(self, x: Array) -> Array:
        h = 1 - 2 * x
        return self.xp.sign(h) * self.xp.log1p(-abs(h))

    def derivative(self, ops: Any, x: Any) -> Any:
        return 1 / (0.5 - abs(x - 0.5))


def _laplace_cdf(x: VariableLike) -> Variable:
    """Cumulative distribution function of the standard Laplace distribution."""
    return LaplaceCDF().apply((x,))[0]


def _laplace_icdf(x: VariableLike) -> Variable:
    """Inverse of the cumulative distribution function of the standard Laplace distribution."""
    return LaplaceICDF().apply((x,))[0]


class Laplace(CenteredLocationScale):
    r"""Laplace distribution.

    .. math::
        p(x;\mu,b) = \frac{1}{2b} \exp\left(-\frac{|x-\mu|}{b}\right)

    Samples are differentiable functions of both parameters.

    Args:
        loc: Mean, of any shape.
        scale: Scale.

    Example:
        >>> chainer.distributions.Laplace(np.array(0.), np.array(2.)).variance
        variable(8.)
    """

    loc = parameter("loc", "Mean.")
    scale = parameter("scale", "Scale.")

    @cached_property
    def variance(self) -> Variable:
        return self._full(2 * self.scale**2)

    @cached_property
    def stddev(self) -> Variable:
        return self._full(math.sqrt(2) * self.scale)

    @cached_property
    def entropy(self) -> Variable:
        return self._full(1 + F.log(2 * self.scale))

    def _standardized(self, x: VariableLike) -> Variable:
        return (self._point(x) - self.loc) / self.scale

    def log_prob(self, x: VariableLike) -> Variable:
        return -F.log(2 * self.scale) - F.absolute(self._standardized(x))

    def prob(self, x: VariableLike) -> Variable:
        return 0.5 / self.scale * F.exp(-F.absolute(self._standardized(x)))

    def cdf(self, x: VariableLike) -> Variable:
        return _laplace_cdf(self._standardized(x))

    def icdf(self, x: VariableLike) -> Variable:
        return self.loc + self.scale * _laplace_icdf(self._point(x))

    def sample_n(self, n: int) -> Variable:
        return self.loc + self.scale * self._draw_floats("laplace", n)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(dist1: Laplace, dist2: Laplace) -> Variable:
    distance = F.absolute(dist1.loc - dist2.loc)
    return (
        F.log(dist2.scale)
        - F.log(dist1.scale)
        + distance / dist2.scale
        + dist1.scale / dist2.scale * F.exp(-distance / dist1.scale)
        - 1
    )
