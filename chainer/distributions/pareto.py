"""The Pareto distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, mask_of, masked, parameter
from chainer.distributions.distribution import register_kl


class Pareto(ParametricDistribution):
    r"""Pareto distribution.

    .. math::
        f(x) = \alpha x_m^{\alpha} x^{-(\alpha+1)}

    Samples are differentiable functions of ``scale``.

    Args:
        scale: Smallest value :math:`x_m`, of any shape.
        alpha: Shape parameter :math:`\alpha`.

    Example:
        >>> chainer.distributions.Pareto(np.array(1.), np.array(3.)).mean
        variable(1.5)
    """

    def __init__(self, scale: VariableLike, alpha: VariableLike) -> None:
        super().__init__(scale=scale, alpha=alpha)

    scale = parameter("scale", "Smallest value.")
    alpha = parameter("alpha", "Shape parameter.")

    @property
    def support(self) -> str:
        return "[scale, inf]"

    @cached_property
    def mean(self) -> Variable:
        alpha = self._full(self.alpha)
        infinite = mask_of(lambda a: ~(a > 1), alpha)
        # A number with a finite mean takes the place of the others: no division by zero.
        alpha = masked(alpha, infinite, 2.0)
        return masked(alpha * self.scale / (alpha - 1), infinite, float("inf"))

    @cached_property
    def variance(self) -> Variable:
        alpha = self._full(self.alpha)
        infinite = mask_of(lambda a: ~(a > 2), alpha)
        alpha = masked(alpha, infinite, 3.0)
        values = self.scale**2 * alpha / (alpha - 1) ** 2 / (alpha - 2)
        return masked(values, infinite, float("inf"))

    @cached_property
    def entropy(self) -> Variable:
        return -F.log(self.alpha) + F.log(self.scale) + 1 / self.alpha + 1

    def log_prob(self, x: VariableLike) -> Variable:
        alpha, scale = self.alpha, self.scale
        x = self._point(x)
        # Negated, so that NaN counts as outside.
        outside = mask_of(lambda x, s: ~(x >= s), x, scale)
        x = masked(F.broadcast_to(x, outside.shape), outside, 1.0)
        values = F.log(alpha) + alpha * F.log(scale) - (alpha + 1) * F.log(x)
        return masked(values, outside, -float("inf"))

    def sample_n(self, n: int) -> Variable:
        return self.scale * self._draw_floats("pareto", n, self.alpha.array) + self.scale


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(dist1: Pareto, dist2: Pareto) -> Variable:
    alpha1, alpha2 = dist1.alpha, dist2.alpha
    values = (
        alpha2 * (F.log(dist1.scale) - F.log(dist2.scale))
        + F.log(alpha1)
        - F.log(alpha2)
        + (alpha2 - alpha1) / alpha1
    )
    smaller = mask_of(lambda s1, s2: s1 < s2, dist1.scale, dist2.scale)
    return masked(values, smaller, float("inf"))
