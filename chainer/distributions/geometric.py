"""The geometric distribution."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, parameter, xlogy
from chainer.distributions.distribution import register_kl


class Geometric(ParametricDistribution):
    r"""Geometric distribution: the number of trials up to the first success.

    .. math::
        Pr(x = k) = p(1-p)^{k-1}

    Args:
        p: Probability of success, of any shape.

    Example:
        >>> chainer.distributions.Geometric(np.array(0.5)).mean
        variable(2.)
    """

    def __init__(self, p: VariableLike) -> None:
        super().__init__(p=p)

    p = parameter("p", "Probability of success.")

    @property
    def support(self) -> str:
        return "positive integer"

    @cached_property
    def mean(self) -> Variable:
        return 1 / self.p

    @cached_property
    def variance(self) -> Variable:
        return (1 - self.p) / self.p**2

    def log_prob(self, x: VariableLike) -> Variable:
        # xlogy, because p = 1 has 0 * log(0) at x = 1.
        return xlogy(self._point(x) - 1, 1 - self.p) + F.log(self.p)

    def sample_n(self, n: int) -> Variable:
        return Variable(self._draw_floats("geometric", n, self.p.array))


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(dist1: Geometric, dist2: Geometric) -> Variable:
    p1, p2 = dist1.p, dist2.p
    # The expected number of failures; it is 0 for p = 1, where log(1 - p1) is infinite.
    failures = 1 / p1 - 1
    return xlogy(failures, 1 - p1) - xlogy(failures, 1 - p2) + F.log(p1) - F.log(p2)
